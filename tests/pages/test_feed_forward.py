"""The feed-forward page: its numbers against the weights in plain numpy, for every kind of layer; odd input."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, forget, matrices, open_page, paired, pictures, series, views, words
from tests.model import numpy_model
from tests.model.helpers import flat, lively
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.analysis import neurons
from tfmviz.model.transformer import build
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export
from tfmviz.ui import models
from tfmviz.ui.feed_forward import through

MODEL = zoo.MODELS / "tiny-english"
TEXT, LAYER, TOKEN = "The cat sat on the mat, and the dog", 2, 4
TABS = ("One token through it", "Same at every position", "Neurons", "Without it", "Activations")
HERE = {"model": "tiny-english", "text": TEXT, "layer": str(LAYER), "token": str(TOKEN)}

VARIANTS: dict[str, dict[str, Any]] = {
    "gelu": {},
    "relu": {"feed_forward": "relu"},
    "gated": {"feed_forward": "swiglu"},
    "post-norm": {"norm_position": "post", "norm": "rms"},
    "encoder": {"architecture": "encoder-only", "positions": "sinusoidal", "feed_forward": "relu"},
    "translator": {"architecture": "encoder-decoder", "positions": "none", "feed_forward": "swiglu"},
    "narrow": {"d_ff": 1},
    "norms on both sides": {"norm_position": "both", "norm": "rms", "feed_forward": "geglu_tanh"},
    "parallel": {"residual": "parallel", "feed_forward": "silu"},
    "words filled in": {"architecture": "encoder-only", "head": "transform", "feed_forward": "gelu_tanh"},
    "no words": {"architecture": "encoder-only", "head": "none"},
}


@pytest.fixture
def variant(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A small model of the kind the test asks for, with random weights, in a zoo of its own beside the twins."""
    tokenizer = Tokenizer.load(MODEL / "tokenizer.json")
    shape = {"d_model": 12, "n_layers": 2, "n_heads": 3, "n_kv_heads": 3, "d_ff": 23, "max_len": 19}
    config = flat(vocab_size=tokenizer.vocab_size, **shape | VARIANTS[request.param])
    export(tmp_path / "small", lively(build(config)), tokenizer, card="")
    for name in ("twins-rope", "twins-attention-only"):
        shutil.copytree(zoo.MODELS / name, tmp_path / name)
    for function in (zoo.catalogue, zoo.available, zoo.load):
        monkeypatch.setattr(function, "__defaults__", (tmp_path,))
    forget()
    yield "small"
    forget()


every_variant = pytest.mark.parametrize("variant", VARIANTS, indirect=True)


def open_tab(tab: str, **address: str) -> AppTest:
    return open_page("feed_forward", layer_part=tab, **address)


def answered(app: AppTest) -> dict[str, Any]:
    return json.loads(views(app)["feed_forward_selection"].json)


def vectors(app: AppTest) -> tuple[dict[str, Any], dict[str, Array]]:
    return read_arrays(bytes(views(app)["feed_forward"].bytes))


