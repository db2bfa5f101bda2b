"""Runs take turns: never more at once than allowed, readers in a round, and none is left behind."""

import itertools
import threading
from collections.abc import Iterator
from random import Random

import pytest
import streamlit

from tfmviz.ui import run_queue, session_cookie
from tfmviz.ui.run_queue import Round, Ticket

NUMBERS = itertools.count()

HERE = threading.local()
"""The reader of a thread, which Streamlit would know."""


class Run(threading.Thread):
    """A run, of a reader of its own if none is named, that takes a turn and keeps it until it is told to end.

    It asks with a model and a text, or with neither.
    """

    def __init__(self, reader: str = "", *asks: str, fails: bool = False) -> None:
        super().__init__(daemon=True)
        self.reader = reader or f"reader {next(NUMBERS)}"
        self.asks, self.fails, self.others = asks, fails, [""]
        self.runs, self.end = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        HERE.reader = self.reader
        try:
            with run_queue.slot():
                run_queue.take(*self.asks)
                run_queue.take(*self.asks)  # a page may ask twice
                self.runs.set()
                self.end.wait(20)
                self.others = run_queue.others()
                if self.fails:
                    raise ValueError("a page that fails")
        except ValueError:
            pass


def begun(count: int, reader: str = "") -> list[Run]:
    """So many runs that have their turn."""
    runs = [Run(reader) for _ in range(count)]
    assert all(run.runs.wait(20) for run in runs)
    return runs


def finish(*runs: Run) -> None:
    for run in runs:
        run.end.set()
        run.join(20)
        assert not run.is_alive()


def waiting(count: int) -> None:
    """Returns when so many stand in the queue."""
    for _ in range(2000):
        with run_queue._lock:
            found = len(list(run_queue._queue))
        if found == count:
            return
        threading.Event().wait(0.005)
    raise AssertionError(f"{found} wait, not {count}")


@pytest.fixture(autouse=True)
def _two_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(run_queue, "AT_ONCE", 2)
    monkeypatch.setattr(session_cookie, "waits_here", lambda: getattr(HERE, "reader", "the test"))
    yield
    assert not list(run_queue._queue)
    assert not run_queue._running


def test_the_third_waits_and_the_longest_waiting_comes_first() -> None:
    first, second = begun(2)
    third = Run()
    waiting(1)
    fourth = Run()
    waiting(2)
    assert not third.runs.is_set()
    finish(second)
    assert third.runs.wait(20)
    assert not fourth.runs.is_set()
    finish(first)
    assert fourth.runs.wait(20)
    finish(third, fourth)


def test_a_run_knows_the_texts_of_those_who_wait_with_its_model() -> None:
    first, second = Run("", "a", "1"), Run("", "b", "2")
    assert first.runs.wait(20)
    assert second.runs.wait(20)
    others = []
    for count, (model, text) in enumerate([("a", "3"), ("b", "4"), ("a", "5")], start=1):
        others.append(Run("", model, text))
        waiting(count)
    finish(first)
    assert first.others == ["3", "5"]
    finish(second, *others)
    assert run_queue.others() == []


def test_a_page_that_fails_gives_its_turn_back() -> None:
    failing, other = Run(fails=True), Run()
    assert failing.runs.wait(20)
    assert other.runs.wait(20)
    finish(failing)
    finish(other, *begun(1))


def test_who_waits_is_told_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Note:
        def info(self, text: str, *, icon: str) -> None:
            told.append(text)
            if len(told) == 2:
                raise KeyboardInterrupt  # as Streamlit stops a run: at the next thing it draws

        def empty(self) -> None: ...

    monkeypatch.setattr(run_queue, "PATIENCE", 0.01)
    monkeypatch.setattr(streamlit, "empty", Note)
    first, second = begun(2)
    with pytest.raises(KeyboardInterrupt), run_queue.slot():
        run_queue.take()
    assert told == ["The server is busy: one reader is before you. Your page will appear."] * 2
    finish(first, second)


