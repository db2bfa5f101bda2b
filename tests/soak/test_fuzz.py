"""No answer beyond its budget: worst texts, settings at their ends, addresses and texts at random; and no exception."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import open_page, opened
from tests.engine import MODELS, Engine
from tests.engine.parity import CASES, check_case, check_model
from tests.engine.test_reuse import NAMES, type_and_compare
from tests.hostile.texts import WORST
from tests.pages.tabs import Address, addresses
from tests.soak import random_readers
from tests.soak.conftest import CHUNK, FIRST, SIZE
from tests.soak.costs import SECONDS, cost_of
from tfmviz import zoo
from tfmviz.ui import models, router
from tfmviz.ui.run_queue import TOO_MUCH
from tfmviz.views.engine import KNOWN

FAR = 10**15
"""Where a number box has no end of its own."""

KINDS = ("slider", "select_slider", "number_input", "checkbox", "toggle", "text_area", "text_input")

Asked = tuple[str, Callable[[], AppTest]]
"""What is set, and the run that answers it."""


def long_texts(page: str, tab: Address) -> Iterator[Asked]:
    """The worst texts, one after the other in the sentence box of a page that was opened with a short one."""
    app = open_page(page, text="The cat sat.", **tab)
    for name, text in WORST.items() if app.get("text_area") else ():
        yield name, app.text_area(key="text").set_value(text).run


def settings(page: str, tab: Address, text: str) -> Iterator[Asked]:
    """Every number at its ends, every switch, the worst texts in every other box: one at a time, others as they are.

    What was set is put back in the run that sets the next one, and in a run of its own only if it has hidden something.
    """
    app = open_page(page, text=text, **tab)
    boxes = _boxes(app)
    for kind, key in boxes:
        if (widget := _there(app, kind, key)) is None:
            continue  # another setting has hidden it
        usual = widget.value
        for value in _values(widget, kind):
            if widget := _there(app, kind, key):
                yield f"{key} = {str(value)[:20]}", widget.set_value(value).run
        if widget := _there(app, kind, key):
            widget.set_value(usual)
            if _boxes(app) != boxes:
                app.run()


def _boxes(app: AppTest) -> list[tuple[str, str]]:
    """All that can be set, but for the sentence: kind and key."""
    return [(kind, one.key) for kind in KINDS for one in app.main.get(kind) if one.key not in (None, "text")]


def _there(app: AppTest, kind: str, key: str) -> Any:
    return next((one for one in app.main.get(kind) if one.key == key), None)


def _values(widget: Any, kind: str) -> list[Any]:
    """The values to try."""
    match kind:
        case "slider":
            return [widget.min, widget.max]
        case "select_slider":
            return [made for end in (0, -1) if (made := _option(widget, widget.options[end])) is not None]
        case "number_input":
            return [-FAR if widget.min is None else widget.min, FAR if widget.max is None else widget.max]
        case "checkbox" | "toggle":
            return [not widget.value]
    return [worst[: widget.proto.max_chars or None] for worst in WORST.values()]


def _option(widget: Any, shown: str) -> Any:
    """The option that is shown so: a test is told only its text. None if that does not tell."""
    plain = shown.replace(",", "")
    for made in (shown, *([int(plain)] if plain.isdigit() else [])):
        with suppress(ValueError, TypeError):
            if widget.format_func(made) == shown:
                return made
    return None


pytestmark = pytest.mark.soak

VISIT = 25
"""Texts that a reader types before another one comes, to another tab."""

CHUNKS = pytest.mark.parametrize("first", range(FIRST, FIRST + SIZE, CHUNK))


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Loading a model is no part of an answer."""
    for name in zoo.available():
        models.load(name)
    for name in zoo.earlier():
        models.earlier(name)


@CHUNKS
def test_no_address_breaks_a_page(first: int) -> None:
    assert list(_complaints(_seeds(first), _address)) == []


@CHUNKS
def test_no_text_breaks_a_page(first: int) -> None:
    assert list(_complaints(_seeds(first)[::VISIT], _texts)) == []


def _seeds(first: int) -> range:
    return range(first, min(first + CHUNK, FIRST + SIZE))


Tried = Iterator[tuple[str, Callable[[], AppTest]]]


def _complaints(seeds: range, tried: Callable[[int], Tried]) -> Iterator[str]:
    """What went wrong, with the seed that makes it happen again."""
    for seed in seeds:
        for what, run in tried(seed):
            began = time.process_time()
            app = run()
            seconds = time.process_time() - began
            found = [str(one.message) for one in app.exception]
            found += [one.value for one in app.error if one.value == TOO_MUCH]
            found += [f"{seconds:.1f} s"] if seconds > SECONDS else []
            if found:
                yield f"{seed}: {what}: {'; '.join(found)}"


def _address(seed: int) -> Tried:
    page, address = random_readers.address(Random(seed))
    yield f"/{page}?{urlencode(address)}", opened(page, address).run


def _texts(seed: int) -> Tried:
    random = Random(-seed - 1)
    page = random.choice([page.name for page in router.PAGES if page.group])
    app = opened(page, random_readers.tab(random, page))
    yield f"/{page}", app.run
    for _ in range(VISIT):
        text = random_readers.text(random)
        yield f"/{page} {text[:60]!r} ({len(text)} characters)", app.text_area(key="text").set_value(text).run


Asking = Callable[[str, Address], Iterator[Asked]]

EVERY_TAB = [
    pytest.param(page.name, tab, id=" ".join([page.name, *tab.values()]))
    for page in router.PAGES
    if page.name != "home"  # it leads a text on to the explorer
    for tab in addresses(page.name)
]


@pytest.mark.parametrize("asked", [long_texts, partial(settings, text=WORST["990 words"])])
@pytest.mark.parametrize(("page", "tab"), EVERY_TAB)
def test_no_answer_costs_more_than_the_budget(page: str, tab: Address, asked: Asking) -> None:
    costs = {name: cost_of(run) for name, run in asked(page, tab)}
    assert {name: cost for name, cost in costs.items() if cost.is_too_much} == {}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = Engine(tmp_path)
    yield made
    made.end()


@pytest.mark.parametrize("name", KNOWN)
def test_a_shipped_model_leaves_the_same_record_of_200_texts(engine: Engine, name: str) -> None:
    check_model(engine, name, 200)


def test_all_random_models_leave_the_same_record(engine: Engine, tmp_path: Path) -> None:
    shutil.copy(MODELS / "induction" / "tokenizer.json", tmp_path)
    for case in CASES:
        check_case(engine, tmp_path, case)


@pytest.mark.parametrize("name", NAMES)
def test_500_ways_of_typing_end_in_the_record_of_one_pass(engine: Engine, name: str) -> None:
    type_and_compare(engine, name, 500)
