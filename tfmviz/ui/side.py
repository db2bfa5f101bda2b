"""The side of a comparison for which a tab is being drawn.

The same functions draw a tab once for A and once for B: keys in B end with "_b", A's controls are not drawn again, and
figures wait until both sides have theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from streamlit.delta_generator import DeltaGenerator

SAME = "The same as in A."
"""Shown in B in place of a figure equal to A's."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Side:
    """One side while it is drawn.

    Attributes:
        answers: the values of A's controls, by their keys.
        controls: the container of A's controls, above both sides.
        figures: by the keys that the tab gives them, each with its container.
        places: of the tokens of each text, the same on both sides; see `figures.Link`.
        partners: the position in B of a token of A's, by `controls.PINS`.
        lacks: this is B without such a token; views keep the one that they show.
    """

    is_b: bool
    answers: dict[str, Any]
    controls: DeltaGenerator
    places: Mapping[str, Sequence[int]]
    partners: Mapping[str, Callable[[int], int | None]]
    lacks: bool = False
    figures: dict[str, tuple[DeltaGenerator, Any]] = field(default_factory=dict)

    def key(self, name: str) -> str:
        return f"{name}_b" if self.is_b else name

    def other(self, name: str) -> str:
        return name if self.is_b else f"{name}_b"


_drawn: ContextVar[Side | None] = ContextVar("side", default=None)


def now() -> Side | None:
    """The side that is being drawn; None without a comparison."""
    return _drawn.get()


def is_b() -> bool:
    side = now()
    return side is not None and side.is_b


def partner(pin: str, position: int) -> int | None:
    """A pinned token's position on this side; None where B lacks it."""
    side = now()
    return side.partners[pin](position) if side is not None and side.is_b else position


def lacks() -> bool:
    """This side has no token like the chosen one."""
    side = now()
    return side is not None and side.lacks


def key(name: str) -> str:
    side = now()
    return name if side is None else side.key(name)


@contextmanager
def during(side: Side | None) -> Iterator[None]:
    before = _drawn.set(side)
    try:
        yield
    finally:
        _drawn.reset(before)


def once(key: str, draw: Callable[[], Any], fitting: Callable[[Any], Any]) -> Any:
    """A control's value: drawn on A, and on B the one chosen on A, which `fitting` turns into one of B's."""
    side = now()
    if side is None:
        return draw()
    if side.is_b and key in side.answers:
        return fitting(side.answers[key])
    side.answers[key] = answer = draw()
    return answer
