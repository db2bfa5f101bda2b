"""The pair with and without residual connections: the page's numbers against torch's own, and odd input."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, open_page, series, words
from tests.pages.test_odd_texts import ODD
from tfmviz import zoo
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


def test_the_figures_are_what_torch_computes_on_the_sentence() -> None:
    shown = charts(page())
    alike, gradients, lengths = (series(shown[f"pair_{key}"]) for key in ("likeness", "gradients", "lengths"))
    for name in NAMES:
        loaded = load(name)
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
    app = page()
    drawn = series(charts(app)["pair_losses"], table="curves")
    for name in NAMES:
        np.testing.assert_allclose(drawn[name], [entry["loss"] for entry in log(name)], rtol=1e-5)
        assert f"**{MEASURED[name]['held_out']:.2f}**" in words(app)


def test_odd_texts_break_nothing() -> None:
    for text in ODD:
        app = page(text)
        assert not app.error
        assert "nan" not in words(app).lower().split()
        assert "with" in alt(app, "pair_losses")
