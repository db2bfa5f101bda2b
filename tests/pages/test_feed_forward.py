"""The feed-forward page: its numbers are those of the record and the weights, for every kind of layer."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, paired, pictures, sent, series, views, words
from tests.pages.claims import number
from tests.pages.plain import ids_of, losses, losses_by_position, softmax, weights
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.analysis import neurons
from tfmviz.model.config import ModelConfig
from tfmviz.record.trace import Array
from tfmviz.ui import feed_forward, models
from tfmviz.ui.feed_forward.neurons import _marked
from tfmviz.words.numbers import decimal, per_cent

MODEL = zoo.MODELS / "tiny-english"
TEXT, LAYER, TOKEN = "The cat sat on the mat, and the dog", 2, 4
TABS = ("One token through it", "Same at every position", "Neurons", "Without it", "Activations")
HERE = {"model": "tiny-english", "text": TEXT, "layer": str(LAYER), "token": str(TOKEN)}


def open_tab(tab: str, **address: str) -> AppTest:
    return open_page("feed_forward", layer_part=tab, **address)


def answered(app: AppTest) -> dict[str, Any]:
    return dict(sent(app, "feed_forward_selection"))


def vectors(app: AppTest) -> tuple[dict[str, Any], dict[str, Array]]:
    return read_arrays(bytes(views(app)["feed_forward"].bytes))


@cache
def recorded() -> dict[str, Array]:
    """All vectors of the layer on the text, (len, …), and the logits."""
    trace, at = zoo.load("tiny-english").trace(TEXT), f"decoder.{LAYER}"
    sites = {"x": "mlp.norm", "pre": "mlp.pre", "post": "mlp.post", "out": "mlp.out"}
    sites |= {"before": "resid_mid", "after": "resid_post"}
    return {name: trace[f"{at}.{site}"] for name, site in sites.items()} | {"logits": trace["logits"]}


def test_the_vectors_are_those_of_the_record() -> None:
    app = open_tab(TABS[0], **HERE)
    header, arrays = vectors(app)
    expected = recorded()
    assert set(arrays) == set(expected) - {"logits"}
    for name, values in arrays.items():
        np.testing.assert_allclose(values, expected[name][TOKEN], atol=5e-4, err_msg=name)
    assert (header["token"], header["f"], header["layer"]) == ("“the” (token 4)", "GELU", f"decoder.{LAYER}.mlp")
    assert (header["gated"], header["preNorm"]) == (False, True)
    on = int((expected["pre"][TOKEN] > 0).sum())
    assert f"**{on} of 1,024** values before the function are above 0" in words(app)
    assert "**4 times** as many" in words(app)
    assert f"{2 * 256 * 1024 + 1024 + 256:,} parameters" in words(app)


def test_the_number_of_the_address_comes_with_its_sum_or_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    for part, index in (("pre", 17), ("out", 200)):
        app = open_tab(TABS[0], **HERE, number=f"{part}.{index}")
        said, found = answered(app), answered(app)["sum"]
        assert (said["at"], found["of"]) == (f"{part}.{index}", vectors(app)[0]["of"])
        assert found["total"] + found["bias"] == pytest.approx(recorded()[part][TOKEN][index], abs=5e-4)
    assert answered(open_tab(TABS[0], **HERE))["at"] == f"pre.{recorded()['post'][TOKEN].argmax()}"
    for number_ in ("gate.3", "pre", "pre.-1", "<b>.1", "head.3", "pre.1.2", "post.99999999"):
        assert answered(open_tab(TABS[0], **HERE, number=number_))["at"].startswith("pre."), number_
    for part, last in (("post", 1023), ("out", 255)):
        assert answered(open_tab(TABS[0], **HERE, number=f"{part}.5000"))["at"] == f"{part}.{last}"
    address: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    for reported in ("out.12", "<script>.1"):
        feed_forward.follow({"at": reported})
        assert address == {"number": "out.12"}


def test_a_moved_word_takes_its_row_along() -> None:
    app, out = open_tab(TABS[1], **HERE, place="1"), recorded()["out"]
    here, there, difference = matrices(app)["moved"][0]
    np.testing.assert_allclose((here, there), out[[TOKEN, TOKEN], :64], atol=5e-3)
    np.testing.assert_allclose(difference, 0, atol=1e-4)
    assert "otherwise the same, to within" in words(app)


def test_the_neurons_are_sorted_by_what_they_do_on_the_token() -> None:
    app, post = open_tab(TABS[2], **HERE), recorded()["post"]
    order = np.argsort(-np.abs(post[TOKEN]), kind="stable")[:16]
    header, values = pictures(app)["neurons"]
    np.testing.assert_allclose(values[0], post[:, order], atol=5e-3)
    assert header["columns"]["names"] == [str(n) for n in order]


def test_what_a_neuron_writes_is_its_row_times_the_output_matrix() -> None:
    app, w, model = open_tab(TABS[2], **HERE, neuron="321"), weights(), models.load("tiny-english")
    change = w["embedding.W_E"] @ w[f"decoder.blocks.{LAYER}.mlp.W_out.weight"][:, 321]
    letters = [any(map(str.isalpha, token)) and not token.startswith(("<|", "[byte")) for token in model.vocabulary]
    change = np.where(letters, change, -np.inf)  # bytes and signs are no words
    shown = series(charts(app)["directions"], "value", by="name")
    assert max(float(v[0]) for v in shown.values() if len(v) == 1) == pytest.approx(change.max(), abs=2e-3)
    best = model.vocabulary[int(change.argmax())].strip()
    assert best in "".join(shown)
    texts, peaks = neurons.load(MODEL / neurons.FILE, model.weights)
    lines = (zoo.MODELS.parent / "texts" / texts).read_text(encoding="utf-8").splitlines()
    found = peaks[f"decoder.{LAYER}.mlp"]
    tokens, at = model.encode(lines[found.text[321, 0]]).tokens, int(found.token[321, 0])
    said = [element.value for element in app.markdown if ":orange-background[" in element.value]
    assert len(said) == 4
    assert said[0].endswith(f"  {_marked(tokens, at)}")
    assert number(said[0]) == pytest.approx(float(found.value[321, 0]), abs=0.0051)
    assert app.number_input(key="chosen_neuron").value == 321
    app.number_input(key="chosen_neuron").set_value(7).run()
    assert app.query_params["neuron"] == "7"
    assert "neuron 7 promotes" in words(app)


def test_eight_tokens_on_either_side_stand_around_the_one_on_which_a_neuron_fires() -> None:
    tokens = (*"abcdefghijklmno", " p", *"qrstuvwxyz")
    for at, before, token, after in (
        (8, "abcdefgh", "i", "jklmno pq…"),
        (9, "…bcdefghi", "j", "klmno pqr…"),
        (15, "…hijklmno ", "p", "qrstuvwx…"),
        (17, "…jklmno pq", "r", "stuvwxyz"),
    ):
        assert _marked(tokens, at) == f"{before}:orange-background[{token}]{after}"


@pytest.mark.usefixtures("fresh")
def test_a_model_without_the_file_says_how_to_make_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(MODEL, tmp_path / "tiny-english", ignore=shutil.ignore_patterns(neurons.FILE))
    monkeypatch.setattr(zoo, "MODELS", tmp_path)
    app = open_tab(TABS[2], **HERE)
    assert "python -m scripts.find_neurons tiny-english" in words(app)
    assert "directions" in charts(app)


def test_a_neuron_that_is_off_writes_nothing() -> None:
    """The last layer's neurons, so that what follows is the last norm and the vocabulary."""
    model, trace = models.load("tiny-english"), zoo.load("tiny-english").trace(TEXT)
    layer, w = trace["decoder.5.mlp.out"][TOKEN], weights()["decoder.blocks.5.mlp.W_out.weight"][:, 321]
    for off, gone in (("this neuron", trace["decoder.5.mlp.post"][TOKEN, 321] * w), ("the whole layer", layer)):
        app = open_tab(TABS[2], **HERE | {"layer": "5"}, neuron="321", neurons_off=off)
        x = trace["decoder.5.resid_post"][TOKEN] - gone
        p = softmax(model.weights.stacks["decoder"].readout.logits(x))
        (_, after), shown = paired(app)
        assert "off" in after
        assert shown[model.vocabulary[int(p.argmax())].strip()][1] == pytest.approx(p.max(), abs=2e-3)


