"""The pair with and without residual connections: its training, and what the page draws of a sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, open_page, series, words
from tfmviz import zoo
from tfmviz.analysis import residual
from tfmviz.model.in_training import untrained
from tfmviz.ui.stream.pair import FOLDER, NAMES
from tfmviz.zoo import ZooModel

TEXT = "The cat sat on the mat."
MEASURED = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))


def load(name: str) -> ZooModel:
    return zoo.load(name, FOLDER)


def log(name: str) -> list[dict[str, float]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def page(text: str = TEXT) -> AppTest:
    return open_page("residual_stream", stream="Two designs", designs="residual connections", text=text)


def test_the_two_were_trained_alike_and_only_one_reads() -> None:
    """What the tab is for: without residual connections nothing is learned beyond how frequent tokens are."""
    configs = [load(name).config.to_dict() for name in NAMES]
    assert {key for key in configs[0] if configs[0][key] != configs[1][key]} == {"residual"}
    assert load("without").config.residual == "absent"
    steps = [[(entry["step"], entry["learning_rate"]) for entry in log(name)] for name in NAMES]
    assert steps[0] == steps[1]
    assert [MEASURED[name]["weights"] for name in NAMES] == [zoo.weights_hash(name, FOLDER) for name in NAMES]
    assert MEASURED["with"]["held_out"] < MEASURED["unigram"] - 1
    assert abs(MEASURED["without"]["held_out"] - MEASURED["unigram"]) < 0.3


def test_the_figures_are_those_of_the_sentence() -> None:
    app = page()
    shown = charts(app)
    alike, gradients, lengths = (series(shown[f"pair_{key}"]) for key in ("likeness", "gradients", "lengths"))
    for name in NAMES:
        loaded = load(name)
        trace, n_layers = loaded.trace(TEXT), loaded.config.n_layers
        sites = ["decoder.0.resid_pre", *(f"decoder.{n}.resid_post" for n in range(n_layers))]
        np.testing.assert_allclose(alike[name], residual.likeness(trace, sites), atol=1e-5)
        np.testing.assert_allclose(lengths[name], residual.lengths(trace, sites).mean(axis=-1), rtol=1e-4)
        at_the_start = replace(loaded, module=untrained(loaded.config, seed=0))
        for said, model in (("trained", loaded), ("at the start", at_the_start)):
            found = zoo.experiments.gradient_lengths(model, TEXT)
            parts = [[found[f"decoder.{n}.{part}"] for n in range(n_layers)] for part in ("self_attn", "mlp")]
            np.testing.assert_allclose(gradients[f"{name}, {said}"], np.hypot(*parts), rtol=1e-3)
    assert "with" in alt(app, "pair_losses")


def test_the_losses_are_those_of_the_logs() -> None:
    app = page()
    drawn = series(charts(app)["pair_losses"], table="curves")
    for name in NAMES:
        np.testing.assert_allclose(drawn[name], [entry["loss"] for entry in log(name)], rtol=1e-5)
        assert f"**{MEASURED[name]['held_out']:.2f}**" in words(app)