def attention_by_hand(w: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
    """Patterns (head, len, len) and values (len, head, d_head) of the layer, the stream before it, and the logits."""
    ids = tuple(Tokenizer.load(MODEL / "tokenizer.json").encode(TEXT, max_len=256).ids)
    patterns, streams, logits = numpy_model.forward(MODEL, ids)
    norm = f"decoder.blocks.{LAYER}.self_attn_residual.norm."
    h = numpy_model.layer_norm(streams[LAYER], w[norm + "weight"], w[norm + "bias"])
    v = numpy_model.linear(h, w, f"decoder.blocks.{LAYER}.self_attn.W_V").reshape(len(ids), 8, 32)
    return patterns[LAYER], v, streams[LAYER], logits


def by_hand() -> dict[str, Array]:
    """All vectors of layer 2 of tiny-english on the text, in float64 from the files: (len, …)."""
    w = {name: value.astype(np.float64) for name, value in load_file(MODEL / "model.safetensors").items()}
    p = f"decoder.blocks.{LAYER}."
    pattern, v, stream, logits = attention_by_hand(w)
    z = np.einsum("hij,jhm->ihm", pattern, v).reshape(len(v), -1)
    before = stream + numpy_model.linear(z, w, p + "self_attn.W_O")
    x = numpy_model.layer_norm(before, w[p + "mlp_residual.norm.weight"], w[p + "mlp_residual.norm.bias"])
    pre = numpy_model.linear(x, w, p + "mlp.W_in")
    post = pre * (1 + np.vectorize(erf)(pre / np.sqrt(2))) / 2
    out = numpy_model.linear(post, w, p + "mlp.W_out")
    return {"x": x, "pre": pre, "post": post, "out": out, "before": before, "after": before + out, "logits": logits}


def test_the_vectors_are_those_of_an_independent_forward_pass() -> None:
    app = open_tab(TABS[0], **HERE)
    header, arrays = vectors(app)
    expected = by_hand()
    assert set(arrays) == set(expected) - {"logits"}
    for name, values in arrays.items():
        np.testing.assert_allclose(values, expected[name][TOKEN], atol=5e-4, err_msg=name)
    assert (header["token"], header["f"], header["layer"]) == ("“the” (token 4)", "GELU", f"decoder.{LAYER}.mlp")
    assert (header["gated"], header["preNorm"]) == (False, True)
    on = int((expected["pre"][TOKEN] > 0).sum())
    assert f"**{on} of 1,024** numbers before the function are above 0" in words(app)
    assert "**4 times** as many" in words(app)
    assert f"{2 * 256 * 1024 + 1024 + 256:,} learned numbers" in words(app)


@pytest.mark.parametrize(("at", "matrix"), [("pre.17", "W_in"), ("out.200", "W_out")])
def test_the_number_of_the_address_comes_with_its_sum(at: str, matrix: str) -> None:
    app = open_tab(TABS[0], **HERE, number=at)
    said = answered(app)
    assert said["at"] == at
    part, index = at.split(".")
    w = load_file(MODEL / "model.safetensors")[f"decoder.blocks.{LAYER}.mlp.{matrix}.weight"].astype(np.float64)
    bias = load_file(MODEL / "model.safetensors")[f"decoder.blocks.{LAYER}.mlp.{matrix}.bias"].astype(np.float64)
    source = by_hand()["x" if part == "pre" else "post"][TOKEN]
    terms = source * w[int(index)]
    largest = np.argsort(-np.abs(terms))[:12]
    assert set(said["sum"]["indices"]) == set(largest.tolist())
    np.testing.assert_allclose(said["sum"]["b"], w[int(index)][said["sum"]["indices"]])
    assert said["sum"]["total"] + said["sum"]["bias"] == pytest.approx(by_hand()[part][TOKEN][int(index)], abs=5e-4)
    assert said["sum"]["bias"] == pytest.approx(bias[int(index)])
    assert said["sum"]["others"] == len(terms) - 12
    assert said["sum"]["of"] == vectors(app)[0]["of"]
    assert said["sum"]["rest"] == pytest.approx(terms.sum() - terms[largest].sum(), abs=5e-4)


def test_without_an_address_the_strongest_neurons_sum_is_explained() -> None:
    assert answered(open_tab(TABS[0], **HERE))["at"] == f"pre.{by_hand()['post'][TOKEN].argmax()}"


@pytest.mark.parametrize("number", ["gate.3", "pre", "pre.-1", "<b>.1", "head.3", "pre.1.2", "post.99999999"])
def test_a_number_that_the_layer_lacks_is_replaced(number: str) -> None:
    assert answered(open_tab(TABS[0], **HERE, number=number))["at"].startswith("pre.")


def test_a_number_beyond_the_end_is_the_last() -> None:
    assert answered(open_tab(TABS[0], **HERE, number="post.5000"))["at"] == "post.1023"
    assert answered(open_tab(TABS[0], **HERE, number="out.5000"))["at"] == "out.255"


def test_what_the_view_reports_reaches_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    address: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(st, "query_params", address)
    through.follow({"at": "out.12"})
    assert address == {"number": "out.12"}
    through.follow({"at": "<script>.1"})
    assert address == {"number": "out.12"}


def test_a_moved_word_takes_its_row_along() -> None:
    app = open_tab(TABS[1], **HERE, place="1")
    drawn = matrices(app)
    out = by_hand()["out"]
    order = [0, TOKEN, 1, 2, 3, *range(TOKEN + 1, len(out))]
    np.testing.assert_allclose(drawn["outputs_as"][0], out, atol=5e-3)
    np.testing.assert_allclose(drawn["outputs_moved"][0], out[order], atol=5e-3)
    assert "otherwise the same, to within" in words(app)
    assert "row 1" in alt(app, "outputs_moved")


def test_the_neurons_are_sorted_by_what_they_do_on_the_token() -> None:
    app = open_tab(TABS[2], **HERE)
    post = by_hand()["post"]
    order = np.argsort(-np.abs(post[TOKEN]), kind="stable")[:16]
    header, values = pictures(app)["neurons"]
    np.testing.assert_allclose(values[0], post[:, order], atol=5e-3)
    assert header["columns"]["names"] == [str(n) for n in order]
    assert alt(app, "neurons").startswith(f"The strongest neurons on “the” (token 4): {order[0]} ")


def test_the_box_holds_the_neuron_of_the_address_and_another_number_goes_there() -> None:
    app = open_tab(TABS[2], **HERE, neuron="321")
    assert app.number_input(key="chosen_neuron").value == 321
    app.number_input(key="chosen_neuron").set_value(7).run()
    assert app.query_params["neuron"] == "7"
    assert "What neuron 7 writes" in words(app)


def test_what_a_neuron_writes_is_its_row_times_the_output_matrix() -> None:
    app = open_tab(TABS[2], **HERE, neuron="321")
    w = load_file(MODEL / "model.safetensors")
    row = w[f"decoder.blocks.{LAYER}.mlp.W_out.weight"][:, 321].astype(np.float64)
    change = w["embedding.W_E"].astype(np.float64) @ row
    shown = series(charts(app)["directions"], "value", by="name")
    vocabulary = Tokenizer.load(MODEL / "tokenizer.json").vocabulary
    assert sorted(float(v[0]) for v in shown.values() if len(v) == 1)[-1] == pytest.approx(change.max(), abs=2e-3)
    best = vocabulary[int(change.argmax())].strip()
    assert alt(app, "directions").startswith(f"“{best}” +{change.max():.2f}")


def test_the_shipped_sentences_are_shown_with_the_word_marked() -> None:
    app = open_tab(TABS[2], **HERE, neuron="321")
    texts, peaks = neurons.load(MODEL / neurons.FILE, models.load("tiny-english").weights)
    lines = (zoo.MODELS.parent / "texts" / texts).read_text(encoding="utf-8").splitlines()
    found = peaks[f"decoder.{LAYER}.mlp"]
    tokens = Tokenizer.load(MODEL / "tokenizer.json").encode(lines[found.text[321, 0]], max_len=256).tokens
    said = [element.value for element in app.markdown if ":orange-background[" in element.value]
    assert len(said) == 4
    assert tokens[found.token[321, 0]].strip() in said[0].replace("\\", "")
    assert said[0].startswith(f"{found.value[321, 0].astype(float):.2f}".replace("-", "−"))


def test_a_model_without_the_file_says_how_to_make_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(MODEL, tmp_path / "tiny-english", ignore=shutil.ignore_patterns(neurons.FILE))
    monkeypatch.setattr(zoo, "MODELS", tmp_path)
    forget()
    app = open_tab(TABS[2], **HERE)
    assert "python -m scripts.find_neurons tiny-english" in words(app)
    assert "directions" in charts(app)
    forget()


@pytest.mark.parametrize(("off", "numbers"), [("this neuron", [321]), ("the whole layer", None)])
def test_a_neuron_that_is_off_writes_nothing(off: str, numbers: list[int] | None) -> None:
    """The last layer's neurons, so that what follows is one norm and one product."""
    layer = 5
    app = open_tab(TABS[2], **HERE | {"layer": str(layer)}, neuron="321", neurons_off=off)
    trace = models.trace(models.load("tiny-english"), TEXT)
    w = {name: value.astype(np.float64) for name, value in load_file(MODEL / "model.safetensors").items()}
    W_out, bias = (w[f"decoder.blocks.{layer}.mlp.W_out.{kind}"] for kind in ("weight", "bias"))
    post = trace[f"decoder.{layer}.mlp.post"][TOKEN].astype(np.float64)
    gone = post @ W_out.T + bias if numbers is None else post[numbers] @ W_out[:, numbers].T
    x = trace[f"decoder.{layer}.resid_post"][TOKEN] - gone
    logits = numpy_model.layer_norm(x, w["decoder.norm.weight"], w["decoder.norm.bias"]) @ w["embedding.W_E"].T
    p_new = np.exp(logits - logits.max())
    p_new /= p_new.sum()
    (_, after), shown = paired(app)
    assert "off" in after
    best = int(p_new.argmax())
    vocabulary = Tokenizer.load(MODEL / "tokenizer.json").vocabulary
    assert shown[vocabulary[best].strip()][1] == pytest.approx(p_new[best], abs=2e-3)


def test_without_its_layers_the_model_predicts_from_attention_alone() -> None:
    app = open_tab(TABS[3], **HERE)
    drawn = charts(app)
    assert set(drawn) == {"average", "losses_off", "losses_twins"}
    assert {"next_words_off", "next_words_twins"} <= set(views(app))
    logits = by_hand()["logits"]
    ids = Tokenizer.load(MODEL / "tokenizer.json").encode(TEXT, max_len=256).ids
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    expected = [-log_p[i, ids[i + 1]] for i in range(len(ids) - 1)]
    rows = drawn["losses_off"]["tables"]["rows"]
    whole = [value for kind, value in zip(rows["series"], rows["value"], strict=True) if "whole" in kind]
    np.testing.assert_allclose(whole, expected, atol=2e-3)
    assert f"**{np.mean(expected):.2f}** nats (whole model)" in words(app)


def test_the_twins_losses_are_theirs() -> None:
    app = open_tab(TABS[3], **HERE)
    rows = charts(app)["losses_twins"]["tables"]["rows"]
    for name, kind in (("twins-rope", "with feed"), ("twins-attention-only", "attention only")):
        trace = zoo.load(name).trace(TEXT)
        logits = trace["logits"].astype(np.float64)
        log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        expected = [-log_p[i, trace.target.ids[i + 1]] for i in range(len(trace.tokens) - 1)]
        shown = [value for series_, value in zip(rows["series"], rows["value"], strict=True) if kind in series_]
        np.testing.assert_allclose(shown, expected, atol=1e-4)
    losses = [
        np.mean(json.loads((zoo.MODELS.parent / "training" / f"{name}-by-position.json").read_text())["loss"][:64])
        for name in ("twins-attention-only", "twins-rope")
    ]
    assert f"**{losses[0]:.2f}** instead of **{losses[1]:.2f}** nats" in words(app)


def test_the_dots_lie_on_the_layers_own_curve_and_the_shares_are_counted() -> None:
    app = open_tab(TABS[4], **HERE)
    pre = by_hand()["pre"]
    points = charts(app)["activations"]["tables"]["rows"]
    dots = [(x, y) for line, x, y in zip(points["line"], points["x"], points["y"], strict=True) if "neurons" in line]
    assert len(dots) == 200
    x, y = np.array(dots).T
    np.testing.assert_allclose((x.min(), x.max()), (pre[TOKEN].min(), pre[TOKEN].max()), atol=1e-3)
    np.testing.assert_allclose(y, x * (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2, atol=1e-6)
    shares = charts(app)["sparsity"]["tables"]["rows"]["value"]
    assert shares[LAYER] == pytest.approx((pre > 0).mean(), abs=1e-3)
    assert len(shares) == 6


@every_variant
def test_every_kind_of_layer_is_taken_apart(variant: str) -> None:
    for tab in TABS:
        app = open_tab(tab, model=variant, text="the cat sat")
        assert not app.error, tab
        assert views(app) or charts(app), tab
    header, arrays = vectors(open_tab(TABS[0], model=variant, text="the cat sat"))
    assert header["gated"] == ("gate" in arrays)
    assert answered(open_tab(TABS[0], model=variant, text="the cat sat", number="out.5"))["sum"]["others"] >= 0


@pytest.mark.parametrize("variant", ["gated"], indirect=True)
def test_a_gate_is_a_sum_too(variant: str) -> None:
    said = answered(open_tab(TABS[0], model=variant, text="the cat sat", number="gate.3"))
    _, arrays = vectors(open_tab(TABS[0], model=variant, text="the cat sat"))
    assert said["at"] == "gate.3"
    assert said["sum"]["total"] + said["sum"]["bias"] == pytest.approx(float(arrays["gate"][3]), abs=1e-4)


@pytest.mark.parametrize(
    ("kind", "stack"), [("encoder", "encoder"), ("decoder", "decoder"), ("cross-attention", "decoder")]
)
def test_a_translator_shows_the_layer_of_the_chosen_stack(kind: str, stack: str) -> None:
    address = {"model": "french-english", "kind": kind, "text": "J'ai une voiture rouge.", "layer": "1"}
    header, _ = vectors(open_tab(TABS[0], **address))
    assert header["layer"] == f"{stack}.1.mlp"
    app = open_tab(TABS[2], **address)
    assert ("directions" in charts(app)) == (stack == "decoder")
    assert ("No words are read from this encoder" in words(app)) == (stack == "encoder")
    assert "Tatoeba, CC BY 2.0 FR." in [caption.value for caption in app.caption]


def test_a_model_of_attention_alone_says_so_and_still_compares_the_twins() -> None:
    for tab in TABS:
        app = open_tab(tab, model="induction", text=TEXT)
        assert "has no feed-forward layers" in words(app), tab
    app = open_tab(TABS[3], model="induction", text=TEXT)
    assert set(charts(app)) == {"average", "losses_twins"}
    assert "next_words_twins" in views(app)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("text", ["a", "x" * 5000, "<img onerror=alert(1)> **老王** 😀 $x$ :red[", "word " * 1000])
def test_odd_texts_are_taken_as_they_are(tab: str, text: str) -> None:
    app = open_tab(tab, model="tiny-english", text=text)
    assert not app.error
    assert not app.exception


def test_numbers_that_are_not_finite_are_named_in_place_of_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    whole = zoo.ZooModel.trace

    def broken(self: zoo.ZooModel, inputs: Any, edits: Any = (), sites: Any = None, *, target: Any = None) -> Any:
        found = whole(self, inputs, edits, sites, target=target)
        if "decoder.2.mlp.out" not in found or inputs == zoo.TRIAL:
            return found
        values = dict(found.values)
        values["decoder.2.mlp.out"] = np.full_like(values["decoder.2.mlp.out"], np.inf)
        return replace(found, values=values)

    monkeypatch.setattr(zoo.ZooModel, "trace", broken)
    forget()
    for tab in (TABS[0], TABS[1], TABS[2], TABS[4]):
        app = open_tab(tab, **HERE)
        assert "there is nothing to explain" in words(app), tab
        assert not views(app), tab
    forget()


def test_the_whole_model_leads_here() -> None:
    header = read_arrays(bytes(views(open_page("whole_model", zoom="block", **HERE))["whole_model"].bytes))[0]
    linked = {page for lane in header["lanes"] for column in lane["columns"] for page, _ in column["links"]}
    assert "feed_forward" in linked
    assert "feed_forward" in json.loads(views(open_page("whole_model", **HERE))["whole_model_selection"].json)["pages"]


def test_words_that_a_model_may_have_met_are_not_said_to_be_new_to_it() -> None:
    for name, text in (("tiny-english", TEXT), ("reverse", "abc")):
        said = words(open_tab(TABS[2], model=name, text=text))
        assert "fires most" in said
        assert ("in held-out sentences" in said) == (name == "tiny-english")


def test_a_model_that_fills_gaps_predicts_in_their_place() -> None:
    app = open_tab(TABS[2], model="fill-in", text="The cat ___ on the mat.")
    assert "In the place of “___” the probability that changes most" in words(app).replace("\\_", "_")
    assert "next token" not in json.dumps([chart["spec"] for chart in charts(app).values()])


def test_a_word_that_stands_where_it_stood_has_not_moved() -> None:
    assert "has moved with its word" not in words(open_tab(TABS[1], model="tiny-english", text=TEXT, token="0"))
    assert "has moved with its word" in words(open_tab(TABS[1], model="tiny-english", text=TEXT, token="1"))


@pytest.mark.parametrize("name", ["twins-postnorm", "twins-rope"])
def test_only_a_post_norm_model_sets_the_stream_anew_after_the_layer(name: str) -> None:
    assert ("before the norm that follows" in words(open_tab(TABS[0], model=name, text=TEXT))) == (
        name == "twins-postnorm"
    )
