"""Byte-pair encoding step by step: how a word is cut by a list of merges, and how the list is learned.

The same results as the `tokenizers` library, which tests compare with, but every step can be looked at. Symbols are
spelled in GPT-2's printable alphabet, one character a byte.
"""

from __future__ import annotations

import heapq
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tokenizers import pre_tokenizers

Pair = tuple[str, str]
Ranks = Mapping[Pair, int]
"""Priority of each merge: the lower, the earlier it was learned and the earlier it is applied."""

_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_RUNS = (("A-Za-z", "A-Za-z"), ("0-9", "0-9"), (r"!-&(-/:-@\[-`{-~", r"\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f"))
_ASCII = "|".join(f" ?[{run}]+(?=(?![{longer}])[\x00-\x7f]|$)" for run, longer in _RUNS)
_CHUNKS = re.compile(f"{_ASCII}| ?[^{_SPACE}]+|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+")
"""Pieces that GPT-2's pattern never joins, so that each different one has to be cut only once.

Letters, digits and signs of ASCII are words of their own unless something may follow that belongs to them.
"""

_WORDS = pre_tokenizers.ByteLevel(add_prefix_space=False)

_Numbers = tuple[int, int]

_EDGE, _GONE = -1, -2
"""What stands between two words, and where a symbol stood that its left neighbour has taken in."""


@dataclass(frozen=True, slots=True)
class Merge:
    """One step in the cutting of a word.

    Attributes:
        symbols: before the step.
        ranks: of the pair that each symbol makes with the next; None where the list has no such merge.
        place: of the pair that is merged: that of the lowest rank, the first from the left where there are several.
    """

    symbols: tuple[str, ...]
    ranks: tuple[int | None, ...]
    place: int


def words_of(text: str) -> list[tuple[str, tuple[int, int]]]:
    """The words that no merge reaches across, spelled byte by byte, and their characters in the text."""
    return list(_WORDS.pre_tokenize_str(text))


def merges(word: str, ranks: Ranks) -> Iterator[Merge]:
    """The steps from single bytes to tokens, as `tokenizers` takes them: one pair at a time."""
    symbols = tuple(word)
    while True:
        found = tuple(ranks.get(pair) for pair in pairwise(symbols))
        if (best := min((rank for rank in found if rank is not None), default=None)) is None:
            return
        place = found.index(best)
        yield Merge(symbols, found, place)
        symbols = _merged(symbols, place)


def cut(word: str, ranks: Ranks) -> tuple[str, ...]:
    """The tokens of a word."""
    return _applied(word, ranks)[0]


def after(word: str, steps: Sequence[Merge]) -> tuple[str, ...]:
    """The symbols of a word after its first steps."""
    return _merged(steps[-1].symbols, steps[-1].place) if steps else tuple(word)


def _merged(symbols: tuple[str, ...], place: int) -> tuple[str, ...]:
    return (*symbols[:place], symbols[place] + symbols[place + 1], *symbols[place + 2 :])


def _applied(word: str, ranks: Ranks) -> tuple[tuple[str, ...], list[int]]:
    """What is left at the end of `merges`, and the rank of each step, in O(n log n) for n bytes.

    The symbols are a doubly linked list, in which the left one of a pair takes the name of both. A heap holds the pairs
    by rank and place. An entry is out of date where another pair, so another rank, stands at its place by now.
    """
    symbols = list(word)
    before, after = array("i", range(-1, len(word) - 1)), array("i", range(1, len(word) + 1))
    queue = [(ranks[pair], place) for place, pair in enumerate(pairwise(symbols)) if pair in ranks]
    heapq.heapify(queue)
    used = []

    def rank_at(place: int) -> int | None:
        inside = place >= 0 and after[place] < len(word)
        return ranks.get((symbols[place], symbols[after[place]])) if inside else None

    while queue:
        rank, place = heapq.heappop(queue)
        if rank_at(place) != rank:
            continue
        gone = after[place]
        symbols[place] += symbols[gone]
        symbols[gone] = ""
        after[place] = after[gone]
        if after[place] < len(word):
            before[after[place]] = place
        used.append(rank)
        for changed in (before[place], place):
            if (new := rank_at(changed)) is not None:
                heapq.heappush(queue, (new, changed))
    return tuple(filter(None, symbols)), used


def tokens_by_merges(words: Mapping[str, int], ranks: Ranks, sizes: Sequence[int]) -> list[int]:
    """How many tokens a text has with the first merges alone, so many for each size.

    A list of merges in the order in which they were learned holds all smaller vocabularies: what the first k leave of a
    word are its bytes, less one for each merge of a rank below k.

    Args:
        words: how often each occurs in the text.
    """
    used: Counter[int] = Counter()
    for word, count in words.items():
        for rank in _applied(word, ranks)[1]:
            used[rank] += count
    n_bytes = sum(len(word) * count for word, count in words.items())
    return [n_bytes - sum(count for rank, count in used.items() if rank < size) for size in sizes]


