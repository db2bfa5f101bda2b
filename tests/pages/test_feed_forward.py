"""The feed-forward page: its numbers against the weights in plain numpy, for every kind of layer; odd input."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from dataclasses import replace
from functools import cache
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, matrices, open_page, paired, pictures, sent, series, views, words
from tests.model import numpy_model
from tests.model.helpers import flat, lively
from tests.pages.claims import number
from tests.pages.plain import ids_of, losses, softmax
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.analysis import neurons
from tfmviz.model.transformer import build
from tfmviz.places import PROJECT
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


def open_tab(tab: str, **address: str) -> AppTest:
    return open_page("feed_forward", layer_part=tab, **address)


def answered(app: AppTest) -> dict[str, Any]:
    return dict(sent(app, "feed_forward_selection"))


def weights() -> dict[str, Array]:
    return {name: value.astype(np.float64) for name, value in load_file(MODEL / "model.safetensors").items()}


def vectors(app: AppTest) -> tuple[dict[str, Any], dict[str, Array]]:
    return read_arrays(bytes(views(app)["feed_forward"].bytes))


def attention_by_hand(w: dict[str, Array]) -> tuple[Array, Array, Array, Array]:
    """Patterns (head, len, len) and values (len, head, d_head) of the layer, the stream before it, and the logits."""
    patterns, streams, logits = numpy_model.forward(MODEL, ids_of(TEXT))
    norm = f"decoder.blocks.{LAYER}.self_attn_residual.norm."
    h = numpy_model.layer_norm(streams[LAYER], w[norm + "weight"], w[norm + "bias"])
    v = numpy_model.linear(h, w, f"decoder.blocks.{LAYER}.self_attn.W_V").reshape(len(h), 8, 32)
    return patterns[LAYER], v, streams[LAYER], logits


@cache
def by_hand() -> dict[str, Array]:
    """All vectors of layer 2 of tiny-english on the text, in float64 from the files: (len, …)."""
    w, p = weights(), f"decoder.blocks.{LAYER}."
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


def test_the_number_of_the_address_comes_with_its_sum() -> None:
    for part, index, matrix, source in (("pre", 17, "W_in", "x"), ("out", 200, "W_out", "post")):
        app = open_tab(TABS[0], **HERE, number=f"{part}.{index}")
        said, found = answered(app), answered(app)["sum"]
        w, bias = (weights()[f"decoder.blocks.{LAYER}.mlp.{matrix}.{kind}"][index] for kind in ("weight", "bias"))
        terms = by_hand()[source][TOKEN] * w
        largest = np.argsort(-np.abs(terms))[:12]
        assert (said["at"], found["of"]) == (f"{part}.{index}", vectors(app)[0]["of"])
        assert (set(found["indices"]), found["others"]) == (set(largest.tolist()), len(terms) - 12)
        np.testing.assert_allclose(found["b"], w[found["indices"]])
        assert found["bias"] == pytest.approx(bias)
        assert found["total"] + bias == pytest.approx(by_hand()[part][TOKEN][index], abs=5e-4)
        assert found["rest"] == pytest.approx(terms.sum() - terms[largest].sum(), abs=5e-4)


def test_a_number_that_the_layer_lacks_is_replaced() -> None:
    """By the strongest neuron, as without an address; one beyond the end by the last."""
    strongest = f"pre.{by_hand()['post'][TOKEN].argmax()}"
    assert answered(open_tab(TABS[0], **HERE))["at"] == strongest
    for number_ in ("gate.3", "pre", "pre.-1", "<b>.1", "head.3", "pre.1.2", "post.99999999"):
        assert answered(open_tab(TABS[0], **HERE, number=number_))["at"].startswith("pre."), number_
    for part, last in (("post", 1023), ("out", 255)):
        assert answered(open_tab(TABS[0], **HERE, number=f"{part}.5000"))["at"] == f"{part}.{last}"


def test_what_the_view_reports_reaches_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    address: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    for reported in ("out.12", "<script>.1"):
        through.follow({"at": reported})
        assert address == {"number": "out.12"}


def test_a_moved_word_takes_its_row_along() -> None:
    app, out = open_tab(TABS[1], **HERE, place="1"), by_hand()["out"]
    order = [0, TOKEN, 1, 2, 3, *range(TOKEN + 1, len(out))]
    np.testing.assert_allclose(matrices(app)["outputs_as"][0], out, atol=5e-3)
    np.testing.assert_allclose(matrices(app)["outputs_moved"][0], out[order], atol=5e-3)
    assert "otherwise the same, to within" in words(app)
    assert "row 1" in alt(app, "outputs_moved")


def test_the_neurons_are_sorted_by_what_they_do_on_the_token() -> None:
    app, post = open_tab(TABS[2], **HERE), by_hand()["post"]
    order = np.argsort(-np.abs(post[TOKEN]), kind="stable")[:16]
    header, values = pictures(app)["neurons"]
    np.testing.assert_allclose(values[0], post[:, order], atol=5e-3)
    assert header["columns"]["names"] == [str(n) for n in order]
    assert alt(app, "neurons").startswith(f"The strongest neurons on “the” (token 4): {order[0]} ")


def test_what_a_neuron_writes_is_its_row_times_the_output_matrix() -> None:
    """And the shipped sentences are shown with the word marked; another number in the box goes into the address."""
    app, w, model = open_tab(TABS[2], **HERE, neuron="321"), weights(), models.load("tiny-english")
    change = w["embedding.W_E"] @ w[f"decoder.blocks.{LAYER}.mlp.W_out.weight"][:, 321]
    shown = series(charts(app)["directions"], "value", by="name")
    assert max(float(v[0]) for v in shown.values() if len(v) == 1) == pytest.approx(change.max(), abs=2e-3)
    best = model.vocabulary[int(change.argmax())].strip()
    assert alt(app, "directions").startswith(f"“{best}” +{change.max():.2f}")
    texts, peaks = neurons.load(MODEL / neurons.FILE, model.weights)
    lines = (zoo.MODELS.parent / "texts" / texts).read_text(encoding="utf-8").splitlines()
    found = peaks[f"decoder.{LAYER}.mlp"]
    word = model.encode(lines[found.text[321, 0]]).tokens[found.token[321, 0]]
    said = [element.value for element in app.markdown if ":orange-background[" in element.value]
    assert len(said) == 4
    assert word.strip() in said[0].replace("\\", "")
    assert number(said[0]) == pytest.approx(float(found.value[321, 0]), abs=0.0051)
    assert app.number_input(key="chosen_neuron").value == 321
    app.number_input(key="chosen_neuron").set_value(7).run()
    assert app.query_params["neuron"] == "7"
    assert "What neuron 7 writes" in words(app)


@pytest.mark.usefixtures("fresh")
def test_a_model_without_the_file_says_how_to_make_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(MODEL, tmp_path / "tiny-english", ignore=shutil.ignore_patterns(neurons.FILE))
    monkeypatch.setattr(zoo, "MODELS", tmp_path)
    app = open_tab(TABS[2], **HERE)
    assert "python -m scripts.find_neurons tiny-english" in words(app)
    assert "directions" in charts(app)


def test_a_neuron_that_is_off_writes_nothing() -> None:
    """The last layer's neurons, so that what follows is one norm and one product."""
    layer, model, w = 5, models.load("tiny-english"), weights()
    trace = models.trace(model, TEXT)
    W_out, bias = (w[f"decoder.blocks.{layer}.mlp.W_out.{kind}"] for kind in ("weight", "bias"))
    post = trace[f"decoder.{layer}.mlp.post"][TOKEN].astype(np.float64)
    for off, gone in (("this neuron", post[321] * W_out[:, 321]), ("the whole layer", post @ W_out.T + bias)):
        app = open_tab(TABS[2], **HERE | {"layer": str(layer)}, neuron="321", neurons_off=off)
        x = trace[f"decoder.{layer}.resid_post"][TOKEN] - gone
        p = softmax(numpy_model.layer_norm(x, w["decoder.norm.weight"], w["decoder.norm.bias"]) @ w["embedding.W_E"].T)
        (_, after), shown = paired(app)
        assert "off" in after
        assert shown[model.vocabulary[int(p.argmax())].strip()][1] == pytest.approx(p.max(), abs=2e-3)


