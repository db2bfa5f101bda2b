"""The pages, run without a browser: what they show equals an independent forward pass, and bad input is met kindly."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

from tests import numpy_model
from tfmviz import zoo
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import build
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export
from tfmviz.ui.sentences import SENTENCES

ROOT = Path(__file__).parents[1]
MODEL = zoo.MODELS / "tiny-english"
VIEWS = ("Attention", "What comes next?", "Residual stream")
ODD_TEXTS = {
    "html": "<img src=x onerror=alert(1)>",
    "markdown": "**bold** $x$ :red[no] `code` [a](b)",
    "emoji": "👩‍👩‍👧 says 😀",
    "chinese": "老王 批评 老李",
    "right-to-left": "שלום עולם",
    "control characters": "a\x00b\x07c\td",
    "one token": "a",
    "control token": "<|endoftext|>",
}


@pytest.fixture(autouse=True)
def _fresh_caches() -> Iterator[None]:
    yield
    st.cache_resource.clear()


def open_app(**address: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for key, value in address.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def figures(app: AppTest) -> dict[str, dict[str, Any]]:
    """The Plotly figures on the page by their key."""
    protos = [element.proto for element in app.get("plotly_chart")]
    return {proto.id.rsplit("-", 1)[-1]: json.loads(proto.spec) for proto in protos}


def array(value: Any) -> np.ndarray:
    """A number array of a figure: Plotly sends numpy arrays as base64."""
    if isinstance(value, dict):
        flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
        return flat.reshape([int(n) for n in str(value["shape"]).split(",")]) if "shape" in value else flat
    return np.array(value, dtype=float)


def strip(app: AppTest) -> dict[str, Any]:
    return json.loads(app.get("bidi_component")[0].proto.json)


def texts(app: AppTest) -> str:
    shown = [*app.info, *app.warning, *app.error, *app.markdown, *app.text, *app.caption]
    return "\n".join(str(element.value) for element in shown)


def test_the_page_opens_with_the_lectures_sentence_and_all_pictures() -> None:
    app = open_app()
    assert app.text_input(key="text").value == SENTENCES[0]
    assert set(figures(app)) == {"thumbnails", "head_picture"}
    assert "Next, most probably" in texts(app)
    assert [token["label"] for token in strip(app)["tokens"]][:4] == ["I", "walked", "along", "the"]


def test_every_number_on_the_page_is_that_of_an_independent_forward_pass() -> None:
    text, layer, head, token = "The cat sat on the mat, and the dog", 3, 5, 4
    ids = tuple(Tokenizer.load(MODEL / "tokenizer.json").encode(text, max_len=256).ids)
    patterns, streams, logits = numpy_model.forward(MODEL, ids)
    shown: dict[str, dict[str, Any]] = {}
    for view in VIEWS:
        app = open_app(text=text, layer=str(layer), head=str(head), view=view)
        app.session_state["token"] = token
        shown |= figures(app.run())
    assert set(shown) == {"thumbnails", "head_picture", "predictions", "norms", "writes"}

    z = array(shown["head_picture"]["data"][0]["z"])
    visible = np.tril(np.ones_like(z, dtype=bool))
    assert np.isnan(z[~visible]).all()
    np.testing.assert_allclose(z[visible], patterns[layer, head][visible], atol=2e-5)

    weights = [entry["weight"] for entry in strip(app)["tokens"]]
    assert weights[token + 1 :] == [None] * (len(ids) - token - 1)
    np.testing.assert_allclose(weights[: token + 1], patterns[layer, head, token, : token + 1], atol=1e-4)

    probabilities = np.exp(logits[token] - logits[token].max())
    probabilities /= probabilities.sum()
    bars = shown["predictions"]["data"][0]
    np.testing.assert_allclose(bars["x"], np.sort(probabilities)[::-1][:10], atol=1e-5)
    vocabulary = Tokenizer.load(MODEL / "tokenizer.json").vocabulary
    assert bars["customdata"][0] == vocabulary[int(probabilities.argmax())].strip()

    np.testing.assert_allclose(array(shown["norms"]["data"][0]["z"]), np.linalg.norm(streams, axis=-1), rtol=1e-4)


def test_tokens_keep_their_order_and_repeated_ones_stay_apart() -> None:
    app = open_app(text="the cat the cat")
    axis = figures(app)["head_picture"]["layout"]["xaxis"]
    assert axis["tickvals"] == [0, 1, 2, 3]
    assert axis["ticktext"] == ["the", "cat", "the", "cat"]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_any_text_is_shown_literally(text: str, view: str) -> None:
    app = open_app(text=text, view=view)
    assert not app.error
    assert app.text_input(key="text").value == text
    titles = [entry["title"] for entry in strip(app)["tokens"]]
    ids = Tokenizer.load(MODEL / "tokenizer.json").encode(text, max_len=256)
    assert titles == [f"Token {i}: “{token}”" for i, token in enumerate(ids.tokens)]
    assert figures(app)


@pytest.mark.parametrize("blank", ["", "   ", "\t"])
def test_an_empty_box_keeps_the_last_pictures_and_asks_for_text(blank: str) -> None:
    app = open_app(text="the cat sat")
    before = figures(app)["head_picture"]
    app.text_input(key="text").set_value(blank).run()
    assert figures(app)["head_picture"] == before
    assert "Type a sentence" in app.warning[0].value


def test_a_text_longer_than_the_context_is_cut_and_the_page_says_by_how_much() -> None:
    app = open_app()
    app.text_input(key="text").set_value(" dog" * 900).run()
    assert not app.exception
    assert len(strip(app)["tokens"]) == 256
    assert "The last 644 tokens of your text were left out." in texts(app)


@pytest.mark.parametrize(
    ("address", "layer", "head", "note"),
    [
        ({"layer": "99"}, 5, 2, "There is no layer `` 99 ``"),
        ({"layer": "-3"}, 0, 2, "There is no layer `` -3 ``"),
        ({"layer": "2", "head": "abc"}, 2, 0, "There is no head `` abc ``"),
        ({"head": "1e999"}, 1, 0, "There is no head"),
        ({"model": "tiny-englsh", "head": "3"}, 1, 3, "There is no model `` tiny-englsh `` here. This is"),
        ({"model": "<b>`x`", "layer": "7.6"}, 5, 2, "There is no model"),
    ],
)
def test_a_wrong_address_leads_to_the_nearest_choice_with_a_note(
    address: dict[str, str], layer: int, head: int, note: str
) -> None:
    app = open_app(**address)
    assert (app.slider(key="layer").value, app.slider(key="head").value) == (layer, head)
    assert note in app.info[0].value
    assert len(figures(app)) == 2


def test_the_address_chooses_sentence_layer_and_head() -> None:
    app = open_app(text="hello there", layer="4", head="7")
    assert not app.info
    assert "Layer 4, head 7" in texts(app)
    assert [token["label"] for token in strip(app)["tokens"]][-1] == "there"


def test_a_menu_entry_replaces_the_sentence() -> None:
    app = open_app(text="hello")
    app.selectbox(key="example").select(SENTENCES[1]).run()
    assert app.text_input(key="text").value == SENTENCES[1]
    assert [token["label"] for token in strip(app)["tokens"]][:3] == ["I", "went", "to"]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models to damage, in place of the shipped one."""
    shutil.copytree(MODEL, tmp_path / "tiny-english")
    monkeypatch.setattr(zoo.catalogue, "__defaults__", (tmp_path,))
    monkeypatch.setattr(zoo.load, "__defaults__", (tmp_path,))
    return tmp_path


