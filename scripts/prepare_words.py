"""Single words and names for `french-english`, as `french<TAB>english`: sentences hold too few of them on their own.

    python -m scripts.prepare_words runs/zoo/data/fra-eng.tsv CORPORA/english/common_voice.txt runs/zoo/data/words.tsv

- `scripts/words/lexicon.tsv`, written for this: greetings, numbers, colours, days and the commonest words;
- words whose translation the training pairs show by themselves (`learned`);
- names, alone and in the sentences of `scripts/words/frames.tsv`: `scripts/words/names.txt`, written for this; those of
  `scripts/words/more_names.txt` but for 300, on which `scripts.evaluate` measures whether the model copies what it has
  never seen; those of an English text; and made-up ones.

Each is typed in several ways. "Pierre" alone is the name, "pierre" the stone: a word that is also a name begins small.
`more_names.txt` holds first names and surnames of Faker 40.63.0 (MIT) that are no French words of the training pairs.
docs/models.md says where to find the texts.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from tfmviz.text.corpora import read_documents
from tfmviz.text.pairs import Pair, bare, read_pairs, split_pairs
from tfmviz.text.variants import VARIANTS, without_accents
from tfmviz.training.files import replacing

WORDS = Path(__file__).parent / "words"

OFTEN = {"lexicon": 48, "learned": 12, "names": 5, "frames": 2}
"""Number of times that each entry is typed."""

MADE_UP = 2000
LEAST, SURE = 4, 0.1
"""Least occurrences of a word, and least product of its two translation probabilities (`learned`)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="as `scripts.prepare_pairs` wrote them")
    parser.add_argument("english", type=Path, help="an English text with names in it")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    train, held_out = split_pairs(list(read_pairs(args.pairs)))
    unseen = [{bare(pair[side]) for pair in held_out} for side in (0, 1)]
    lexicon = [pair for pair in read_pairs(WORDS / "lexicon.tsv") if bare(pair[0]) not in unseen[0]]
    known = {source.lower() for source, _ in lexicon}
    left_out = {name.lower() for name in asked()}
    induced = [pair for pair in learned(train) if pair[0].lower() not in known and pair[1].lower() not in left_out]
    found = [*common_names(), *more_names(), *names_in(read_documents(args.english))]
    names = [name for name in dict.fromkeys(found) if name.lower() not in left_out]
    names += [name for name in made_up(names, n=MADE_UP, rng=rng) if name.lower() not in left_out]
    called = {name.lower() for name in names}
    words = {source.lower() for source, _ in [*lexicon, *induced]}
    pairs = [
        *(form for pair in lexicon for form in forms(pair, OFTEN["lexicon"], rng, large=pair[0].lower() not in called)),
        *(form for pair in induced for form in forms(pair, OFTEN["learned"], rng, large=pair[0].lower() not in called)),
        *(form for name in names for form in forms((name, name), OFTEN["names"], rng, small=name.lower() not in words)),
        *in_frames(names, OFTEN["frames"], rng),
    ]
    with replacing(args.out) as (place,):
        place.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    print(
        f"{args.out}: {len(pairs):,} pairs of {len(lexicon):,} words from the lexicon, {len(induced):,} learned ones "
        f"and {len(names):,} names"
    )


def common_names() -> list[str]:
    return (WORDS / "names.txt").read_text(encoding="utf-8").split()


def more_names() -> list[str]:
    return (WORDS / "more_names.txt").read_text(encoding="utf-8").split()


def asked() -> set[str]:
    """The names that are left out of training."""
    return set(spaced(more_names()))


