"""A model on disk is loaded once, and let go when another one has taken its place."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from weakref import ref

import pytest

from tests.app import forget
from tests.model.helpers import flat
from tfmviz import zoo
from tfmviz.model.transformer import build
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export
from tfmviz.ui import models

TOKENIZER = Tokenizer.train((), vocab_size=257)


def put(folder: Path, *, width: int, written: int) -> None:
    """A model with random weights, written so many seconds after 1970."""
    config = flat(
        vocab_size=TOKENIZER.vocab_size, d_model=width, n_layers=1, n_heads=1, n_kv_heads=1, d_ff=7, max_len=31
    )
    export(folder, build(config), TOKENIZER, card="")
    os.utime(folder / "model.safetensors", (written, written))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a model of the reader's own."""
    monkeypatch.setenv("TFMVIZ_MODELS", str(tmp_path))
    forget()
    yield tmp_path / "mine"
    forget()


def test_a_model_that_is_replaced_is_loaded_anew_and_nothing_holds_on_to_the_old_one(own: Path) -> None:
    put(own, width=6, written=1_000)
    old = models.load("mine")
    assert models.load("mine") is old
    assert models.trace(old, "abc")["embed"].shape[-1] == 6
    put(own, width=10, written=2_000)
    new = models.load("mine")
    assert models.load("mine") is new
    assert models.trace(new, "abc")["embed"].shape[-1] == 10
    kept = ref(old)
    del old
    gc.collect()
    assert kept() is None


def test_the_results_of_other_models_stay(own: Path) -> None:
    put(own, width=6, written=1_000)
    put(own.with_name("other"), width=6, written=1_000)
    models.trace(models.load("mine"), "abc")
    other = models.load("other")
    trace = models.trace(other, "abc")
    put(own, width=10, written=2_000)
    models.load("mine")
    assert models.load("other") is other
    assert models.trace(other, "abc") is trace


def test_a_model_that_is_gone_is_not_shown_from_memory(own: Path) -> None:
    put(own, width=6, written=1_000)
    models.load("mine")
    (own / "model.safetensors").unlink()
    with pytest.raises(zoo.ModelUnavailable, match=r"model\.safetensors is missing"):
        models._load("mine")
