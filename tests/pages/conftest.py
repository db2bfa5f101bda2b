"""Shared by the tests of pages."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import HERE, forget
from tests.runs.started import waiting
from tfmviz import zoo
from tfmviz.model.config import ModelConfig
from tfmviz.runs.manager import RunManager
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import session_cookie


@pytest.fixture(scope="module", autouse=True)
def _fresh_caches() -> Iterator[None]:
    """No file finds the models and results of another one."""
    forget()
    yield
    forget()


@pytest.fixture(autouse=True)
def _no_run_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the first run of a page nor one after a click."""
    run = AppTest._run

    def asserted(app: AppTest, *args: Any, **kwargs: Any) -> AppTest:
        run(app, *args, **kwargs)
        assert [one.message for one in app.exception] == [], "the log says more"
        return app

    monkeypatch.setattr(AppTest, "_run", asserted)


@pytest.fixture
def fresh() -> Iterator[None]:
    """For a test with models or code of its own: it finds nothing of the shipped ones, nor leaves anything behind.

    Other tests find what those before them have loaded and computed, as readers do.
    """
    forget()
    yield
    forget()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """Of `tiny-english`, with which most pages open."""
    return Tokenizer.load(zoo.MODELS / "tiny-english" / "tokenizer.json")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own for the runs of a test, whose processes only wait."""
    monkeypatch.setenv("TFMVIZ_RUNS", str(tmp_path))
    monkeypatch.setattr(RunManager, "watch", lambda self: None)
    monkeypatch.setattr(session_cookie, "this_one", lambda: HERE)
    forget()
    with waiting(monkeypatch):
        yield tmp_path
    forget()


@pytest.fixture
def own_zoo(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of models in place of the shipped one."""
    for function in (zoo.catalogue, zoo.load, zoo.available):
        monkeypatch.setattr(function, "__defaults__", (tmp_path,))
    return tmp_path


@pytest.fixture
def put_random_model(own_zoo: Path, tokenizer: Tokenizer) -> Callable[..., ModelConfig]:
    """Puts a small model in which every weight matters into that folder."""
    from tests.model.helpers import flat, lively  # torch, which many a page does without
    from tfmviz.model.transformer import build
    from tfmviz.training.export import export

    def put(name: str = "small", **changes: Any) -> ModelConfig:
        shape = {"d_model": 12, "n_layers": 2, "n_heads": 3, "n_kv_heads": 3, "d_ff": 7, "max_len": 19} | changes
        config = flat(vocab_size=tokenizer.vocab_size, **shape)
        export(own_zoo / name, lively(build(config)), tokenizer, card="")
        return config

    return put
