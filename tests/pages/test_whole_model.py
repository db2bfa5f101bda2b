"""The page of the whole model: what the followed token would become, what is in the address, odd input."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import streamlit as st
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

from tests.app import open_page, views, words
from tests.model import numpy_model
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.constants import ATTENTION_KINDS
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui.whole_model import around, picture

MODEL = zoo.MODELS / "tiny-english"
TEXT = "The cat sat on the mat."


def selection(app: AppTest) -> dict[str, Any]:
    return json.loads(views(app)["whole_model_selection"].json)


def drawn(app: AppTest) -> dict[str, Any]:
    return read_arrays(bytes(views(app)["whole_model"].bytes))[0]


def test_what_it_would_say_at_each_depth_is_what_an_independent_forward_pass_says() -> None:
    app = open_page("whole_model", text=TEXT, token="4", model="tiny-english")
    says = selection(app)["says"]
    ids = tuple(Tokenizer.load(MODEL / "tokenizer.json").encode(TEXT, max_len=256).ids)
    _, streams, logits = numpy_model.forward(MODEL, ids)
    w = {name: value.astype(np.float64) for name, value in load_file(MODEL / "model.safetensors").items()}
    vocabulary = Tokenizer.load(MODEL / "tokenizer.json").vocabulary
    for depth, column in enumerate(["decoder.embed", *(f"decoder.{n}" for n in range(6))]):
        x = numpy_model.layer_norm(streams[depth][4], w["decoder.norm.weight"], w["decoder.norm.bias"])
        scores = x @ w["embedding.W_E"].T
        p = np.exp(scores - scores.max())
        word, probability, rank = says[column]
        assert word == vocabulary[scores.argmax()].strip()
        assert probability == pytest.approx(p.max() / p.sum(), abs=2e-3)
        assert rank == 1 + (scores > scores[logits[4].argmax()]).sum()


@pytest.mark.parametrize("zoom", ["", "block", "head"])
@pytest.mark.parametrize("name", zoo.available())
def test_every_shipped_model_is_drawn_at_every_zoom(name: str, zoom: str) -> None:
    app = open_page("whole_model", model=name, zoom=zoom)
    assert not app.error
    assert drawn(app)["zoom"] == (zoom or "model")
    assert drawn(app)["title"] == name
    assert drawn(app)["lanes"][-1]["tokens"]


def test_layer_and_head_of_the_address_are_what_is_drawn() -> None:
    app = open_page("whole_model", text=TEXT, zoom="head", layer="2", head="3", token="1", model="tiny-english")
    assert (drawn(app)["layer"], drawn(app)["head"]) == ("decoder.2.self_attn", 3)
    chosen = selection(app)
    assert (chosen["layer"], chosen["head"], chosen["token"]) == ("decoder.2.self_attn", 3, 1)
    assert chosen["address"] == {"model": "tiny-english", "text": TEXT}
    assert chosen["says"] == {}


def test_an_encoder_that_feeds_a_decoder_says_nothing() -> None:
    app = open_page("whole_model", model="french-english", kind="encoder")
    assert selection(app)["says"] == {}
    assert selection(app)["layer"].startswith("encoder.")


@pytest.mark.parametrize("zoom", ["galaxy", "<script>", "blocks", "model"])
def test_an_unknown_zoom_is_the_whole_model(zoom: str) -> None:
    assert drawn(open_page("whole_model", text=TEXT, zoom=zoom))["zoom"] == "model"


def test_links_go_to_pages_that_there_are() -> None:
    app = open_page("whole_model", text=TEXT)
    linked = {page for lane in drawn(app)["lanes"] for column in lane["columns"] for page, _ in column["links"]}
    assert {"step_by_step", "residual_stream", "normalisation"} <= linked <= set(selection(app)["pages"])
    assert selection(app)["kinds"] == ATTENTION_KINDS


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (("block", "decoder.2.self_attn", 5), (2, 5, "block")),
        (("head", "decoder.0.self_attn", 0), (0, 0, "head")),
        (("model", "decoder.1.self_attn", 1), (1, 1, "")),
        (("<b>", "decoder.3.self_attn", 1), (3, 1, "")),
        (("block", "nowhere", 1), (4, 3, "block")),
    ],
)
def test_what_is_reported_reaches_sidebar_and_address(
    report: tuple[str, str, int], expected: tuple[int, int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, Any] = {"layer": 4, "head": 3, "token": None}
    address: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(st, "query_params", address)
    zoom, layer, head = report
    picture.follow({"zoom": zoom, "layer": layer, "head": head, "token": 2})
    assert (state["layer"], state["head"], address.get("zoom", "")) == expected
    assert (state["token"], address["token"]) == (2, "2")


@pytest.mark.parametrize("model", ["tiny-english", "french-english", "fill-in"])
@pytest.mark.parametrize(
    "text", ["a", "👩‍👩‍👧 says 😀 老王", "<img src=x onerror=alert(1)> $x$ **b** <|endoftext|>", "word " * 1000]
)
def test_odd_texts_are_drawn(text: str, model: str) -> None:
    app = open_page("whole_model", text=text, model=model)
    assert not app.error
    for lane in drawn(app)["lanes"]:
        assert all(len(lane["tokens"]) == column["shape"][0] for column in lane["columns"])


def test_both_kinds_of_block_stand_one_below_the_other() -> None:
    app = open_page("whole_model", text=TEXT, beside="Post-norm, pre-norm", layer="1", model="twins-alibi")
    drawn_twice = (read_arrays(bytes(views(app)[f"block_{kind}_norm"].bytes))[0] for kind in ("post", "pre"))
    (post,), (pre,) = (header["lanes"] for header in drawn_twice)
    assert (post["title"], pre["title"]) == (
        "Post-norm, layer 1 of twins-postnorm",
        "Pre-norm, layer 1 of twins-rope",
    )
    assert [column["title"] for column in post["columns"]] == ["X", "T¹", "T²", "T³", "a", "T⁴", "T⁵", "H"]
    assert [column["lines"] for column in post["columns"]][1:4] == [["SelfAttention(X)"], ["X + T¹"], ["LayerNorm(T²)"]]
    assert [column["title"] for column in pre["columns"]] == ["X", "T¹", "T²", "T³", "T⁴", "a", "T⁵", "H"]


def test_the_token_clicked_in_either_block_is_the_one_that_both_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no report, however odd, leads before the first."""
    reports = []
    monkeypatch.setattr(around, "show_view", lambda *_, on_report, **__: reports.append(on_report))
    open_page("whole_model", text=TEXT, beside="Post-norm, pre-norm")
    address: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    assert len(reports) == 2
    for report in reports:
        followed = []
        for token in (5, 0, -1):
            report({"token": token})
            followed.append(address["token"])
        assert followed == ["5", "0", "0"]


def test_beside_another_sentence_each_picture_is_that_of_its_own_text() -> None:
    app = open_page("whole_model", text=TEXT, b="A dog ran.", **{"with": "another sentence"})
    for key, text in (("whole_model", TEXT), ("whole_model_b", "A dog ran.")):
        lane = read_arrays(bytes(views(app)[key].bytes))[0]["lanes"][-1]
        assert "".join(lane["tokens"]).replace(" ", "") == text.replace(" ", "")


def test_shares_of_parameters_are_those_of_the_files() -> None:
    app = open_page("whole_model", text=TEXT, model="tiny-english")
    rows = json.loads(views(app)["parameters"].json)
    weights = load_file(MODEL / "model.safetensors")
    total = sum(array.size for array in weights.values())
    mlp = sum(array.size for name, array in weights.items() if ".mlp." in name)
    attention = sum(array.size for name, array in weights.items() if ".self_attn." in name)
    shares = {label: share for label, share, _ in rows}
    assert shares["feed-forward"] == pytest.approx(mlp / total)
    assert shares["attention"] == pytest.approx(attention / total)
    assert shares["W_E"] == pytest.approx(weights["embedding.W_E"].size / total)
    assert f"{total:,} trained numbers" in words(app)
