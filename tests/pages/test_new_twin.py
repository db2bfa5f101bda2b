"""Pages on a model whose position scheme, or whose tokenizer, they have not met before."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.app import charts, open_page, views, words
from tests.model.helpers import flat, lively
from tests.pages.test_compare import EXPERIMENTS, tables
from tests.positions.clocks import ENTRY, STEP
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.model.transformer import build
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.weights import PositionEffects
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export
from tfmviz.ui import duel, models
from tfmviz.ui.compare import trials
from tfmviz.ui.steps import stages
from tfmviz.views import steps as view

TEXT = "The cat sat on the mat, and the dog"
RARE = "The photographer's umbrella nevertheless disappeared yesterday. "


@pytest.fixture
def rope_alone(own_zoo: Path) -> Path:
    """A zoo with the twin of RoPE in it."""
    shutil.copytree(zoo.MODELS / "twins-rope", own_zoo / "twins-rope")
    return own_zoo


def add_twin(folder: Path, scheme: str, *, tokenizer_of: str) -> None:
    """A small untrained model in the place of a twin."""
    tokenizer = Tokenizer.load(zoo.MODELS / tokenizer_of / "tokenizer.json")
    shape = {"d_model": 24, "n_layers": 4, "n_heads": 4, "n_kv_heads": 4, "d_ff": 7, "max_len": 64}
    config = flat(vocab_size=tokenizer.vocab_size, positions=scheme, **shape)
    export(folder / f"twins-{scheme}", lively(build(config)), tokenizer, card="")


@pytest.fixture
def clocks(rope_alone: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A scheme that is new."""
    monkeypatch.setitem(SCHEMES, "clocks", ENTRY)
    add_twin(rope_alone, "clocks", tokenizer_of="twins-rope")
    return "clocks"


def test_a_new_scheme_takes_part_in_every_comparison(clocks: str) -> None:
    for experiment in EXPERIMENTS:
        app = open_page("positions_compare", text=TEXT, left="rope", right=clocks, experiment=experiment)
        assert not app.error, experiment
        said = words(app)
        if experiment == "On paper":
            assert [header.value for header in app.header] == [SCHEMES["rope"].title, "Clocks"]
            assert "It acts on **queries and keys**, in every layer. Trained for it: **0**" in said.split(ENTRY.idea)[1]
        if experiment == "Decision card":
            (card,) = tables(app)
            assert card["scheme"] == ["rope", clocks]
            assert [card[name][1][1] for name in ("relative", "linear attention", "KV cache")] == ["✓"] * 3


def test_step_by_step_multiplies_the_turned_queries_and_keys_of_a_new_scheme(clocks: str) -> None:
    """Once it multiplied q and k as they were, and was off by 0.22."""
    name, layer, head = f"twins-{clocks}", "decoder.2.self_attn", 3
    model = models.load(name)
    trace = model.trace(TEXT)
    q, k = (trace[f"{layer}.{letter}"][head].astype(np.float64) for letter in "qk")
    turn = np.exp(1j * STEP * np.outer(np.arange(len(q)), np.arange(1, 4)))
    q, k = ((x[:, ::2] + 1j * x[:, 1::2]) * turn for x in (q, k))
    expected = (q @ k.conj().T).real / math.sqrt(6)
    _, a = read_arrays(stages.payload(model, TEXT, layer, head))
    found = a["rot_q"].astype(np.float64) @ a["rot_k"].T / math.sqrt(6)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.exp(1j * a["angles"]), turn, atol=1e-5)
    assert np.abs(a["q"].astype(np.float64) @ a["k"].T / math.sqrt(6) - expected).max() > 0.1
    app = open_page("step_by_step", text=TEXT, model=name, layer="2", head="3")
    assert not app.error


def test_the_whole_model_names_a_new_scheme(clocks: str) -> None:
    app = open_page("whole_model", text=TEXT, model=f"twins-{clocks}", zoom="head")
    header, _ = read_arrays(bytes(views(app)["whole_model"].bytes))
    assert "q, k turned by Clocks" in json.dumps(header)


def test_a_turn_by_unknown_angles_is_refused(clocks: str) -> None:
    """The view would show turned vectors and could not say how they came about."""
    model, layer = models.load(f"twins-{clocks}"), "decoder.2.self_attn"
    with pytest.raises(ValueError, match="by which angles is not known"):
        view.payload(model.trace(TEXT), layer, 0, model.weights.attention(layer), PositionEffects())


def test_surprises_at_different_tokens_are_not_compared_token_by_token(rope_alone: Path) -> None:
    """As bars, and of a long text as curves."""
    add_twin(rope_alone, "none", tokenizer_of="tiny-english")
    for text in (RARE, 9 * RARE):
        app = open_page("positions_compare", text=text, left="rope", right="none", experiment="Longer texts")
        assert "cut your text into different tokens" in words(app)
        assert "Mean surprise" not in words(app)
        assert "own_losses" not in charts(app)
        (tokens, _), (others, _) = (trials.losses_on(duel.twin_of(scheme), text) for scheme in ("rope", "none"))
        assert tokens != others


def test_surprises_at_the_same_tokens_are_compared(rope_alone: Path) -> None:
    add_twin(rope_alone, "none", tokenizer_of="twins-rope")
    app = open_page("positions_compare", text=TEXT, left="rope", right="none", experiment="Longer texts")
    assert "own_losses" in charts(app)
    assert "different tokens" not in words(app)