def test_without_its_layers_the_model_predicts_from_attention_alone() -> None:
    """And so does a twin without them."""
    app = open_tab(TABS[3], **HERE)
    assert set(charts(app)) == {"average", "losses_off", "losses_twins"}
    assert {"next_words_off", "next_words_twins"} <= set(views(app))
    off, twins = (series(charts(app)[key], "value", by="series") for key in ("losses_off", "losses_twins"))
    expected = losses(by_hand()["logits"], ids_of(TEXT))
    (whole,) = (values for title, values in off.items() if "whole" in title)
    np.testing.assert_allclose(whole, expected, atol=2e-3)
    assert f"**{np.mean(expected):.2f}** nats (whole model)" in words(app)
    measured = []
    for name, kind in (("twins-attention-only", "attention only"), ("twins-rope", "with feed")):
        trace = zoo.load(name).trace(TEXT)
        (own,) = (values for title, values in twins.items() if kind in title)
        np.testing.assert_allclose(own, losses(trace["logits"], trace.target.ids), atol=1e-4)
        by_position = json.loads((zoo.MODELS.parent / "training" / f"{name}-by-position.json").read_text())["loss"]
        measured.append(np.mean(by_position[:64]))
    assert "**{:.2f}** instead of **{:.2f}** nats".format(*measured) in words(app)


