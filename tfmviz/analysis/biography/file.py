"""Profiles of a model's heads, in a small file next to the model."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfmviz.analysis.biography.birth import Birth, Head
from tfmviz.analysis.biography.claims import Claim
from tfmviz.analysis.biography.kinds import IN_WORDS
from tfmviz.record.weights import ModelWeights

FILE = "heads.json"

Three = tuple[float, float, float]
"""A mean and its 95% interval: mean, low, high."""


class NoBiographies(ValueError):
    """A model's profiles are missing or belong to other weights; the message says which."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadProfile:
    """One head's behaviour on many texts. Shares are of its attention; NaN if the texts cannot show them.

    Attributes:
        first: to the first key; all that follows is about the rest.
        sharp: to the key that gets most.
        evenness: Σ_j min(a_ij, even share), at most 1.
        distance: the mean, in tokens.
        distances: share of each distance i − j: below −8, −8 … 8, above.
        kinds: for each kind of key its share, and that of an even spread.
        copying: the eigenvalue score of its weights, −1 to 1, see `why.copying`.
        damage: rise of the loss without it, in nats per token.
        there, elsewhere: that at tokens where at least half of its attention is on the claimed kind, and at all others;
            NaN without a claim.
        worst: text, token and rise where the loss rises most.
        examples: text, query, key and share of its sharpest attention beyond the first key.
        claim, twice: about ordinary text, and about random tokens that come twice.
        damage_twice: rise of the loss of their second half without it.
    """

    first: float
    sharp: float
    evenness: float
    distance: float
    distances: tuple[float, ...]
    kinds: Mapping[str, tuple[float, float]]
    copying: float
    damage: Three
    there: float
    elsewhere: float
    worst: tuple[tuple[int, int, float], ...]
    examples: tuple[tuple[int, int, int, float], ...]
    claim: Claim | None
    twice: Claim | None
    damage_twice: float

    @property
    def held(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in (self.claim, self.twice) if claim is not None and claim.held)

    @property
    def name(self) -> str:
        """The kind of the most telling claim that held, or "no claim".

        Induction comes first: ordinary text repeats too little to show it.
        """
        kinds = [claim.kind for claim in self.held]
        return "induction" if "induction" in kinds else kinds[0] if kinds else "no claim"


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadCatalog:
    """The profiles of all heads of a model.

    Attributes:
        texts: the file of the texts on which claims were made.
        found_on, tested_on, damaged_on: number of texts for making and testing claims, and for removing heads.
        twice_on: that of texts of repeated random tokens, for each of the three.
        heads: by layer.
        pair: the two heads that compose most, and their history in training.
    """

    texts: str
    found_on: int
    tested_on: int
    damaged_on: int
    twice_on: int
    heads: Mapping[str, tuple[HeadProfile, ...]]
    pair: tuple[Head, Head] | None = None
    birth: tuple[Birth, ...] = ()

    def all(self) -> Iterator[tuple[str, int, HeadProfile]]:
        """Layer, head and profile of each."""
        for layer, heads in self.heads.items():
            for head, found in enumerate(heads):
                yield layer, head, found

    @property
    def coverage(self) -> tuple[int, int]:
        """Number of heads with a claim that held, and of all."""
        return sum(bool(found.held) for _, _, found in self.all()), sum(map(len, self.heads.values()))

    @property
    def precision(self) -> tuple[int, int]:
        """Number of claims that held, and of all."""
        made = [claim for _, _, found in self.all() for claim in (found.claim, found.twice) if claim is not None]
        return sum(claim.held for claim in made), len(made)


def save(path: Path, book: HeadCatalog, weights: ModelWeights) -> None:
    """Writes the file, rounded to four decimals."""
    facts = _rounded(asdict(book) | {"weights": fingerprint(weights)})
    lines = json.dumps(facts, separators=(",", ":")).replace('{"first":', '\n{"first":')  # a head on a line
    path.write_text(lines + "\n", encoding="utf-8")


def load(path: Path, weights: ModelWeights | None) -> HeadCatalog:
    """Reads a file.

    Raises:
        NoBiographies: the file is missing or damaged, or was made with other weights.
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        made_with = facts.pop("weights")
        heads = {layer: tuple(map(_biography, rows)) for layer, rows in facts.pop("heads").items()}
        birth = tuple(Birth(**one) for one in facts.pop("birth"))
        pair = facts.pop("pair")
        if Path(facts["texts"]).name != facts["texts"]:
            raise ValueError("The texts are no file beside the others.")
        book = HeadCatalog(
            **facts, heads=heads, birth=birth, pair=pair and tuple((layer, head) for layer, head in pair)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoBiographies(f"{path.name} is missing or cannot be read.") from error
    if weights is None:
        return book
    matrices = {layer: found for stack in weights.stacks.values() for layer, found in stack.attention.items()}
    n_heads = {layer: len(found.W_Q) for layer, found in matrices.items()}
    if made_with != fingerprint(weights) or {layer: len(rows) for layer, rows in book.heads.items()} != n_heads:
        raise NoBiographies(f"{path.name} was made with other weights.")
    return book


def fingerprint(weights: ModelWeights) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for stack in weights.stacks.values():
        for layer in stack.attention.values():
            for part in (layer.b_Q, layer.b_V, layer.W_O[:, 0]):
                digest.update(np.ascontiguousarray(part, dtype="<f4").tobytes())
    return digest.hexdigest()


MEASURED = ("first", "sharp", "evenness", "copying")
"""Compared by `unlike`, besides the shares of all kinds of keys."""


def unlike(one: HeadProfile, other: HeadProfile) -> float:
    """Distance between two heads: the mean absolute difference of all shared measurements."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in MEASURED]
    pairs += [(one.kinds[kind][0], other.kinds[kind][0]) for kind in one.kinds if kind in other.kinds]
    pairs += [
        (a.share if a is not None and a.held else 0.0, b.share if b is not None and b.held else 0.0)
        for a, b in ((one.twice, other.twice),)
    ]
    known = [abs(a - b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    return float(np.mean(known)) if known else float("inf")


def _biography(stored: dict[str, Any]) -> HeadProfile:
    numbers = {name: _number(value) for name, value in stored.items()}
    for name in ("claim", "twice"):
        claim = stored[name]
        if claim is not None and claim["kind"] not in IN_WORDS:
            raise ValueError(f"There is no kind {claim['kind']}.")
        numbers[name] = None if claim is None else Claim(**{key: _number(value) for key, value in claim.items()})
    return HeadProfile(**numbers)


def _number(value: Any) -> Any:
    match value:
        case None:
            return math.nan
        case list():
            return tuple(_number(one) for one in value)
        case dict():
            return {key: _number(one) for key, one in value.items()}
    return value


def _rounded(value: Any) -> Any:
    """Four decimals; None for NaN, which JSON lacks."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return None if math.isnan(value) else round(value, 4)
        case dict():
            return {key: _rounded(one) for key, one in value.items()}
        case Sequence():
            return [_rounded(one) for one in value]
    raise TypeError(f"{value!r} does not go into the file.")