def test_tabs_of_one_reader_take_turns_one_by_one_and_another_comes_in_at_once() -> None:
    tabs = begun(1, "a flood")
    for count in range(1, 6):
        tabs.append(Run("a flood"))
        waiting(count)
    finish(*begun(1))
    for tab in tabs:
        assert tab.runs.wait(20)
        assert sum(one.runs.is_set() and one.is_alive() for one in tabs) == 1
        finish(tab)


def test_a_class_behind_one_address_uses_every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its browsers may keep no cookie. Another reader still comes in at once."""
    monkeypatch.setattr(run_queue, "AT_ONCE", 4)
    monkeypatch.setattr(run_queue, "PROCESSORS", 3)
    address = session_cookie.who({}, "10.0.0.1")
    crowd = begun(3, address)
    late = Run(address)
    waiting(1)
    (other,) = begun(1)
    assert not late.runs.is_set()
    finish(*crowd, other, late)


def test_pages_of_one_reader_keep_no_others_keys_away(monkeypatch: pytest.MonkeyPatch) -> None:
    for processors, busy in ((1, {"a": True, "b": False, "c": False}), (2, {"a": False, "b": False, "c": False})):
        monkeypatch.setattr(run_queue, "PROCESSORS", processors)
        monkeypatch.setattr(run_queue, "_running", {Ticket("a")})
        assert {reader: run_queue.are_taken(reader) for reader in "abc"} == busy
    for processors, taken in ((1, True), (2, True), (3, False)):
        monkeypatch.setattr(run_queue, "PROCESSORS", processors)
        monkeypatch.setattr(run_queue, "_running", {Ticket("a"), Ticket("b")})
        assert {run_queue.are_taken(reader) for reader in "abc"} == {taken}
    monkeypatch.setattr(run_queue, "_running", set())


def served(line: Round, again: dict[str, int], turns_left: int) -> list[str]:
    """The readers of so many turns, one after the other, where those in `again` come back as often after theirs."""
    order: list[str] = []
    left = dict(again)
    while len(order) < turns_left and (ticket := line.call(lambda reader: True)) is not None:
        order.append(ticket.reader)
        if left.get(ticket.reader, 0):
            left[ticket.reader] -= 1
            line.join(Ticket(ticket.reader))
    return order


def joined(*names: str) -> Round:
    line = Round()
    for name in names:
        line.join(Ticket(name))
    return line


def test_nobody_has_a_second_turn_before_all_who_wait_had_one() -> None:
    random = Random(0)
    for _ in range(200):
        names = [random.choice("abcde") for _ in range(random.randrange(1, 40))]
        order = served(joined(*names), {}, 100)
        assert sorted(order) == sorted(names), "each ticket has one turn"
        waits = {name: names.count(name) for name in names}
        while waits:  # a round: each who still waits, once
            now, order = order[: len(waits)], order[len(waits) :]
            assert set(now) == set(waits)
            waits = {name: count - 1 for name, count in waits.items() if count > 1}


def test_who_comes_back_at_once_comes_after_those_who_wait() -> None:
    for tabs in (1, 20):
        line = joined(*["flood"] * tabs, "one", "two")
        assert served(line, {"flood": 50}, 6) == ["flood", "one", "two", "flood", "flood", "flood"]
        line.join(Ticket("three"))
        assert served(line, {"flood": 50}, 2)[-1] == "three"


def test_fresh_readers_keep_nobody_waiting_and_the_order_that_is_told_is_that_of_the_turns() -> None:
    line = joined("patient")
    for n in range(5):
        line.join(Ticket(f"fresh {n}"))
    assert line.call(lambda reader: reader != "patient") is not None  # it could not have a turn just then
    assert served(line, {}, 1) == ["patient"]
    line = joined("a", "a", "b", "a", "c", "b")
    assert [ticket.reader for ticket in line] == served(line, {}, 10) == ["a", "b", "c", "a", "b", "a"]