def test_the_dots_lie_on_the_layers_own_curve_and_the_shares_are_counted() -> None:
    app, pre = open_tab(TABS[4], **HERE), by_hand()["pre"]
    x, y = (series(charts(app)["activations"], axis) for axis in "xy")
    (dots,) = (line for line in x if "neurons" in line)
    assert len(x[dots]) == 200
    np.testing.assert_allclose((x[dots].min(), x[dots].max()), (pre[TOKEN].min(), pre[TOKEN].max()), atol=1e-3)
    np.testing.assert_allclose(y[dots], x[dots] * (1 + np.vectorize(erf)(x[dots] / np.sqrt(2))) / 2, atol=1e-6)
    shares = charts(app)["sparsity"]["tables"]["rows"]["value"]
    assert shares[LAYER] == pytest.approx((pre > 0).mean(), abs=1e-3)
    assert len(shares) == 6


def test_functions_that_lectures_and_the_glossary_name_are_drawn_or_explained() -> None:
    """SwiGLU is no function of one number: once it was named where SiLU was drawn."""
    app = open_tab(TABS[4], **HERE)
    there = set(re.findall(r"\w+LU\b", " ".join([*charts(app)["activations"]["tables"]["rows"]["line"], words(app)])))
    files = (PROJECT / "assets/terms.toml", *(PROJECT / "assets/lectures").glob("*.toml"))
    read = [tomllib.loads(file.read_text(encoding="utf-8")) for file in files]
    entries = [entry for found in read for entry in found.get("terms", found.get("steps", ()))]
    said = [f"{entry.get('title')} {entry.get('say')}" for entry in entries if entry.get("layer_part") == TABS[4]]
    named = set(re.findall(r"\w+LU\b", " ".join(said)))
    assert {"ReLU", "SiLU"} <= named <= there


def test_the_average_and_its_values_lie_where_an_independent_pass_has_them() -> None:
    """Distances in the plane are those of the values along their two main directions; the cross is what is written."""
    rows = charts(open_tab(TABS[3], **HERE, head="3"))["average"]["tables"]["rows"]
    pattern, v, _, _ = attention_by_hand(weights())
    shares, values = pattern[3, TOKEN, : TOKEN + 1], v[: TOKEN + 1, 3]
    np.testing.assert_allclose(rows["weight"][:-1], shares, atol=2e-3)
    points = np.vstack((values, shares @ values)) - values.mean(axis=0)
    _, _, directions = np.linalg.svd(points[:-1], full_matrices=False)
    shown = np.stack((rows["x"], rows["y"]), axis=-1)
    np.testing.assert_allclose(np.abs(shown), np.abs(points @ directions[:2].T), atol=5e-3 * np.abs(points).max())
    assert list(rows["role"]) == ["value"] * (TOKEN + 1) + ["average"]


