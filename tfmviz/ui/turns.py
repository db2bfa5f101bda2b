"""Readers take turns: the server computes only about as many pages at once as it has processors.

Fifty runs that share two processors all finish late. In turn each is quick, and half of them are done in half the time.
A reader who has to wait for more than a moment is told how many are before them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from tfmviz.ui import icons

AT_ONCE = (os.cpu_count() or 1) + 1
"""One more than there are processors, since a run may wait for something else."""

PATIENCE = 1.0
"""Every so many seconds a waiting reader is told the place in the queue."""

Ticket = threading.Event
"""A run that wants a turn; set when it has one. Each waits for its own, so that nobody is woken in vain."""

_mine = threading.local()
_lock = threading.Lock()
_queue: list[Ticket] = []  # those who wait, the longest first
_running: set[Ticket] = set()


@contextmanager
def taken() -> Iterator[None]:
    """Surrounds a run of a page: gives back the turn that `take` took in it, however the run ends."""
    try:
        yield
    finally:
        if (ticket := _mine.__dict__.pop("ticket", None)) is not None:
            with _lock:
                _running.discard(ticket)
                if ticket in _queue:  # the run was stopped while it waited
                    _queue.remove(ticket)
                _call()


def take() -> None:
    """Waits for a turn; it lasts until the run ends."""
    if hasattr(_mine, "ticket"):
        return
    ticket = _mine.ticket = Ticket()
    with _lock:
        _queue.append(ticket)
        _call()
    note = None
    while not ticket.wait(PATIENCE):
        note = st.empty() if note is None else note
        note.info(f"The server is busy: {_before(ticket)} before you. Your page will appear.", icon=icons.WAIT)
    if note is not None:
        note.empty()


def _call() -> None:
    """Gives free turns to those who wait. The lock is held."""
    while _queue and len(_running) < AT_ONCE:
        ticket = _queue.pop(0)
        _running.add(ticket)
        ticket.set()


def _before(ticket: Ticket) -> str:
    with _lock:
        count = _queue.index(ticket) + 1 if ticket in _queue else 1
    return "one reader is" if count == 1 else f"{count} readers are"
