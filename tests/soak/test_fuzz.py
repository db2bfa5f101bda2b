"""No answer beyond its budget: worst texts, settings at their ends, addresses and texts at random; and no exception."""

import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from tests.engine import MODELS, Engine
from tests.engine.parity import check_model
from tests.engine.random_models import CASES, check_case
from tests.engine.test_reuse import NAMES, type_and_compare
from tests.hostile.test_corpus import opened
from tests.hostile.texts import WORST
from tests.pages.tabs import Address, addresses
from tests.soak import answers, random_readers
from tests.soak.conftest import CHUNK, FIRST, SIZE
from tests.soak.costs import SECONDS, cost_of
from tfmviz import zoo
from tfmviz.ui import models, router
from tfmviz.ui.run_queue import TOO_MUCH
from tfmviz.views.engine import KNOWN

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


Asking = Callable[[str, Address], Iterator[answers.Asked]]

EVERY_TAB = [
    pytest.param(page.name, tab, id=" ".join([page.name, *tab.values()]))
    for page in router.PAGES
    if page.name != "home"  # it leads a text on to the explorer
    for tab in addresses(page.name)
]


@pytest.mark.parametrize("asked", [answers.long_texts, partial(answers.settings, text=WORST["990 words"])])
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
