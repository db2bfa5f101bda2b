"""Readers take turns: the server computes only about as many pages at the same time as it has processors.

Fifty runs that share two processors all finish late. In turn each is quick, and half of them are done in half the time.

Turns go round by reader, not by run: a reader who has had a turn comes after all others who wait, and has no second
one meanwhile, however many tabs they open and however fast they press Enter.

An answer's work is bounded by counting, before it begins. If a turn lasts too long all the same, the fuse ends it; so
it does when its reader has left, or has requested something else.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

from tfmviz import deadline, workers
from tfmviz.ui import icons, session_cookie
from tfmviz.ui.waiting import Progress, give_way, hold_if_stopped

PROCESSORS = max(1, workers.processors() // workers.SHARING)
"""Those for this server: each of several has its share."""

PATIENCE = 1.0
"""Seconds between two updates of a waiting reader's place in the queue."""

AT_ONCE = PROCESSORS + 1
"""One more, since a run may wait for something else."""

LONGEST = 30.0
"""Seconds of a processor that a turn may take: ten times what any answer takes with the models that are shipped."""


TOO_MUCH = (
    f"This takes more than {LONGEST:.0f} seconds of a processor. Type fewer words, "
    "choose a smaller model, or undo your last change."
)


class TooMuch(Exception):
    """An answer has taken `LONGEST`."""


@dataclass(frozen=True, eq=False, slots=True)
class Ticket:
    """A run that wants a turn. Each waits for a separate event, so that no thread is woken in vain.

    Attributes:
        reader: see `session_cookie.who`.
        asks: the run's model and text, as in `take`.
        called: set when its turn has come.
        began: when it was made, on its thread's clock, which stands still while it waits.
    """

    reader: str
    asks: tuple[str, str] = ("", "")
    called: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.thread_time)
    progress: Progress = field(default_factory=Progress)


class Round:
    """The waiting tickets, in a round of readers: each reader's oldest one, then the next ones."""

    def __init__(self) -> None:
        self._tickets: dict[str, list[Ticket]] = {}  # by reader; one who arrives, or has had a turn, goes last

    def join(self, ticket: Ticket) -> None:
        self._tickets.setdefault(ticket.reader, []).append(ticket)

    def leave(self, ticket: Ticket) -> None:
        tickets = self._tickets.get(ticket.reader, [])
        if ticket in tickets:
            tickets.remove(ticket)
            if not tickets:
                del self._tickets[ticket.reader]

    def call(self, may: Callable[[str], bool]) -> Ticket | None:
        """The next ticket among readers who may have a turn; None without one."""
        for reader, tickets in self._tickets.items():
            if may(reader):
                del self._tickets[reader]
                if tickets[1:]:
                    self._tickets[reader] = tickets[1:]
                return tickets[0]
        return None

    @property
    def readers(self) -> list[str]:
        return list(self._tickets)

    def __iter__(self) -> Iterator[Ticket]:
        """Tickets in the order of their turns, as far as it is known: the first of each reader, the second …"""
        rows = itertools.zip_longest(*self._tickets.values())
        return (ticket for row in rows for ticket in row if ticket is not None)


_mine = threading.local()
_lock = threading.Lock()
_queue = Round()
_running: set[Ticket] = set()


@contextmanager
def slot() -> Iterator[None]:
    """Surrounds a run of a page: gives back the turn that `take` took in it, however the run ends.

    A turn that takes too long ends with a sentence in place of the rest of the page.
    """
    try:
        with deadline.watched(_look):
            yield
    except TooMuch:
        st.error(TOO_MUCH, icon=icons.CUT)
    finally:
        if (ticket := _mine.__dict__.pop("ticket", None)) is not None:
            with _lock:
                _running.discard(ticket)
                _queue.leave(ticket)  # the run was stopped while it waited
                _call()


def take(model: str = "", text: str = "") -> None:
    """Waits for a turn; it lasts until the run ends. `model, text`: see `others`."""
    if hasattr(_mine, "ticket"):
        return
    hold_if_stopped((model, text))
    ticket = _mine.ticket = Ticket(session_cookie.waits_here(), (model, text))
    with _lock:
        _queue.join(ticket)
        _call()
    note = None
    while not ticket.called.wait(PATIENCE):
        note = st.empty() if note is None else note
        note.info(f"The server is busy: {_before(ticket)} before you. Your page will appear.", icon=icons.WAIT)
    if note is not None:
        note.empty()


def are_taken(reader: str) -> bool:
    """A page of another reader occupies every processor, or one of this reader the only processor.

    Pages of one other reader alone do not stop anyone's keys, however many there are.
    """
    with _lock:
        busy = {ticket.reader for ticket in _running} | set(_queue.readers)
    return len(busy) >= PROCESSORS and (len(busy) > 1 or reader in busy)


def _look(done: int, of: int) -> None:
    """The fuse's check. Streamlit ends an abandoned run when it accesses the session's state."""
    if (ticket := getattr(_mine, "ticket", None)) is None:
        return  # the model is still being loaded, for all readers
    give_way()
    "choice" in st.session_state  # noqa: B015
    if time.thread_time() - ticket.began > LONGEST:
        raise TooMuch
    if of:
        ticket.progress.tell(ticket.asks, done, of)


def others() -> list[str]:
    """The texts of those who wait for a turn with the same model, in the order of their turns."""
    if (mine := getattr(_mine, "ticket", None)) is None:
        return []
    with _lock:
        return [text for model, text in (ticket.asks for ticket in _queue) if model == mine.asks[0]]


def _call() -> None:
    """Requires the lock."""
    while len(_running) < AT_ONCE and (ticket := _queue.call(_may)) is not None:
        _running.add(ticket)
        ticket.called.set()


def _may(reader: str) -> bool:
    return sum(ticket.reader == reader for ticket in _running) < session_cookie.share(reader, PROCESSORS)


def _before(ticket: Ticket) -> str:
    with _lock:
        before = {one.reader for one in itertools.takewhile(lambda one: one is not ticket, _queue)}
    count = len(before - {ticket.reader}) + 1
    return "one reader is" if count == 1 else f"{count} readers are"
