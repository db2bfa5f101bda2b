"""The last fuse: long loops ask between layers, tokens and steps whether they are still to go on.

How much work an answer is, is counted and bounded before it begins. This is for what nobody has foreseen, and for the
work of a reader who has left. Who answers the question is up to the caller: `ui.turns` in the app, nobody elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_look: ContextVar[Callable[[int, int], object]] = ContextVar("_look", default=lambda done, of: None)


def check(done: int = 0, of: int = 0) -> None:
    """Call between two steps of a loop. Passes on whatever `watched` raises to end the work.

    Args:
        done, of: how many steps are done of how many, where somebody who waits may be told; 0 of 0 says nothing.
    """
    _look.get()(done, of)


@contextmanager
def watched(look: Callable[[int, int], object]) -> Iterator[None]:
    """Within this block, and in this thread alone, every `check` calls `look` with what it is told."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)