def spaced(names: Sequence[str], n: int = 300) -> list[str]:
    """`n` of a list, evenly spaced."""
    return [names[i * len(names) // n] for i in range(n)]


def forms(pair: Pair, n: int, rng: np.random.Generator, *, small: bool = True, large: bool = True) -> Iterator[Pair]:
    """A word as people type it: with or without capital (if it may begin `small` and `large`), accents and punctuation.
    Its translation has the same punctuation and first letter.
    """
    source, target = pair
    for capital, accents, mark in rng.random((n, 3)):
        upper = not small or (large and capital < 0.5)
        begins = (source[:1].upper() if upper else source[:1].lower()) + source[1:]
        ends = target[:1].upper() + target[1:] if begins[0].isupper() else target
        plain = without_accents(begins) if accents < 0.15 and source != target else begins
        typed = ("", "") if mark < 0.6 else (".", ".") if mark < 0.8 else ("!", "!") if mark < 0.9 else ("?", "?")
        gap = " " if typed[0] in {"!", "?"} and mark * 1000 % 1 < 0.6 else ""
        yield f"{plain}{gap}{typed[0]}", f"{ends}{typed[1]}"


def in_frames(names: Sequence[str], n: int, rng: np.random.Generator) -> Iterator[Pair]:
    frames = list(read_pairs(WORDS / "frames.tsv"))
    ways: list[Callable[[str], str]] = [str, str, *VARIANTS.values()]
    for name in names:
        for _ in range(n):
            source, target = frames[int(rng.integers(len(frames)))]
            filled = {"a": name, "b": names[int(rng.integers(len(names)))]}
            way = ways[int(rng.integers(len(ways)))]
            yield way(source.format(**filled)), target.format(**filled)


def names_in(documents: Iterable[str]) -> list[str]:
    """Words that stand with a capital inside sentences and nowhere with a small letter."""
    text = "\n".join(documents)
    small = set(re.findall(r"\b[a-z]+\b", text))
    inside = re.findall(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{2,}\b(?!')", text)
    same = re.compile(r"(?:day|days|ish|ese|ian|ians|ans|uary|ember|ober)$|^(?:God|Mrs|Mr|Sir|Lord)")
    translated = {target for _, target in read_pairs(WORDS / "lexicon.tsv")}
    return [n for n in dict.fromkeys(inside) if n.lower() not in small and not same.search(n) and n not in translated]


def made_up(names: Sequence[str], *, n: int, rng: np.random.Generator) -> list[str]:
    """At most `n` words that a chain of letters writes, each drawn after the last two as in the names."""
    after: dict[str, list[str]] = {}
    for name in names:
        letters = f"^^{name}$"
        for at in range(len(letters) - 2):
            after.setdefault(letters[at : at + 2], []).append(letters[at + 2])
    found: dict[str, None] = {}
    for _ in range(10 * n):
        if len(found) == n:
            break
        written = "^^"
        while not written.endswith("$") and len(written) < 16:
            choices = after[written[-2:]]
            written += choices[rng.integers(len(choices))]
        if 5 <= len(written) < 16 and (name := written[2:-1]) not in names:
            found[name] = None
    return list(found)


def learned(pairs: Sequence[Pair], *, rounds: int = 5) -> list[Pair]:
    """Words and their translations by IBM Model 1 (Brown et al. 1993), in both directions.

    Each direction estimates t(e | f), how likely a word stands for another, by expectation-maximization: first all
    words of a translation are equally likely, then each link counts by its share among all links to the same word. A
    word is kept if it and its best translation e each make the other likely: t(e | f) · t(f | e) ≥ `SURE`.
    """
    words: list[dict[str, int]] = [{}, {}]
    links, where = [], []
    for number, pair in enumerate(pairs):
        sides = [[words[side].setdefault(w, len(words[side])) for w in split(pair[side])] for side in (0, 1)]
        links += [(f, e) for f in sides[0] for e in sides[1]]
        where += [number] * (len(sides[0]) * len(sides[1]))
    both, sentence = np.array(links), np.array(where)
    n_english = len(words[1])
    found, index, count = np.unique(both[:, 0] * n_english + both[:, 1], return_inverse=True, return_counts=True)
    likely = np.ones(len(found))
    for side in (0, 1):
        given, other = found // n_english if side == 0 else found % n_english, both[:, 1 - side]
        t = np.ones(len(found))
        _, slot = np.unique(sentence * (other.max() + 1) + other, return_inverse=True)
        for _ in range(rounds):
            share = t[index] / np.bincount(slot, weights=t[index])[slot]
            expected = np.bincount(index, weights=share)
            t = expected / np.bincount(given, weights=expected)[given]
        likely = likely * t
    french, english = list(words[0]), list(words[1])
    best: dict[str, tuple[float, str]] = {}
    for key, chance, n in zip(found, likely, count, strict=True):
        pair = french[key // n_english], english[key % n_english]
        if n >= LEAST and chance >= SURE:
            best[pair[0]] = max(best.get(pair[0], (0.0, "")), (float(chance), pair[1]))
    spelled = [as_written(pair[side] for pair in pairs) for side in (0, 1)]
    return [(spelled[0].get(word, word), spelled[1].get(e, e)) for word, (_, e) in best.items()]


def split(sentence: str) -> Collection[str]:
    """Its words in lower case, each once; an elided word before an apostrophe does not count."""
    words = re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", sentence)
    return dict.fromkeys("I" if w == "I" else re.sub(r"^(?:[cdjlmnst]|qu)'", "", w.lower()) for w in words)


def as_written(sentences: Iterable[str]) -> dict[str, str]:
    """Words by their lower-case forms, as they mostly stand after another word: "france" as "France"."""
    counts = Counter(re.findall(r"(?<=[^\W\d_] )[^\W\d_]+", "\n".join(sentences)))
    return {word.lower(): word for word, _ in reversed(counts.most_common())}


if __name__ == "__main__":
    main()
