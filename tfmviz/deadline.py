"""A cancellation hook: long loops call `check` between layers, tokens and steps.

The work of an answer is bounded before it begins. This catches what nobody foresaw, and the work of readers who have
left. The caller decides when to stop: `ui.turns` in the app, nobody elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_look: ContextVar[Callable[[int, int], object]] = ContextVar("_look", default=lambda done, of: None)


def check(done: int = 0, of: int = 0) -> None:
    """Raises whatever `watched` raises to end the work; call it between two steps of a loop.

    Args:
        done, of: number of finished steps and of all steps, for whoever waits; 0 of 0: not known.
    """
    _look.get()(done, of)


@contextmanager
def watched(look: Callable[[int, int], object]) -> Iterator[None]:
    """Within this block, and only in this thread, every `check` calls `look` with its arguments."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)