def test_without_its_layers_the_model_predicts_from_attention_alone() -> None:
    app = open_tab(TABS[3], **HERE, without_it="Switched off")
    assert set(charts(app)) == {"losses_off"}
    assert "next_words_off" in views(app)
    expected = losses(recorded()["logits"], ids_of(TEXT))
    assert f"**{np.mean(expected):.2f}** nats (whole model) in A" in words(app)
    app = open_tab(TABS[3], **HERE, without_it="Trained without")
    assert "next_words_twins" in views(app)
    assert "trained like `` twins-rope ``, with" in words(app)
    measured, own = [], []
    for name in ("twins-attention-only", "twins-rope"):
        trace = zoo.load(name).trace(TEXT)
        own.append(losses(trace["logits"], trace.target.ids))
        measured.append(float(np.mean(losses_by_position(name)[:64])))
    np.testing.assert_allclose(charts(app)["losses_twins"]["tables"]["rows"]["value"], own[0] - own[1], atol=1e-4)
    assert "**{:.2f}** instead of **{:.2f}** nats".format(*measured) in words(app)


def test_dots_are_the_tokens_numbers_shares_are_counted_and_functions_that_lectures_name_are_there() -> None:
    app, pre = open_tab(TABS[4], **HERE), recorded()["pre"]
    x, y = (series(charts(app)["activations"], axis) for axis in "xy")
    (dots,) = (line for line in x if "neurons" in line)
    drawn = pre[TOKEN][(pre[TOKEN] >= -4) & (pre[TOKEN] <= 3)]
    assert 100 < len(x[dots]) <= 200
    assert all(np.abs(drawn - dot).min() < 1e-3 for dot in x[dots])
    assert y[dots].max() < min(curve.min() for line, curve in y.items() if line != dots)
    shares = charts(app)["sparsity"]["tables"]["rows"]["value"]
    assert shares[LAYER] == pytest.approx(100 * (pre > 0).mean(), abs=0.1)
    assert len(shares) == 6
    on, ends = per_cent((pre[TOKEN] > 0).mean()), " to ".join(decimal(end(pre[TOKEN])) for end in (min, max))
    assert f"{on} are above 0 ({ends})" in words(app)


