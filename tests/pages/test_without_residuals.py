"""The pair with and without residual connections: the page's numbers against torch's own, and odd input."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.app import alt, charts, open_page, series, words
from tfmviz import zoo
from tfmviz.model.config import ModelConfig
from tfmviz.model.in_training import untrained
from tfmviz.ui.stream.pair import FOLDER, NAMES
from tfmviz.zoo import ZooModel

TEXT = "The cat sat on the mat."


def model(name: str) -> ZooModel:
    return zoo.load(name, FOLDER)


def test_the_two_were_trained_alike() -> None:
    configs = [model(name).config.to_dict() for name in NAMES]
    assert {key for key in configs[0] if configs[0][key] != configs[1][key]} == {"residual"}
    logs = [(FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in NAMES]
    steps = [[(entry["step"], entry["learning_rate"]) for entry in map(json.loads, log)] for log in logs]
    assert steps[0] == steps[1]
    measured = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    assert [measured[name]["weights"] for name in NAMES] == [zoo.weights_hash(name, FOLDER) for name in NAMES]


def test_the_figures_are_what_torch_computes_on_the_sentence() -> None:
    app = open_page("residual_stream", stream="Two designs", designs="residual connections", text=TEXT)
    shown = charts(app)
    alike, gradients, lengths = (series(shown[f"pair_{key}"]) for key in ("likeness", "gradients", "lengths"))
    for name in NAMES:
        loaded = model(name)
        trace = loaded.trace(TEXT)
        sites = ["decoder.0.resid_pre", *(f"decoder.{n}.resid_post" for n in range(loaded.config.n_layers))]
        for at, site in enumerate(sites):
            x = torch.from_numpy(trace[site].astype(float))
            cosines = [F.cosine_similarity(x[i], x[j], dim=0) for i, j in combinations(range(len(x)), 2)]
            assert alike[name][at] == pytest.approx(torch.stack(cosines).mean().item(), abs=1e-5)
            assert lengths[name][at] == pytest.approx(x.norm(dim=-1).mean().item(), rel=1e-4)
        assert gradients[f"{name}, trained"] == pytest.approx(backward(loaded, None), rel=1e-3)
        assert gradients[f"{name}, at the start"] == pytest.approx(backward(loaded, 0), rel=1e-3)


def backward(loaded: ZooModel, seed: int | None) -> list[float]:
    """‖∂ loss / ∂ all weights of a block‖ by torch's own backward pass, for each block."""
    source = loaded.module if seed is None else untrained(loaded.config, seed=seed)
    module = untrained.__wrapped__(loaded.config, seed=0)
    module.load_state_dict(source.state_dict())
    ids = torch.tensor([loaded.tokenizer.ids(TEXT)])
    F.cross_entropy(module(ids)[0, :-1], ids[0, 1:]).backward()
    found = []
    for n in range(loaded.config.n_layers):
        weights = [w for name, w in module.named_parameters() if name.startswith(f"decoder.blocks.{n}.")]
        found.append(torch.stack([w.grad.norm() for w in weights if w.grad is not None]).norm().item())
    return found


def test_the_losses_are_those_of_the_logs() -> None:
    app = open_page("residual_stream", stream="Two designs", designs="residual connections", text=TEXT)
    drawn, measured = (
        series(charts(app)["pair_losses"], table="curves"),
        json.loads((FOLDER / "measured.json").read_text()),
    )
    for name in NAMES:
        entries = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        np.testing.assert_allclose(drawn[name], [entry["loss"] for entry in entries], rtol=1e-5)
        assert f"**{measured[name]['held_out']:.2f}**" in words(app)


def test_only_one_of_the_two_reads() -> None:
    """What the tab is for: without residual connections nothing is learned beyond how frequent tokens are."""
    measured = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    assert measured["with"]["held_out"] < measured["unigram"] - 1
    assert abs(measured["without"]["held_out"] - measured["unigram"]) < 0.3


@pytest.mark.parametrize("text", ["a", "👩‍👩‍👧 says 😀 老王", "<img src=x onerror=alert(1)> $x$ **b**", "word " * 1000])
def test_odd_texts_break_nothing(text: str) -> None:
    app = open_page("residual_stream", stream="Two designs", designs="residual connections", text=text)
    assert not app.error
    assert "nan" not in words(app).lower().split()
    assert "with" in alt(app, "pair_losses")


def test_a_config_may_leave_residual_connections_out() -> None:
    assert isinstance(model("without").config, ModelConfig)
    assert model("without").config.residual == "absent"