def test_a_damaged_model_is_named_with_its_reason_and_the_others_work(models: Path) -> None:
    shutil.copytree(MODEL, models / "broken")
    weights = models / "broken" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    app = open_app()
    assert "broken" in app.sidebar.warning[0].value
    assert "damaged" in app.sidebar.warning[0].value
    assert app.selectbox(key="model").options == ["tiny-english"]
    assert len(figures(app)) == 2


def test_a_model_whose_damage_shows_only_when_it_is_loaded_says_so(models: Path) -> None:
    weights = load_file(models / "tiny-english" / "model.safetensors")
    weights["decoder.norm.weight"][0] = np.nan
    save_file(weights, models / "tiny-english" / "model.safetensors")
    app = open_app()
    assert "decoder\\.norm\\.weight" in app.error[0].value
    assert not figures(app)


def put_random_model(folder: Path, **changes: Any) -> None:
    """A model with random weights that shares the shipped one's tokenizer."""
    shape = {"d_model": 6, "n_layers": 1, "n_heads": 1, "n_kv_heads": 1, "d_ff": 7, "max_len": 19} | changes
    tokenizer = Tokenizer.load(MODEL / "tokenizer.json")
    export(folder, build(ModelConfig(vocab_size=tokenizer.vocab_size, **shape)), tokenizer, card="")


@pytest.mark.parametrize("view", VIEWS)
def test_a_model_with_one_layer_and_one_head_needs_no_sliders(models: Path, view: str) -> None:
    put_random_model(models / "one-head")
    app = open_app(model="one-head", layer="3", head="2", view=view)
    assert not app.slider
    assert figures(app)
    assert "There is no layer `` 3 ``" in app.info[0].value


@pytest.mark.parametrize("architecture", ["encoder-only", "encoder-decoder"])
def test_models_that_the_pages_cannot_show_yet_are_named_and_not_offered(models: Path, architecture: str) -> None:
    put_random_model(models / "other", architecture=architecture)
    app = open_app(model="other")
    assert app.selectbox(key="model").options == ["tiny-english"]
    assert f"`` other `` is {architecture}" in app.sidebar.caption[0].value
    assert len(figures(app)) == 2


def test_an_address_with_far_too_long_a_text_still_opens() -> None:
    assert len(figures(open_app(text="word " * 3000))) == 2


def test_without_any_model_the_page_says_what_to_do(models: Path) -> None:
    (models / "tiny-english" / "model.safetensors").unlink()
    app = open_app()
    assert "train one" in app.error[0].value
    assert r"model\.safetensors is missing" in app.sidebar.warning[0].value


def test_two_sessions_do_not_mix() -> None:
    one, other = open_app(text="the cat", layer="1"), open_app(text="my dog ran", layer="2")
    assert [token["label"] for token in strip(one)["tokens"]] == ["the", "cat"]
    assert [token["label"] for token in strip(other)["tokens"]] == ["my", "dog", "ran"]