def count_words(text: str) -> Counter[str]:
    """How often each word occurs, spelled byte by byte."""
    words: Counter[str] = Counter()
    for chunk, count in Counter(_CHUNKS.findall(text)).items():
        for word, _ in _WORDS.pre_tokenize_str(chunk):
            words[word] += count
    return words


@dataclass(frozen=True, slots=True)
class Learned:
    """One step of learning.

    Attributes:
        table: the most frequent pairs of neighbours, and how often each occurs; the first is merged.
    """

    table: tuple[tuple[Pair, int], ...]

    @property
    def pair(self) -> Pair:
        return self.table[0][0]


def learn(words: Mapping[str, int], *, n_merges: int, shown: int = 10) -> Iterator[Learned]:
    """Learns merges: again and again, the most frequent pair of neighbours becomes one symbol (Sennrich et al. 2016).

    Of pairs that are equally frequent, that one wins whose first symbol is older, then that whose second is: bytes are
    older than merges, and among themselves in the order of their characters. So does `tokenizers`.

    A merge looks only at the places where its pair stands: all merges of n bytes together take O(n log n) steps.

    Args:
        words: how often each occurs.
        shown: rows of the table that a step keeps.
    """
    learner = _Learner(words)
    for _ in range(n_merges):
        table = learner.most_frequent(shown)
        if not table:
            return
        names = learner.names
        yield Learned(tuple(((names[a], names[b]), count) for (a, b), count in table))
        learner.merge(table[0][0])


class _Learner:
    """All words as one linked list of numbers of symbols, and the counts of their pairs, which follow every merge."""

    def __init__(self, words: Mapping[str, int]) -> None:
        self.names = sorted(pre_tokenizers.ByteLevel.alphabet())
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.symbols = array("i", [_EDGE])
        self.often = array("q", [0])
        for word, often in words.items():
            self.symbols.extend([*map(self.numbers.__getitem__, word), _EDGE])
            self.often.extend([often] * (len(word) + 1))
        self.before = array("i", range(-1, len(self.symbols) - 1))
        self.after = array("i", range(1, len(self.symbols) + 1))
        self.counts: defaultdict[_Numbers, int] = defaultdict(int)
        self.where: defaultdict[_Numbers, array[int]] = defaultdict(lambda: array("i"))
        for place, pair in enumerate(pairwise(self.symbols)):
            self._count(pair, place, self.often[place])
        self.queue = [(-count, pair) for pair, count in self.counts.items()]
        heapq.heapify(self.queue)

    def _count(self, pair: _Numbers, place: int, often: int) -> None:
        if _EDGE not in pair:
            self.counts[pair] += often
            self.where[pair].append(place)

    def most_frequent(self, n: int) -> list[tuple[_Numbers, int]]:
        """The pairs in the order in which they would be merged. Entries of the queue that are out of date go."""
        found: dict[_Numbers, int] = {}
        while self.queue and len(found) < n:
            count, pair = heapq.heappop(self.queue)
            if self.counts.get(pair) == -count and pair not in found:
                found[pair] = -count
        for pair, count in found.items():
            heapq.heappush(self.queue, (-count, pair))
        return list(found.items())

    def merge(self, pair: _Numbers) -> None:
        """Makes the pair one symbol wherever it occurs, from the left."""
        name = self.names[pair[0]] + self.names[pair[1]]
        number = self.numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        changed: set[_Numbers] = set()
        for place in sorted(self.where.pop(pair)):
            gone = self.after[place]
            if (self.symbols[place], self.symbols[gone]) == pair:  # else another merge has taken one of the two
                changed |= self._join(place, gone, number)
        del self.counts[pair]
        for other in changed - {pair}:
            if self.counts[other] > 0:
                heapq.heappush(self.queue, (-self.counts[other], other))

    def _join(self, place: int, gone: int, number: int) -> set[_Numbers]:
        """Makes two neighbours one symbol. Returns the pairs whose counts change."""
        symbols, often = self.symbols, self.often[place]
        left, right = self.before[place], self.after[gone]
        old = [(symbols[left], symbols[place]), (symbols[gone], symbols[right])]
        new = [(symbols[left], number), (number, symbols[right])]
        for pair in old:
            self.counts[pair] -= often
        for pair, at in zip(new, (left, place), strict=True):
            self._count(pair, at, often)
        symbols[place], symbols[gone] = number, _GONE
        self.after[place], self.before[right] = right, place
        return {pair for pair in (*old, *new) if _EDGE not in pair}
