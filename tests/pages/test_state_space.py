"""The trained state space on the page on efficient attention: its numbers against numpy's, and odd input."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

from tests.app import matrices, open_page, words
from tests.model import numpy_model
from tests.model.numpy_model import linear
from tests.pages import plain
from tests.pages.claims import told
from tests.pages.test_odd_texts import ODD
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.ui.efficient.spaces import FOLDER

TEXT = "The cat sat on the mat, and the dog."
WEIGHTS = {k: v.astype(float) for k, v in load_file(FOLDER / "state-space" / "model.safetensors").items()}


def page(**address: str) -> AppTest:
    return open_page("efficient", method="Running sums", sums="Trained state space", **{"text": TEXT} | address)


def forward(ids: list[int]) -> tuple[list[Array], Array]:
    """The states (len, channel, number) of every layer, and the logits, by numpy alone and token by token."""
    w = WEIGHTS

    def norm(x: Array, name: str) -> Array:
        return numpy_model.layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"])

    x, found, n = np.sqrt(w["W_E"].shape[1]) * w["W_E"][ids], [], 0
    while f"ssm.{n}.mixer.C" in w:
        at = f"ssm.{n}"
        read = norm(x, f"{at}.norm")
        v, gate = linear(read, w, f"{at}.mixer.W_in"), linear(read, w, f"{at}.mixer.W_gate")
        a = np.exp(-np.exp(w[f"{at}.mixer.log_rate"]))
        h, states = np.zeros_like(a), []
        for token in v:
            h = a * h + np.sqrt(1 - a**2) * token[:, None]
            states.append(h)
        found.append(np.array(states))
        y = (found[-1] * w[f"{at}.mixer.C"]).sum(axis=-1) + w[f"{at}.mixer.D"] * v
        x = x + linear(y * gate / (1 + np.exp(-gate)), w, f"{at}.mixer.W_out")
        h = linear(norm(x, f"{at}.mlp_norm"), w, f"{at}.mlp_in")
        x = x + linear(h * (1 + np.vectorize(math.erf)(h / math.sqrt(2))) / 2, w, f"{at}.mlp_out")
        n += 1
    return found, norm(x, "norm") @ w["W_E"].T


def test_state_and_losses_are_those_of_numpy() -> None:
    ids = zoo.load("state-space", FOLDER, kind=zoo.EarlierModel).tokenizer.ids(TEXT)
    states, logits = forward(ids)
    app = page(space="2", channel="5")
    (drawn,) = matrices(app)["channel_state"]
    a = np.exp(-np.exp(WEIGHTS["ssm.2.mixer.log_rate"]))[5]
    order = np.argsort(-a, kind="stable")
    np.testing.assert_allclose(drawn, states[2][:, 5].T[order], atol=1e-3)
    loss = -np.log(plain.softmax(logits)[range(len(ids) - 1), ids[1:]]).mean()
    assert told(app, r"on your text [\d.]+ and \*\*([\d.]+)\*\*") == pytest.approx([loss], abs=0.006)


def test_the_two_were_trained_alike() -> None:
    names = ("attention", "state-space")
    logs = [(FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in names]
    steps = [
        [(entry["step"], entry["learning_rate"], entry["tokens"]) for entry in map(json.loads, log)] for log in logs
    ]
    assert steps[0] == steps[1]
    assert zoo.load("attention", FOLDER).vocabulary == zoo.load(names[1], FOLDER, kind=zoo.EarlierModel).vocabulary
    measured = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    assert [measured[name]["weights"] for name in names] == [zoo.weights_hash(name, FOLDER) for name in names]
    assert measured["state-space"]["held_out"] < measured["unigram"] - 1


def test_shares_fade_alike_whatever_is_read_later() -> None:
    """Beside them, attention's mean pattern of the same layer."""
    app = page(space="1")
    pattern, shares = matrices(app)["left_in_state"]
    trace = zoo.load("attention", FOLDER).trace(TEXT)
    below = np.tri(len(shares), dtype=bool)
    np.testing.assert_allclose(pattern[below], trace["decoder.1.self_attn.pattern"].mean(axis=0)[below], atol=1e-3)
    np.testing.assert_allclose(np.where(below, shares, 0).sum(axis=-1), 1, atol=0.02)
    changed = matrices(page(space="1", text=TEXT.replace("dog", "cat")))["left_in_state"][1]
    rows = len(shares) - 3  # before the word that differs
    np.testing.assert_allclose(changed[:rows, :rows][below[:rows, :rows]], shares[:rows, :rows][below[:rows, :rows]])


def test_odd_texts_break_nothing() -> None:
    for text in ODD:
        app = page(text=text)
        assert not app.error
        assert "nan" not in words(app).lower().split()
