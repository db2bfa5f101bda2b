"""Sentence pairs, a text and its translation, from tab-separated files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tfmviz.text.corpora import CorpusError, files_in, is_held_out, read_text

Pair = tuple[str, str]
"""The encoder's text and the decoder's target."""

LARGEST_HELD_OUT = 0.001
"""A group with a larger share of all pairs is trained on whatever its hash."""


def read_pairs(path: Path) -> Iterator[Pair]:
    """The first two columns of every line of a `.tsv` file, or of all such files in a folder. Blank lines are skipped.

    Raises:
        CorpusError: there is nothing at `path`, it cannot be read as UTF-8, or a line does not hold two texts.
    """
    for file in files_in(path, suffixes=(".tsv",)):
        for number, line in enumerate(read_text(file).splitlines(), start=1):
            if not line.strip():
                continue
            columns = [column.strip() for column in line.split("\t")]
            if len(columns) < 2 or not columns[0] or not columns[1]:
                raise CorpusError(f"Line {number} of {file} is not two texts with a tab between them.")
            yield columns[0], columns[1]


def groups(pairs: Sequence[Pair]) -> list[str]:
    """The connected component of each pair: pairs that share a sentence, directly or through others, share a group.

    Case and punctuation do not count. A group is named after the alphabetically first of its source sentences.
    """
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def find(node: tuple[int, str]) -> tuple[int, str]:
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = parent[above]  # halves the path for the next call
            node = above
        return node

    for source, target in pairs:
        one, other = sorted((find((0, bare(source))), find((1, bare(target)))))
        parent[other] = one  # the smaller one, so finally the first source sentence
    return [find((0, bare(source)))[1] for source, _ in pairs]


def split_pairs(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Training pairs and held-out pairs, about one in a hundred. A hash of its name decides for a whole group, so no
    sentence of either language is on both sides.

    Raises:
        CorpusError: one side would be empty.
    """
    train: list[Pair] = []
    held_out: list[Pair] = []
    names = groups(pairs)
    sizes, largest = Counter(names), max(LARGEST_HELD_OUT * len(pairs), 100)
    for pair, name in zip(pairs, names, strict=True):
        (held_out if sizes[name] <= largest and is_held_out(name) else train).append(pair)
    if not train or not held_out:
        raise CorpusError(f"{len(pairs)} pairs are too few to train on some and hold out others.")
    return train, held_out


def joined(pairs: Sequence[Pair], *, most_words: int, least_room: int = 1, seed: int = 0) -> list[Pair]:
    """Concatenates pairs into longer texts, each pair once.

    Joins consecutive pairs of a random order. The words of a source are bounded by a uniform number from `least_room`
    to `most_words`. A longer pair stays alone.
    """
    rng = np.random.default_rng(seed)
    texts: list[list[Pair]] = []
    room = 0
    for index in rng.permutation(len(pairs)):
        n_words = len(pairs[index][0].split())
        if n_words > room:
            texts.append([])
            room = max(int(rng.integers(least_room, most_words + 1)), n_words)
        texts[-1].append(pairs[index])
        room -= n_words
    return [(" ".join(source for source, _ in text), " ".join(target for _, target in text)) for text in texts]


def bare(sentence: str) -> str:
    """The sentence without case and punctuation, or unchanged if it is only punctuation."""
    return re.sub(r"\W+", " ", sentence.casefold()).strip() or sentence