def test_every_text_has_an_area_or_hears_why_not() -> None:
    for text in ("a", "a a", "ha ha ha ha", "老王 批评 老李 😀", "<img src=x onerror=alert(1)>", "word " * 900):
        app = open_tab(TABS[3], model="twins-none", text=text)
        assert "average" in charts(app) or "These values span no area" in " ".join(c.value for c in app.caption), text
        assert "A head can only average" in words(app)
        assert "nan" not in words(app).lower().split(), text


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_kind_of_layer_is_taken_apart(variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small model of each kind, with random weights, in a zoo of its own beside the twins."""
    tokenizer, here = Tokenizer.load(MODEL / "tokenizer.json"), {"model": "small", "text": "the cat sat"}
    shape = {"d_model": 12, "n_layers": 2, "n_heads": 3, "n_kv_heads": 3, "d_ff": 23, "max_len": 19}
    config = flat(vocab_size=tokenizer.vocab_size, **shape | VARIANTS[variant])
    export(tmp_path / "small", lively(build(config)), tokenizer, card="")
    for name in ("twins-rope", "twins-attention-only"):
        (tmp_path / name).symlink_to(zoo.MODELS / name)
    for function in (zoo.catalogue, zoo.available, zoo.load):
        monkeypatch.setattr(function, "__defaults__", (tmp_path,))
    for tab in TABS:
        app = open_tab(tab, **here)
        assert not app.error, tab
        assert views(app) or charts(app), tab
    assert answered(open_tab(TABS[0], **here, number="out.5"))["sum"]["others"] >= 0
    app = open_tab(TABS[0], **here, number="gate.3")
    (header, arrays), said = vectors(app), answered(app)
    assert header["gated"] == ("gate" in arrays) == (said["at"] == "gate.3")
    if "gate" in arrays:
        assert said["sum"]["total"] + said["sum"]["bias"] == pytest.approx(float(arrays["gate"][3]), abs=1e-4)


def test_a_translator_shows_the_layer_of_the_chosen_stack() -> None:
    for kind, stack in (("encoder", "encoder"), ("decoder", "decoder"), ("cross-attention", "decoder")):
        address = {"model": "french-english", "kind": kind, "text": "J'ai une voiture rouge.", "layer": "1"}
        assert vectors(open_tab(TABS[0], **address))[0]["layer"] == f"{stack}.1.mlp"
        app = open_tab(TABS[2], **address)
        assert ("directions" in charts(app)) == (stack == "decoder")
        assert ("No words are read from this encoder" in words(app)) == (stack == "encoder")
        assert "Tatoeba, CC BY 2.0 FR." in [caption.value for caption in app.caption]


def test_a_model_of_attention_alone_says_so_and_still_compares_the_twins() -> None:
    for tab in TABS:
        app = open_tab(tab, model="induction", text=TEXT)
        assert "has no feed-forward layers" in words(app), tab
        if tab == TABS[3]:
            assert set(charts(app)) == {"average", "losses_twins"}
            assert "next_words_twins" in views(app)


@pytest.mark.parametrize("text", ["a", "x" * 5000, "<img onerror=alert(1)> **老王** 😀 $x$ :red[", "word " * 1000])
def test_odd_texts_are_taken_as_they_are(text: str) -> None:
    for tab in TABS:
        assert not open_tab(tab, model="tiny-english", text=text).error, tab


@pytest.mark.usefixtures("fresh")
def test_numbers_that_are_not_finite_are_named_in_place_of_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, site = zoo.ZooModel.trace, "decoder.2.mlp.out"

    def broken(self: zoo.ZooModel, inputs: Any, *asked: Any, target: Any = None) -> Any:
        found = whole(self, inputs, *asked, target=target)
        if site not in found or inputs == zoo.TRIAL:
            return found
        return replace(found, values={**found.values, site: np.full_like(found[site], np.inf)})

    monkeypatch.setattr(zoo.ZooModel, "trace", broken)
    for tab in (TABS[0], TABS[1], TABS[2], TABS[4]):
        app = open_tab(tab, **HERE)
        assert "there is nothing to explain" in words(app), tab
        assert not views(app), tab


def test_the_whole_model_leads_here() -> None:
    header = read_arrays(bytes(views(open_page("whole_model", zoom="block", **HERE))["whole_model"].bytes))[0]
    linked = {page for lane in header["lanes"] for column in lane["columns"] for page, _ in column["links"]}
    assert "feed_forward" in linked
    assert "feed_forward" in sent(open_page("whole_model", **HERE), "whole_model_selection")["pages"]


def test_what_is_said_follows_the_model_and_the_token() -> None:
    """A word may not have moved; a model may have met the words, fill gaps, or set the stream anew after the layer."""
    moved, new, anew = "has moved with its word", "in held-out sentences", "before the norm that follows"
    gap = "In the place of “___” the probability that changes most"
    for tab, model, text, token, said, there in (
        (1, "tiny-english", TEXT, "0", moved, False),
        (1, "tiny-english", TEXT, "1", moved, True),
        (2, "tiny-english", TEXT, "1", new, True),
        (2, "reverse", "abc", "1", new, False),
        (2, "fill-in", "The cat ___ on the mat.", "", gap, True),
        (0, "twins-postnorm", TEXT, "1", anew, True),
        (0, "twins-rope", TEXT, "1", anew, False),
    ):
        app = open_tab(TABS[tab], model=model, text=text, token=token)
        assert (said in words(app).replace("\\_", "_")) is there, f"{model}, {said}"
        assert tab != 2 or "fires most" in words(app)
        assert model != "fill-in" or "next token" not in json.dumps([one["spec"] for one in charts(app).values()])
