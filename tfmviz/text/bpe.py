"""Byte-pair encoding step by step.

The results are those of the `tokenizers` library, but every step is visible. Symbols are written in GPT-2's printable
alphabet, one character per byte.
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
"""Priority of each merge; lower ranks come first."""

_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_RUNS = (("A-Za-z", "A-Za-z"), ("0-9", "0-9"), (r"!-&(-/:-@\[-`{-~", r"\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f"))
_ASCII = "|".join(f" ?[{run}]+(?=(?![{longer}])[\x00-\x7f]|$)" for run, longer in _RUNS)
_CHUNKS = re.compile(f"{_ASCII}| ?[^{_SPACE}]+|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+")
"""Pieces that GPT-2's pattern never joins, so that each is cut only once.

Runs of ASCII letters, digits or punctuation are pieces unless the pattern might extend them.
"""

_WORDS = pre_tokenizers.ByteLevel(add_prefix_space=False)

_Numbers = tuple[int, int]

_EDGE, _GONE = -1, -2
"""The boundary between two words, and a position whose symbol was merged into its left neighbour."""


@dataclass(frozen=True, slots=True)
class Merge:
    """One step in cutting a word.

    Attributes:
        symbols: before the step.
        ranks: of each symbol with the next; None if there is no such merge.
        place: index of the merged pair: the leftmost of the lowest rank.
    """

    symbols: tuple[str, ...]
    ranks: tuple[int | None, ...]
    place: int


def words_of(text: str) -> list[tuple[str, tuple[int, int]]]:
    """The words that no merge crosses, byte by byte, and their spans in the text."""
    return list(_WORDS.pre_tokenize_str(text))


def merges(word: str, ranks: Ranks) -> Iterator[Merge]:
    """The steps from single bytes to tokens, one pair at a time, in the order of `tokenizers`."""
    symbols = tuple(word)
    while True:
        found = tuple(ranks.get(pair) for pair in pairwise(symbols))
        if (best := min((rank for rank in found if rank is not None), default=None)) is None:
            return
        place = found.index(best)
        yield Merge(symbols, found, place)
        symbols = _merged(symbols, place)


def cut(word: str, ranks: Ranks) -> tuple[str, ...]:
    return _applied(word, ranks)[0]


def after(word: str, steps: Sequence[Merge]) -> tuple[str, ...]:
    return _merged(steps[-1].symbols, steps[-1].place) if steps else tuple(word)


def _merged(symbols: tuple[str, ...], place: int) -> tuple[str, ...]:
    return (*symbols[:place], symbols[place] + symbols[place + 1], *symbols[place + 2 :])


def _applied(word: str, ranks: Ranks) -> tuple[tuple[str, ...], list[int]]:
    """The result of `merges` and the rank of each step, in O(n log n) for n bytes.

    Symbols are a doubly linked list; a heap holds the pairs by rank and position, some of them stale.
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
    """Number of tokens of a text with only the first k merges, for every k in `sizes`.

    The first k merges turn a word into as many tokens as it has bytes, less one for each applied merge of rank below k.

    Args:
        words: occurrences of each word in the text.
    """
    used: Counter[int] = Counter()
    for word, count in words.items():
        for rank in _applied(word, ranks)[1]:
            used[rank] += count
    n_bytes = sum(len(word) * count for word, count in words.items())
    return [n_bytes - sum(count for rank, count in used.items() if rank < size) for size in sizes]


def count_words(text: str) -> Counter[str]:
    """Occurrences of each word, written byte by byte."""
    words: Counter[str] = Counter()
    for chunk, count in Counter(_CHUNKS.findall(text)).items():
        for word, _ in _WORDS.pre_tokenize_str(chunk):
            words[word] += count
    return words


@dataclass(frozen=True, slots=True)
class Learned:
    """One step of learning.

    Attributes:
        table: the most frequent pairs with their counts; the first is merged.
    """

    table: tuple[tuple[Pair, int], ...]

    @property
    def pair(self) -> Pair:
        return self.table[0][0]


def learn(words: Mapping[str, int], *, n_merges: int, shown: int = 10) -> Iterator[Learned]:
    """Learns merges: repeatedly, the most frequent pair of neighbours becomes one symbol (Sennrich et al. 2016).

    As in `tokenizers`, ties go to the pair whose first symbol is older, then to that whose second is: bytes are older
    than merges, and ordered by their characters. All merges of n bytes together take O(n log n) steps.

    Args:
        words: occurrences of each.
        shown: rows of each table.
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
    """All words as one linked list of symbol indices, with the counts of their pairs."""

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
        """The pairs in the order in which they would be merged. Drops stale entries of the queue."""
        found: dict[_Numbers, int] = {}
        while self.queue and len(found) < n:
            count, pair = heapq.heappop(self.queue)
            if self.counts.get(pair) == -count and pair not in found:
                found[pair] = -count
        for pair, count in found.items():
            heapq.heappush(self.queue, (-count, pair))
        return list(found.items())

    def merge(self, pair: _Numbers) -> None:
        """Replaces every occurrence of the pair by one symbol, from the left."""
        name = self.names[pair[0]] + self.names[pair[1]]
        number = self.numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        changed: set[_Numbers] = set()
        for place in sorted(self.where.pop(pair)):
            gone = self.after[place]
            if (self.symbols[place], self.symbols[gone]) == pair:  # else an overlapping occurrence has used one of them
                changed |= self._join(place, gone, number)
        del self.counts[pair]
        for other in changed - {pair}:
            if self.counts[other] > 0:
                heapq.heappush(self.queue, (-self.counts[other], other))

    def _join(self, place: int, gone: int, number: int) -> set[_Numbers]:
        """Returns the pairs whose counts change."""
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
