"""Interventions on a forward pass, as data, which `tap.py` carries out.

Edits are frozen and hashable: they serve as cache keys and fit in a URL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never


@dataclass(frozen=True, kw_only=True, slots=True)
class AblateHead:
    """Sets one head's `z` to zero before W_O, and so its write to the stream.

    Attributes:
        layer: path of the attention layer, such as "decoder.0.self_attn".
    """

    layer: str
    head: int

    @property
    def site(self) -> str:
        return f"{self.layer}.z"


@dataclass(frozen=True, kw_only=True, slots=True)
class SetMask:
    """Replaces the mask of one attention layer.

    Attributes:
        mask: q_len rows of k_len booleans, True = may attend.
        heads: True for each head that gets this mask; the others keep theirs. None: all get it.

    Raises:
        ValueError: the rows differ in length, or one allows nothing.
    """

    layer: str
    mask: tuple[tuple[bool, ...], ...]
    heads: tuple[bool, ...] | None = None

    def __post_init__(self) -> None:
        if len({len(row) for row in self.mask}) != 1:
            raise ValueError(f"The rows of a mask must have one length, but have {sorted({*map(len, self.mask)})}.")
        for row, allowed in enumerate(self.mask):
            if not any(allowed):
                raise ValueError(f"Row {row} of the mask allows no key at all; its softmax would be 0/0.")

    @property
    def site(self) -> str:
        return f"{self.layer}.mask"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """Multiplies a value, such as a layer's output; factor 0 switches it off.

    Attributes:
        site: name of the value, such as "decoder.0.mlp.out".
        head: the only head to multiply; None: all of them.
        coordinate: the only coordinate of each vector to multiply, such as a neuron of "decoder.0.mlp.post".
    """

    site: str
    factor: float
    head: int | None = None
    coordinate: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """Replaces a value by a vector: the mean over other texts, or the value in another run.

    Attributes:
        site: name of the value, such as "decoder.0.resid_pre".
        vector: as wide as the value's last axis.
        head: the only head that gets the vector; None: all of them.
        position: the only token that gets it; None: all of them.
    """

    site: str
    vector: tuple[float, ...]
    head: int | None = None
    position: int | None = None


Edit = AblateHead | SetMask | Scale | Patch


def treats_tokens_alike(edit: Edit) -> bool:
    """True if an edit does the same at every position."""
    match edit:
        case AblateHead() | Scale():
            return True
        case SetMask():
            return False
        case Patch():
            return edit.position is None
        case _:
            assert_never(edit)


def refuse_single_tokens(edits: tuple[Edit, ...]) -> None:
    """Raises: ValueError, naming the first edit that treats tokens differently."""
    for edit in edits:
        if not treats_tokens_alike(edit):
            raise ValueError(
                f"The {type(edit).__name__} at {edit.site} is for single tokens, but here the model reads one token at "
                "a time. While it writes, an edit can be neither a mask nor for one position."
            )
