"""Lists the words that a translator has met in training, the lengths of its sources, and its translations of single
words.

    python -m scripts.list_words french-english --data runs/zoo/data/fra-eng.tsv

From these facts, kept next to the model, the page "Translating" says when a source is longer than those in training,
hardly French, or a single word. The same `--data` as in training gives the same split, so the held-out pairs say how
often the rule for French is wrong.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from scripts.translating import greedy
from tfmviz import zoo
from tfmviz.text.familiar import FILE, Familiar, SingleWords, words_of
from tfmviz.text.pairs import Pair, read_pairs, split_pairs
from tfmviz.text.variants import without_mark
from tfmviz.training.files import replacing
from tfmviz.zoo import ZooModel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="a model in assets/models/")
    parser.add_argument("--data", nargs="+", required=True, help="as in training")
    args = parser.parse_args()
    train, held_out = split_pairs([pair for source in args.data for pair in read_pairs(Path(source))])
    single = single_words(zoo.load(args.name), [*train, *held_out])
    familiar = replace(Familiar.learn({source for source, _ in train}), single=single)
    with replacing(zoo.MODELS / args.name / FILE) as (place,):
        place.write_text(familiar.to_json(), encoding="utf-8")
    sides = [list(dict.fromkeys(pair[side] for pair in held_out)) for side in (0, 1)]
    doubted = [sum(familiar.doubt(text).is_foreign for text in side) / len(side) for side in sides]
    print(
        f"{len(familiar.words):,} words; {familiar.longest} words are long. Hardly the language: {doubted[0]:.1%} of "
        f"{len(sides[0]):,} held-out sources, {doubted[1]:.1%} of {len(sides[1]):,} held-out targets. Of {single.n} "
        f"single words {single.as_they_are} are right as they are, {single.typed} typed small and without a mark."
    )


def single_words(model: ZooModel, pairs: Iterable[Pair]) -> SingleWords:
    """The model's translations of all sources of one word, against the targets that the pairs have for them."""
    references: dict[str, list[list[str]]] = defaultdict(list)
    for source, target in pairs:
        if len(words_of(source)) == 1:
            references[source].append(words_of(target))

    def right(change: Callable[[str], str]) -> int:
        sources = list(references)
        written = greedy(model, [change(source) for source in sources])
        return sum(words_of(written[change(source)]) in references[source] for source in sources)

    as_they_are, typed = right(str), right(lambda source: without_mark(source).lower())
    return SingleWords(n=len(references), as_they_are=as_they_are, typed=typed)


if __name__ == "__main__":
    main()
