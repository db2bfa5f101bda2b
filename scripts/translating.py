"""The quality of translations of held-out pairs: as they are, and as people type their sources.

BLEU (Papineni et al. 2002) is sacreBLEU's, of greedy translations where nothing else is said. The held-out pairs are of
the same collection as the training text, so other French is harder.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from scripts.prepare_words import WORDS, asked, common_names, spaced
from tfmviz import zoo
from tfmviz.model.seq2seq import Seq2Seq
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.text.familiar import words_of
from tfmviz.text.pairs import Pair, bare, read_pairs, split_pairs
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.text.variants import VARIANTS
from tfmviz.training.evaluation import translations
from tfmviz.zoo import ZooModel

EVERY = 5
"""One in so many held-out sources is translated by beam search too; the pairs are sorted by length."""

BEAMS = 4

COMMON, FIRST = 1000, 219
"""Number of the commonest words, and of the first lines of the lexicon, that are translated alone."""

IN_A_ROW = 3
"""Times that the same words stand one after the other in what counts as endless repetition."""


def measure_as_they_are(module: Seq2Seq, tokenizer: Tokenizer, data: Sequence[str]) -> dict[str, str]:
    """The figures for the card of a recurrent translator; `data` as in `measure`."""
    _, held_out = split_pairs([pair for source in data for pair in read_pairs(Path(source))])
    sources = list(dict.fromkeys(source for source, _ in held_out))
    written = dict(zip(sources, translations(module, tokenizer, sources), strict=True))
    scope = f"{len(held_out):,} pairs of the same collection, {len(sources):,} source sentences"
    return bleu(held_out, written) | {"held-out text": scope}


def measure(model: ZooModel, data: Sequence[str]) -> dict[str, str]:
    """The figures for the card of a translator.

    Args:
        data: the same files as in training, whose pairs decide themselves which are held out.
    """
    train, held_out = split_pairs([pair for source in data for pair in read_pairs(Path(source))])
    sources = list(dict.fromkeys(source for source, _ in held_out))
    written = greedy(model, sources)
    facts = bleu(held_out, written) | {"BLEU, one reference, unlike training": unlike(train, held_out, written)}
    facts["as they are"] = figures(held_out, written)
    for name, change in VARIANTS.items():
        changed = greedy(model, [change(source) for source in sources])
        facts[name] = figures(held_out, {source: changed[change(source)] for source in sources})
    facts |= alone(model, train)
    return facts | {
        f"{BEAMS} beams": searched(model, held_out, sources[::EVERY], written),
        "held-out text": f"{len(held_out):,} pairs of the same collection, {len(sources):,} source sentences",
    }


def alone(model: ZooModel, train: Iterable[Pair]) -> dict[str, str]:
    """The translations of single words: the commonest of the training sources, the first of the lexicon, and names, of
    which training has seen the first three hundred and not the others.
    """
    counts = Counter(word for source, _ in train for word in bare(source).split() if len(word) > 1)
    common = greedy(model, [word for word, _ in counts.most_common(COMMON)])
    lexicon = dict(list(read_pairs(WORDS / "lexicon.tsv"))[:FIRST])
    known = greedy(model, list(lexicon))
    names, unseen = greedy(model, spaced(common_names())), greedy(model, sorted(asked()))
    return {
        f"{COMMON:,} commonest words alone": f"endless repetition in {endless(common)}",
        "greetings, numbers, colours, days, months alone": f"{sum(map(same, known.values(), lexicon.values()))} of "
        f"{FIRST} as in the lexicon; endless repetition in {endless(known)}",
        f"{len(names)} common names alone": copied(names),
        f"{len(unseen)} rare names alone that training left out": copied(unseen),
    }


def copied(names: Mapping[str, str]) -> str:
    return f"{sum(map(same, names.values(), names))} copied; endless repetition in {endless(names)}"


def same(one: str, other: str) -> bool:
    return bare(one) == bare(other)


def endless(written: Mapping[str, str]) -> int:
    """The number of translations that repeat something endlessly: words, or letters inside a word ("sisisis")."""
    return sum(repeats_endlessly(text) or bool(re.search(r"(\w{1,4})\1\1", text.lower())) for text in written.values())


def greedy(model: ZooModel, sources: Sequence[str]) -> dict[str, str]:
    assert isinstance(model.module, EncoderDecoder)
    assert isinstance(model.tokenizer, Tokenizer)
    return dict(zip(sources, translations(model.module, model.tokenizer, sources), strict=True))


def searched(model: ZooModel, pairs: Sequence[Pair], sources: Sequence[str], written: Mapping[str, str]) -> str:
    """BLEU of the best texts of beam searches, against greedy translations of the same sources."""
    longest = model.config.max_len
    found = {source: zoo.writing.search(model, source, width=BEAMS, max_new_tokens=longest).text for source in sources}
    some = [pair for pair in pairs if pair[0] in found]
    return f"BLEU {score(some, found)}, greedy {score(some, written)}, on every {EVERY}th source"


def figures(pairs: Sequence[Pair], written: Mapping[str, str]) -> str:
    endless = sum(repeats_endlessly(written[source]) for source in {source for source, _ in pairs})
    return f"BLEU {score(pairs, written)}, one reference; endless repetition in {endless} translations"


def score(pairs: Sequence[Pair], written: Mapping[str, str]) -> str:
    found = BLEU().corpus_score([written[source] for source, _ in pairs], [[target for _, target in pairs]])
    return f"{found.score:.1f}"


def repeats_endlessly(text: str) -> bool:
    """True if the same one to four words stand three times in a row: "for for for", "red car red car red car"."""
    words = words_of(text)
    return any(
        words[at : at + n] * IN_A_ROW == words[at : at + n * IN_A_ROW]
        for n in range(1, 5)
        for at in range(len(words) - n * IN_A_ROW + 1)
    )


def unlike(train: Iterable[Pair], held_out: Sequence[Pair], written: Mapping[str, str]) -> str:
    """BLEU of the pairs whose source differs from no training source in just one word."""
    seen = {gap for source in {source for source, _ in train} for gap in with_gaps(source)}
    rest = [pair for pair in held_out if not any(gap in seen for gap in with_gaps(pair[0]))]
    return f"{score(rest, written)} ({len(rest):,} pairs whose source differs from no training source in just one word)"


def with_gaps(source: str) -> Iterator[tuple[str, ...]]:
    """The words of a source, with each of them left open in turn."""
    words = words_of(source)
    return ((*words[:at], "", *words[at + 1 :]) for at in range(len(words)))


def bleu(pairs: Sequence[Pair], written: Mapping[str, str]) -> dict[str, str]:
    """BLEU with one reference for each pair, and with all translations of its source."""
    references: dict[str, list[str]] = defaultdict(list)
    for source, target in pairs:
        references[source].append(target)
    most = max(map(len, references.values()))
    columns: Any = [[texts[i] if i < len(texts) else None for texts in references.values()] for i in range(most)]
    one, every = BLEU(), BLEU()
    single = one.corpus_score([written[source] for source, _ in pairs], [[target for _, target in pairs]])
    multiple = every.corpus_score([written[source] for source in references], columns)
    return {
        "BLEU, one reference": f"{single.score:.1f} (sacreBLEU `{one.get_signature()}`)",
        "BLEU, all references": f"{multiple.score:.1f} (sacreBLEU `{every.get_signature()}`)",
    }
