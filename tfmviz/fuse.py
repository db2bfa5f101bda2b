"""A cancellation hook: long loops call `check` between layers, tokens and steps.

The work of an answer is bounded before it begins. This catches what nobody foresaw, and the work of readers who have
left. The caller decides when to stop: `ui.turns` in the app, nobody elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_look: ContextVar[Callable[[], object]] = ContextVar("_look", default=lambda: None)


def check() -> None:
    """Raises whatever `watched` raises to end the work; call it between two steps of a loop."""
    _look.get()()


@contextmanager
def watched(look: Callable[[], object]) -> Iterator[None]:
    """Within this block, and only in this thread, every `check` calls `look`."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)
