"""The engine and PyTorch on many more texts, models and ways of typing than `tests/engine` has time for."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine import MODELS, Engine
from tests.engine.parity import check_model
from tests.engine.random_models import CASES, check_case
from tests.engine.test_reuse import NAMES, type_and_compare
from tfmviz.views.engine import KNOWN

pytestmark = pytest.mark.soak


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
