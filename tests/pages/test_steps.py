"""The step-by-step page: its numbers against an independent computation, for every kind of attention layer."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.app import charts, lesson, matrices, open_page, views, words
from tests.model import numpy_model
from tests.model.helpers import SCHEMES, flat, lively
from tests.plots.cells import received
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.analysis import attention_layer, numpy_attention, scaling
from tfmviz.analysis.predictions import softmax
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import build
from tfmviz.plots import steps as figures
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export
from tfmviz.ui import models
from tfmviz.ui.controls import Choice
from tfmviz.ui.steps import code, stages

ROOT = Path(__file__).parents[2]

MODEL = zoo.MODELS / "tiny-english"

TEXT, LAYER, HEAD = "The cat sat on the mat, and the dog", 2, 3

CHOICE = Choice(model="tiny-english", layer=f"decoder.{LAYER}.self_attn", head=HEAD)

PARTS = ("Stages", "Why √d?", "A fuzzy hash table", "What heads add", "Heads or their mean?", "Find a head", "The code")

VARIANTS: dict[str, dict[str, Any]] = {
    **{scheme: {"positions": scheme} for scheme in SCHEMES},
    "shared keys": {"positions": "rope", "n_kv_heads": 1},
    "sink": {"positions": "rope", "sink": "present"},
    "post-norm": {"positions": "learned", "norm_position": "post"},
    "encoder": {"architecture": "encoder-only", "positions": "sinusoidal"},
    "translator": {"architecture": "encoder-decoder", "positions": "none"},
    "post-norm translator": {"architecture": "encoder-decoder", "positions": "sinusoidal", "norm_position": "post"},
}


@pytest.fixture
def variant(
    request: pytest.FixtureRequest, fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ModelConfig:
    """A small model of the kind the test asks for, with random weights, alone in the zoo under its own name."""
    tokenizer = Tokenizer.load(MODEL / "tokenizer.json")
    shape = {"d_model": 12, "n_layers": 2, "n_heads": 3, "n_kv_heads": 3, "d_ff": 7, "max_len": 19}
    config = flat(vocab_size=tokenizer.vocab_size, **shape | VARIANTS[request.param])
    export(tmp_path / "small", lively(build(config)), tokenizer, card="")
    monkeypatch.setattr(zoo.catalogue, "__defaults__", (tmp_path,))
    monkeypatch.setattr(zoo.load, "__defaults__", (tmp_path,))
    return config


every_variant = pytest.mark.parametrize("variant", VARIANTS, indirect=True)


def test_what_travels_is_what_an_independent_forward_pass_computes() -> None:
    ids = tuple(Tokenizer.load(MODEL / "tokenizer.json").encode(TEXT, max_len=256).ids)
    patterns, streams, _ = numpy_model.forward(MODEL, ids)
    w = {name: value.astype(np.float64) for name, value in load_file(MODEL / "model.safetensors").items()}
    p = f"decoder.blocks.{LAYER}."
    x = numpy_model.layer_norm(
        streams[LAYER], w[p + "self_attn_residual.norm.weight"], w[p + "self_attn_residual.norm.bias"]
    )
    heads = {n: numpy_model.linear(x, w, f"{p}self_attn.W_{n}").reshape(len(ids), 8, 32) for n in "QKV"}
    z = np.einsum("hij,jhm->ihm", patterns[LAYER], heads["V"])
    header, arrays = read_arrays(stages.payload(models.load(CHOICE.model), TEXT, CHOICE.layer, CHOICE.head))
    assert header["heads"] == 8
    assert header["queries"][:3] == ["The", "cat", "sat"]
    expected = {
        "x": x,
        "q": heads["Q"][:, HEAD],
        "k": heads["K"][:, HEAD],
        "v": heads["V"][:, HEAD],
        "rot_q": numpy_model.rotate(heads["Q"])[:, HEAD],
        "rot_k": numpy_model.rotate(heads["K"])[:, HEAD],
        "pattern": patterns[LAYER][HEAD],
        "mask": np.tri(len(ids)),
        "z": z[:, HEAD],
        "concat": z.reshape(len(ids), -1),
        "out": numpy_model.linear(z.reshape(len(ids), -1), w, p + "self_attn.W_O"),
        "before": streams[LAYER],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(arrays[name], values, atol=5e-4, err_msg=name)
    assert set(arrays) == set(expected) | {"angles"} | {f"{kind}_{name}" for kind in "Wb" for name in "QKVO"}


@every_variant
def test_the_browser_can_multiply_out_every_matrix_from_what_travels(variant: ModelConfig) -> None:
    """The recipes of head.ts and explain.ts, in numpy: what they give is what the trace holds."""
    trace = models.trace(models.load("small"), "the cat sat")
    for layer in trace.layers:
        for head in range(variant.attention.n_heads):
            _, a = read_arrays(stages.payload(models.load("small"), "the cat sat", layer, head))
            read = a.get("memory", a["x"])
            for letter, source in (("q", a["x"]), ("k", read), ("v", read)):
                name = letter.upper()
                close(source @ a[f"W_{name}"] + a[f"b_{name}"], a[letter])
            q, k = a.get("rot_q", a["q"]), a.get("rot_k", a["k"])
            if "angles" in a:
                close(numpy_attention.turn(a["q"], a["angles"]), a["rot_q"])  # type: ignore[no-untyped-call]
            scores = q @ k.T / np.sqrt(variant.d_head) + a.get("bias", 0)
            close(np.where(a["mask"] > 0, scores, -np.inf), trace[f"{layer}.scores"][head])
            close(a["pattern"] @ a["v"], a["z"])
            close(a["concat"][:, head * variant.d_head : (head + 1) * variant.d_head], a["z"])
            close(a["concat"] @ a["W_O"] + a["b_O"], a["out"])
            block = layer.rsplit(".", 1)[0]
            after = trace[f"{block}.resid_cross" if layer.endswith("cross_attn") else f"{block}.resid_mid"]
            if variant.norm.position == "pre":
                close(a["before"] + a["out"], after)


def test_of_a_linear_head_the_browser_gets_positive_features_that_make_the_pattern() -> None:
    model, layer = models.load("twins-linear"), "decoder.1.self_attn"
    header, a = read_arrays(stages.payload(model, TEXT, layer, 2))
    assert header["linear"]
    for letter in "qk":
        close(np.where(a[letter] > 0, a[letter] + 1, np.exp(a[letter])), a[f"rot_{letter}"])
    products = np.where(a["mask"] > 0, a["rot_q"] @ a["rot_k"].T, 0.0)
    close(products / products.sum(axis=1, keepdims=True), a["pattern"])
    app = open_page("step_by_step", model="twins-linear", text=TEXT, part="The code")
    assert "or φ)" in words(app)


@every_variant
def test_the_numpy_version_gives_the_numbers_of_the_page(variant: ModelConfig) -> None:
    """The code as it stands on the page, run on the file that can be downloaded beside it."""
    trace = models.trace(models.load("small"), "the cat sat")
    source = code.notebook(numpy_attention)
    assert len(source.splitlines()) <= 32
    for layer in trace.layers:
        file = code.arrays(lesson("small", "the cat sat", layer))
        scope: dict[str, Any] = {"file": io.BytesIO(file)}
        exec(source.replace('"attention.npz"', "file"), scope)
        for name in ("scores", "pattern", "z", "out"):
            close(scope[name], trace[f"{layer}.{name}"])


def close(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


@every_variant
def test_what_the_heads_write_adds_up_to_the_layers_output(variant: ModelConfig) -> None:
    trace = models.trace(models.load("small"), "the cat sat")
    for layer in trace.layers:
        matrices = lesson("small", "the cat sat", layer).weights
        written = matrices.writes(trace[f"{layer}.z"])
        close(written.sum(axis=0) + matrices.b_O, trace[f"{layer}.out"])
        v = attention_layer.grouped(trace[f"{layer}.v"], variant.attention.n_heads)
        effects = attention_layer.effects(trace[f"{layer}.pattern"], v, matrices.W_O)
        by_hand = np.linalg.norm(trace[f"{layer}.pattern"][1, 2, 0] * v[1, 0] @ matrices.W_O[1])
        assert effects[1, 2, 0] == pytest.approx(by_hand, rel=1e-4)


def test_a_table_look_up_takes_the_best_key() -> None:
    values = np.array([[1.0, 0], [0, 2], [3, 3]])
    best, cosine = attention_layer.hard_lookup(np.array([0.25, 0.75, 0]), values)
    assert best == 1
    assert cosine == pytest.approx(1.5 * 2 / (np.hypot(0.25, 1.5) * 2))
    assert np.isnan(attention_layer.hard_lookup(np.array([1.0]), np.zeros((1, 2)))[1])


def test_heads_are_ranked_by_score_and_those_without_one_left_out() -> None:
    assert attention_layer.ranking(np.array([[0.2, np.nan], [0.9, 0.5]])) == [(1, 0, 0.9), (1, 1, 0.5), (0, 0, 0.2)]


@pytest.mark.parametrize("d", [1, 16, 128])
def test_the_variance_of_dot_products_is_d(d: int) -> None:
    scores = scaling.dot_products(*scaling.unit_vectors(d, n_queries=2000, n_keys=16, seed=1))
    everything = np.ones(scores.shape, dtype=bool)
    assert scaling.sharpness(scores, everything).variance == pytest.approx(d, rel=0.15)
    assert scaling.sharpness(scores / np.sqrt(d), everything).variance == pytest.approx(1, rel=0.15)


def test_the_gradient_of_the_softmax_is_that_of_finite_differences() -> None:
    scores = np.array([[0.3, -1.2, 2.0, 0.1]])
    step = 1e-6
    columns = [
        (softmax(scores + step * np.eye(4)[j]) - softmax(scores - step * np.eye(4)[j])) / (2 * step) for j in range(4)
    ]
    measured = np.linalg.norm(np.concatenate(columns))
    assert scaling.gradient_norms(softmax(scores))[0] == pytest.approx(measured, rel=1e-6)
    assert scaling.gradient_norms(np.array([[1.0, 0, 0]]))[0] == 0


def test_sharpness_of_even_and_of_one_hot_rows() -> None:
    everything = np.ones((3, 4), dtype=bool)
    even = scaling.sharpness(np.zeros((3, 4)), everything)
    assert (even.variance, even.largest, even.evenness) == pytest.approx((0, 0.25, 1))
    hot = scaling.sharpness(np.eye(3, 4) * 1000, everything)
    assert (hot.largest, hot.evenness, hot.gradient) == pytest.approx((1, 0, 0))
    assert np.isnan(scaling.sharpness(np.zeros((1, 1)), np.ones((1, 1), dtype=bool)).largest)


def test_a_histogram_holds_all_scores() -> None:
    middles, shares = scaling.histogram(np.array([-3.0, 0, 0, 3]), largest=3, bins=3)
    assert middles.tolist() == [-2, 0, 2]
    assert shares.tolist() == [0.25, 0.5, 0.25]


def test_many_heads_lie_side_by_side_with_their_titles() -> None:
    patterns, mask = [np.full((2, 3), n / 10) for n in range(5)], np.tri(2, 3, dtype=bool)
    tokens = ("a", "b"), ("c", "d", "e")
    header, shown = received(figures.tiles(patterns, mask, titles=[f"<{n}>" for n in range(5)], tokens=tokens))
    for n, matrix in enumerate(shown):
        assert matrix[mask] == pytest.approx(n / 10)
        assert np.isnan(matrix[~mask]).all()
    assert header["titles"] == ["<0>", "<1>", "<2>", "<3>", "<4>"]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_the_page_is_drawn(part: str) -> None:
    app = open_page("step_by_step", part=part, text=TEXT)
    expected: dict[str, set[str]] = {
        "Stages": set(),
        "Why √d?": {"score_histogram", "softmax_rows"},
        "A fuzzy hash table": {"lookup"},
        "What heads add": {"head_writes", "look_effects"},
        "Heads or their mean?": {"mean_and_heads"},
        "Find a head": set(),
        "The code": set(),
    }
    assert {*charts(app), *matrices(app)} == expected[part]
    others = {"Stages": 2, "Find a head": 3}  # a map and two tables
    assert len(views(app)) == len(matrices(app)) + others.get(part, 0)


def test_a_learned_sink_travels_with_its_head() -> None:
    """The browser explains the softmax with it: exp of what travels takes the rest of every row."""
    model, layer, head = models.load("twins-sink"), "decoder.2.self_attn", 3
    trace = model.trace(TEXT)
    header, _ = read_arrays(stages.payload(model, TEXT, layer, head))
    powers = np.exp(trace[f"{layer}.scores"][head].astype(np.float64)).sum(axis=-1)
    missing = 1 - trace[f"{layer}.pattern"][head].astype(np.float64).sum(axis=-1)
    np.testing.assert_allclose(missing, np.exp(header["sink"]) / (powers + np.exp(header["sink"])), atol=1e-5)


def test_heads_that_are_near_copies_are_not_said_to_look_in_ways_of_their_own() -> None:
    """In layer 4 two heads share five sixths of their attention; patterns from an independent forward pass."""
    ids = tuple(Tokenizer.load(MODEL / "tokenizer.json").encode("The cat sat on the mat.", max_len=256).ids)
    pattern = numpy_model.forward(MODEL, ids)[0][4]
    shared = {
        (a, b): np.minimum(pattern[a, 1:], pattern[b, 1:]).sum(axis=-1).mean() for a in range(8) for b in range(a)
    }
    (a, b), (c, d) = max(shared, key=shared.__getitem__), min(shared, key=shared.__getitem__)
    assert shared[a, b] > 5 / 6
    said = words(open_page("step_by_step", part="Heads or their mean?", text="The cat sat on the mat.", layer="4"))
    assert f"Heads {b} and {a} are most alike: **{shared[a, b]:.0%}**" in said
    assert f"Heads {d} and {c} are least alike: **{shared[c, d]:.0%}**" in said
    assert "of its own" not in said


@pytest.mark.parametrize(
    ("address", "chosen", "named"),
    [
        ({"model": "fill-in", "kind_of_head": "next token"}, (0, 7), "looks at the token just after"),
        ({"model": "tiny-english", "kind_of_head": "duplicate"}, None, "looks at the same word elsewhere"),
        ({"model": "french-english", "text": "J'ai une voiture rouge."}, (1, 1), "looks at a different word"),
    ],
)
def test_heads_without_biographies_are_found_by_what_they_do(
    monkeypatch: pytest.MonkeyPatch, address: dict[str, str], chosen: tuple[int, int] | None, named: str
) -> None:
    """Also by the name that "same word" had, and in cross-attention."""
    monkeypatch.setattr(models, "book", lambda model: None)
    app = open_page("step_by_step", part="Find a head", **{"text": "The cat sat on the mat near the cat."} | address)
    said = words(app)
    assert named in said
    assert re.search(r"\*\*\d+\*\* of \d+ heads? do(es)? this most", said)
    if chosen:
        best = np.unravel_index(np.nanargmax(matrices(app)["head_scores"][0]), matrices(app)["head_scores"][0].shape)
        assert tuple(map(int, best)) == chosen


def test_what_a_text_cannot_show_is_said_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "book", lambda model: None)
    for kind, reason in (("next token", "the mask forbids"), ("induction", "some token must come twice")):
        app = open_page("step_by_step", part="Find a head", text="The cat sat", kind_of_head=kind)
        assert f"No head can show that here: {reason}" in words(app)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("text", ["a", "👩‍👩‍👧 says 😀", "<img src=x onerror=alert(1)> $x$ **b**", "word " * 1000])
def test_odd_texts_do_not_break_a_part(part: str, text: str) -> None:
    app = open_page("step_by_step", part=part, text=text)
    assert "nan" not in words(app).lower().split()


@every_variant
def test_every_kind_of_model_is_shown(variant: ModelConfig) -> None:
    for part in PARTS:
        app = open_page("step_by_step", part=part, text="the cat sat", model="small")
        assert not app.error, words(app)


def test_an_empty_box_keeps_the_last_sentence() -> None:
    app = open_page("step_by_step", text=TEXT)
    app.text_area(key="text").set_value("").run()
    assert "Type a sentence" in app.warning[0].value
    assert len(views(app)) == 2


def test_an_address_full_of_nonsense_opens_the_first_stage() -> None:
    app = open_page("step_by_step", text=TEXT, stage="<b>", at="x" * 500, token="99999")
    selection = json.loads(views(app)["steps_selection"].json)
    assert (selection["stage"], selection["at"], selection["token"]) == ("sentence", "", 9)


def test_the_address_says_stage_cell_and_token() -> None:
    app = open_page("step_by_step", text=TEXT, stage="share", at="masked.2.0.0.96", token="4")
    selection = json.loads(views(app)["steps_selection"].json)
    assert selection == {"sequence": 0, "stage": "share", "at": "masked.2.0.0.96", "token": 4, "view": "steps"}
