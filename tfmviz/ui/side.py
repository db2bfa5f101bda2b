"""Which side of a comparison a tab is being drawn for; see `compared`.

A tab is drawn once for A and once for B, by the same functions. What they draw is kept apart here: keys in B end with
"_b", what A asks the reader is not asked again, and figures wait until both sides have theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from streamlit.delta_generator import DeltaGenerator

SAME = "The same as in A."
"""What B shows in place of a figure that is A's."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Side:
    """One side while it is drawn.

    Attributes:
        is_b: whether it is B.
        answers: what the reader has chosen by the controls that A has drawn, by their keys.
        controls: where A's controls stand, above both sides.
        figures: by the keys that the tab gives them, each with its place.
        places: of the tokens of each text, which are the same on both sides; see `figures.Link`.
        partners: the position in B of a token of A's, by what may be pinned: "token" and "to" (`controls.PINS`).
        lacks: whether this is B and has no such token; views keep the one that they show.
    """

    is_b: bool
    answers: dict[str, Any]
    controls: DeltaGenerator
    places: Mapping[str, Sequence[int]]
    partners: Mapping[str, Callable[[int], int | None]]
    lacks: bool = False
    figures: dict[str, tuple[DeltaGenerator, Any]] = field(default_factory=dict)

    def key(self, name: str) -> str:
        """The key on the page of what a tab calls so."""
        return f"{name}_b" if self.is_b else name

    def other(self, name: str) -> str:
        """The key of its partner on the other side."""
        return name if self.is_b else f"{name}_b"


_drawn: ContextVar[Side | None] = ContextVar("side", default=None)


def now() -> Side | None:
    """The side that is being drawn; None on a page that compares nothing."""
    return _drawn.get()


def is_b() -> bool:
    side = now()
    return side is not None and side.is_b


def partner(pin: str, position: int) -> int | None:
    """The position of a pinned token on the side that is being drawn; None where B lacks it."""
    side = now()
    return side.partners[pin](position) if side is not None and side.is_b else position


def lacks() -> bool:
    """Whether the side that is being drawn has no token like the chosen one."""
    side = now()
    return side is not None and side.lacks


def key(name: str) -> str:
    """The key, on the side that is being drawn, of what a tab calls so."""
    side = now()
    return name if side is None else side.key(name)


@contextmanager
def during(side: Side | None) -> Iterator[None]:
    """Draws for a side, or as if nothing were compared."""
    before = _drawn.set(side)
    try:
        yield
    finally:
        _drawn.reset(before)


def once(key: str, draw: Callable[[], Any], fitting: Callable[[Any], Any]) -> Any:
    """What a control gives: drawn on A, and on B what the reader has chosen there.

    Args:
        fitting: makes of A's answer one that B's control can give.
    """
    side = now()
    if side is None:
        return draw()
    if side.is_b and key in side.answers:
        return fitting(side.answers[key])
    side.answers[key] = answer = draw()
    return answer
