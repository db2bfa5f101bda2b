"""The shared cache: once for all who ask, within its budget, and nothing that failed is kept."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from cachetools import LRUCache

from tfmviz import zoo
from tfmviz.record.trace import Encoding, Trace
from tfmviz.ui import cache, run_queue


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_results", LRUCache(10_000, getsizeof=cache.n_bytes))


def test_many_who_ask_at_once_cost_one_computation() -> None:
    begun, go_on = threading.Event(), threading.Event()
    asked: list[int] = []

    @cache.cached_for_all
    def slow(number: int) -> int:
        asked.append(number)
        begun.set()
        go_on.wait(20)
        return 2 * number

    with ThreadPoolExecutor() as askers:
        found = [askers.submit(slow, 7) for _ in range(5)]
        assert begun.wait(20)
        go_on.set()
        assert [one.result(20) for one in found] == [14] * 5
    assert asked == [7]


def test_a_default_that_is_given_is_the_same_call_and_another_function_another() -> None:
    asked: list[tuple[str, tuple[int, ...]]] = []

    @cache.cached_for_all
    def answer(name: str, edits: tuple[int, ...] = ()) -> str:
        asked.append((name, edits))
        return name

    answer("cat"), answer("cat", ()), answer(edits=(), name="cat"), answer("cat", (1,))
    assert asked == [("cat", ()), ("cat", (1,))]

    def named(name: str) -> Callable[[int], tuple[str, int]]:
        return cache.cached_for_all(lambda number: (name, number))

    one, other = named("one"), named("other")
    assert (one(3), other(3), one(3)) == (("one", 3), ("other", 3), ("one", 3))


def test_another_question_does_not_wait_for_a_slow_one() -> None:
    go_on = threading.Event()

    @cache.cached_for_all
    def answer(name: str) -> str:
        if name == "slow":
            go_on.wait(20)
        return name

    with ThreadPoolExecutor() as others:
        others.submit(answer, "slow")
        assert answer("quick") == "quick"
        go_on.set()


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The texts of those who stand in the queue for a turn."""
    queue = SimpleNamespace(texts=[])
    monkeypatch.setattr(run_queue, "others", lambda: queue.texts)
    return queue


@dataclass(frozen=True, eq=False)
class Model:
    """Stands for a model: writes texts backwards and counts how often it is asked."""

    asked: list[list[str]] = field(default_factory=list)


@cache.shared_with_others
def backwards(model: Model, texts: Sequence[str]) -> list[str]:
    model.asked.append(list(texts))
    if "" in texts:
        raise ValueError("no text")
    return [text[::-1] for text in texts]


def test_who_asks_brings_along_the_texts_of_those_who_wait(waiting: SimpleNamespace) -> None:
    model = Model()
    waiting.texts = ["two", "three", "two", "one"]
    assert backwards(model, "one") == "eno"
    assert [backwards(model, text) for text in ("three", "two", "one")] == ["eerht", "owt", "eno"]
    assert backwards(model, "four") == "ruof"
    assert model.asked == [["one", "two", "three"], ["four"]]  # what is there is not brought along again
    assert backwards(Model(), "one") == "eno"  # another model has its own


def test_a_long_text_is_computed_alone_and_a_crowd_in_parts(waiting: SimpleNamespace) -> None:
    model, long = Model(), "a" * (cache.SHORT + 1)
    waiting.texts = [long, "short", *map(str, range(50))]
    assert backwards(model, "first") == "tsrif"
    assert backwards(model, long) == long
    first, alone = model.asked
    assert first == ["first", "short", *map(str, range(cache.AT_ONCE - 2))]
    assert alone == [long]


def test_a_text_of_another_that_cannot_be_read_harms_nobody(waiting: SimpleNamespace) -> None:
    model = Model()
    waiting.texts = [""]
    assert backwards(model, "mine") == "enim"
    assert model.asked == [["mine", ""], ["mine"]]
    with pytest.raises(ValueError, match="no text"):
        backwards(model, "")


def test_a_text_that_is_being_computed_with_others_is_not_computed_again(waiting: SimpleNamespace) -> None:
    begun, go_on = threading.Event(), threading.Event()
    asked: list[list[str]] = []

    @cache.shared_with_others
    def slow(model: Model, texts: Sequence[str]) -> list[str]:
        asked.append(list(texts))
        begun.set()
        go_on.wait(20)
        return list(texts)

    model = Model()
    waiting.texts = ["second"]
    with ThreadPoolExecutor() as others:
        first = others.submit(slow, model, "first")
        assert begun.wait(20)
        second = others.submit(slow, model, "second")
        go_on.set()
        assert [first.result(20), second.result(20)] == ["first", "second"]
    assert asked == [["first", "second"]]


def test_what_raises_is_tried_again() -> None:
    tries: list[int] = []

    @cache.cached_for_all
    def fails_once() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("not yet")
        return "done"

    with pytest.raises(ValueError, match="not yet"):
        fails_once()
    assert fails_once() == fails_once() == "done"
    assert len(tries) == 2


def test_the_budget_holds_and_the_least_recently_used_goes_first() -> None:
    computed: list[int] = []

    @cache.cached_for_all
    def array(number: int) -> np.ndarray:
        computed.append(number)
        return np.zeros(500)  # 4,000 bytes of the 10,000

    for number in (1, 2, 1, 3, 1, 2):
        array(number)
    assert computed == [1, 2, 3, 2]
    assert cache._results.currsize <= 10_000


def test_what_is_larger_than_the_budget_is_handed_on_but_not_kept() -> None:
    @cache.cached_for_all
    def large() -> np.ndarray:
        return np.zeros(5_000)

    assert large() is not large()
    assert cache._results.currsize == 0


def test_bytes_are_counted_through_records() -> None:
    @dataclass
    class Record:
        numbers: np.ndarray
        name: str

    text = Encoding(text="a", ids=(1,), tokens=("a",), offsets=((0, 1),))
    trace = Trace(target=text, values={"a": np.zeros((3, 5), np.float32), "b": np.zeros(7, bool)})
    assert cache.n_bytes(trace) == 60 + 7
    assert cache.n_bytes({"x": np.zeros(2), "y": [b"123", "4567"]}) == 16 + 3 + 4
    assert cache.n_bytes(Record(np.zeros(10), "ten")) == 83


def test_a_model_that_is_kept_counts_with_its_weights() -> None:
    model = zoo.load("reverse")
    assert cache.n_bytes(model) == 4 * model.weights.n_parameters