def test_the_average_and_its_values_are_drawn_with_their_shares_where_they_span_an_area() -> None:
    rows = charts(open_tab(TABS[3], **HERE, head="3"))["average"]["tables"]["rows"]
    pattern = zoo.load("tiny-english").trace(TEXT)[f"decoder.{LAYER}.self_attn.pattern"][3, TOKEN]
    np.testing.assert_allclose(rows["weight"][:-1], pattern[: TOKEN + 1], atol=2e-3)
    assert list(rows["role"]) == ["value"] * (TOKEN + 1) + ["average"]
    for text, area in (("a", False), ("ha ha ha ha", True), ("老王 批评 老李 😀", True)):
        app = open_tab(TABS[3], model="twins-none", text=text)
        assert ("average" in charts(app)) is area, text
        assert ("These values span no area" in " ".join(c.value for c in app.caption)) is not area, text


def test_a_gate_is_a_vector_with_sums_of_its_own(put_random_model: Callable[..., ModelConfig]) -> None:
    for kind in ("swiglu", "gelu"):
        put_random_model(kind, feed_forward=kind, d_ff=23)
        app = open_tab(TABS[0], model=kind, text="the cat sat", number="gate.3")
        (header, arrays), said = vectors(app), answered(app)
        assert header["gated"] == ("gate" in arrays) == (said["at"] == "gate.3") == (kind == "swiglu")
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
        app = open_tab(tab, model="induction", text=TEXT, without_it="Switched off")
        assert "has no feed-forward layers" in words(app), tab
        if tab == TABS[3]:
            app = open_tab(tab, model="induction", text=TEXT, without_it="Trained without")
            assert set(charts(app)) == {"losses_twins"}
            assert "next_words_twins" in views(app)


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


def test_what_is_said_follows_the_model_and_the_token() -> None:
    moved, new, anew = "has moved with it,", "in held-out sentences", "before the norm that follows"
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
