"""Runs take turns: never more at once than allowed, the longest waiting first, and none is left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import streamlit

from tfmviz.ui import turns


class Run(threading.Thread):
    """A run that takes a turn and keeps it until it is told to end."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(daemon=True)
        self.waits, self.runs, self.end = threading.Event(), threading.Event(), threading.Event()
        self.fails = fails
        self.start()

    def run(self) -> None:
        try:
            with turns.taken():
                self.waits.set()
                turns.take()
                turns.take()  # a page may ask twice
                self.runs.set()
                self.end.wait(20)
                if self.fails:
                    raise ValueError("a page that fails")
        except ValueError:
            pass

    def finish(self) -> None:
        self.end.set()
        self.join(20)
        assert not self.is_alive()


def waiting(count: int) -> None:
    """Returns when so many stand in the queue."""
    for _ in range(2000):
        with turns._lock:
            if len(turns._queue) == count:
                return
        threading.Event().wait(0.005)
    raise AssertionError(f"{len(turns._queue)} wait, not {count}")


@pytest.fixture(autouse=True)
def _two_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(turns, "AT_ONCE", 2)
    yield
    assert not turns._queue
    assert not turns._running


def test_the_third_waits_and_the_longest_waiting_comes_first() -> None:
    first, second = Run(), Run()
    assert first.runs.wait(20)
    assert second.runs.wait(20)
    third = Run()
    waiting(1)
    fourth = Run()
    waiting(2)
    assert not third.runs.is_set()
    second.finish()
    assert third.runs.wait(20)
    assert not fourth.runs.is_set()
    first.finish()
    assert fourth.runs.wait(20)
    for run in (third, fourth):
        run.finish()


def test_a_run_knows_the_texts_of_those_who_wait_with_its_model() -> None:
    seen: list[list[str]] = []

    class Reads(Run):
        def __init__(self, model: str, text: str) -> None:
            self.asks = model, text
            super().__init__()

        def run(self) -> None:
            with turns.taken():
                turns.take(*self.asks)
                self.runs.set()
                self.end.wait(20)
                seen.append(turns.others())

    first, second = Reads("a", "1"), Reads("b", "2")
    assert first.runs.wait(20)
    assert second.runs.wait(20)
    others = []
    for count, (model, text) in enumerate([("a", "3"), ("b", "4"), ("a", "5")], start=1):
        others.append(Reads(model, text))
        waiting(count)
    first.finish()
    assert seen == [["3", "5"]]
    for run in (second, *others):
        run.finish()
    assert turns.others() == []


def test_a_page_that_fails_gives_its_turn_back() -> None:
    failing, other = Run(fails=True), Run()
    assert failing.runs.wait(20)
    assert other.runs.wait(20)
    failing.finish()
    third = Run()
    assert third.runs.wait(20)
    for run in (other, third):
        run.finish()


def test_who_waits_is_told_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Note:
        def info(self, text: str, *, icon: str) -> None:
            told.append(text)
            if len(told) == 2:
                raise KeyboardInterrupt  # as Streamlit stops a run: at the next thing it draws

        def empty(self) -> None: ...

    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    monkeypatch.setattr(streamlit, "empty", Note)
    first, second = Run(), Run()
    assert first.runs.wait(20)
    assert second.runs.wait(20)
    with pytest.raises(KeyboardInterrupt), turns.taken():
        turns.take()
    assert told == ["The server is busy: one reader is before you. Your page will appear."] * 2
    for run in (first, second):
        run.finish()
