"""Checks whether a translator's source is longer than its training sentences, or hardly in their language.

The facts are in the model's folder in `FILE`, made by `python -m scripts.list_words`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tfmviz.text.variants import without_accents

FILE = "sources.json"

MET = 3
"""Words seen less often in training count as unknown."""

ENOUGH = 2 / 3
"""A source with a smaller share of known words is hardly the language: of held-out sentences 0.2 % of the French and 98
% of the English.
"""

LONG = 99
"""Percentile of lengths beyond which a source is long."""


def is_latin(letter: str) -> bool:
    """True for a letter of the Latin alphabet, even in forms such as the º of “nº”."""
    return any("LATIN" in unicodedata.name(plain, "") for plain in unicodedata.normalize("NFKC", letter))


def words_of(text: str) -> list[str]:
    """The words of a text, without case, accents, digits and punctuation."""
    return re.findall(r"[^\W\d_]+", without_accents(text.casefold()))


@dataclass(frozen=True, kw_only=True, slots=True)
class SingleWords:
    """Quality of a model's translations of single words.

    Attributes:
        n: all such sources.
        as_they_are: those translated like a reference, ignoring case and punctuation.
        typed: the same in lower case, without final punctuation.
    """

    n: int
    as_they_are: int
    typed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Familiar:
    """A summary of the training sources.

    Attributes:
        longest: words that `LONG` per cent do not exceed.
        words: `words_of` that occur at least `MET` times.
    """

    longest: int
    words: frozenset[str]
    single: SingleWords | None = None

    @classmethod
    def learn(cls, sources: Iterable[str]) -> Familiar:
        found = [words_of(source) for source in sources]
        counts = Counter(word for words in found for word in words)
        longest = int(np.percentile([len(words) for words in found], LONG))
        return cls(longest=longest, words=frozenset(word for word, count in counts.items() if count >= MET))

    @classmethod
    def load(cls, folder: Path) -> Familiar | None:
        """The facts in a model's folder; None if unreadable."""
        try:
            content = json.loads((folder / FILE).read_text(encoding="utf-8"))
            single = SingleWords(**content["single"]) if "single" in content else None
            return cls(longest=int(content["longest"]), words=frozenset(content["words"].split()), single=single)
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            return None

    def to_json(self) -> str:
        single = {} if self.single is None else {"single": asdict(self.single)}
        content = {"longest": self.longest, **single, "words": " ".join(sorted(self.words))}
        return json.dumps(content, indent=1) + "\n"

    def doubt(self, source: str) -> Doubt:
        words = words_of(source)
        return Doubt(
            n_words=len(words),
            unknown=tuple(dict.fromkeys(word for word in words if word not in self.words)),
            is_foreign=sum(word in self.words for word in words) < ENOUGH * max(len(words), 1),
            is_long=len(words) > self.longest,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """Reasons to doubt the translation of a source.

    Attributes:
        unknown: words that were rare in training, each once.
    """

    n_words: int
    unknown: Sequence[str]
    is_foreign: bool
    is_long: bool
