"""What a translator has met: whether a source is longer than the sentences it learned from, or hardly their language.

The facts lie beside the model in `FILE`, made from its training sources by `python -m scripts.list_words`, which also
measures how the model translates single words.
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
"""A word that training met less often counts as unknown."""

ENOUGH = 2 / 3
"""A source with a smaller share of known words is hardly the language. On held-out pairs this doubts 0.2 % of the
French sentences and 98 % of the English ones (`scripts.list_words` measures it)."""

LONG = 99
"""A source is long if it has more words than this per cent of the training sources."""


def is_latin(letter: str) -> bool:
    """Whether a letter is of the Latin alphabet, also in another form, such as the raised o of “nº”."""
    return any("LATIN" in unicodedata.name(plain, "") for plain in unicodedata.normalize("NFKC", letter))


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: without case, accents, digits and marks."""
    return re.findall(r"[^\W\d_]+", without_accents(text.casefold()))


@dataclass(frozen=True, kw_only=True, slots=True)
class SingleWords:
    """How a model translates sources of one word.

    Attributes:
        n: all such sources in its collection of pairs.
        as_they_are: how many it translates as one of their references does, case and marks aside.
        typed: the same of the sources in small letters, without their final mark.
    """

    n: int
    as_they_are: int
    typed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Familiar:
    """The training sources in short.

    Attributes:
        longest: words of a source that `LONG` per cent do not exceed.
        words: all that occur `MET` times or more, as `words_of` gives them.
        single: how the model translates single words; None where nobody has measured it.
    """

    longest: int
    words: frozenset[str]
    single: SingleWords | None = None

    @classmethod
    def learn(cls, sources: Iterable[str]) -> Familiar:
        """From at least one source."""
        found = [words_of(source) for source in sources]
        counts = Counter(word for words in found for word in words)
        longest = int(np.percentile([len(words) for words in found], LONG))
        return cls(longest=longest, words=frozenset(word for word, count in counts.items() if count >= MET))

    @classmethod
    def load(cls, folder: Path) -> Familiar | None:
        """The facts in a model's folder; None if there are none, or none that can be read."""
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
        """What speaks against translating a source."""
        words = words_of(source)
        return Doubt(
            n_words=len(words),
            unknown=tuple(dict.fromkeys(word for word in words if word not in self.words)),
            is_foreign=sum(word in self.words for word in words) < ENOUGH * max(len(words), 1),
            is_long=len(words) > self.longest,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """What speaks against translating a source.

    Attributes:
        unknown: its words that training met hardly ever, each once.
        is_foreign: whether too few of its words are known; see `ENOUGH`.
        is_long: whether it has more words than almost all training sources.
    """

    n_words: int
    unknown: Sequence[str]
    is_foreign: bool
    is_long: bool
