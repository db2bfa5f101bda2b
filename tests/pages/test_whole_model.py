"""The page of the whole model: what the followed token would become, what is in the address, odd input."""

from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app import open_page, sent, views, words
from tests.pages import plain
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.constants import ATTENTION_KINDS
from tfmviz.ui import whole_model

TEXT = "The cat sat on the mat."


def drawn(app: AppTest, key: str = "whole_model") -> dict[str, Any]:
    return read_arrays(bytes(views(app)[key].bytes))[0]


def test_what_it_would_say_at_each_depth_is_read_out_there_and_shares_of_parameters_are_the_models() -> None:
    app = open_page("whole_model", text=TEXT, token="4", model="tiny-english")
    says = sent(app, "whole_model_selection")["says"]
    model = zoo.load("tiny-english")
    trace, readout = model.trace(TEXT), model.weights.stacks["decoder"].readout
    sites = {"decoder.embed": "decoder.0.resid_pre"} | {f"decoder.{n}": f"decoder.{n}.resid_post" for n in range(6)}
    for column, site in sites.items():
        scores = readout.logits(trace[site][4])
        word, probability, rank = says[column]
        assert word == model.vocabulary[scores.argmax()].strip()
        assert probability == pytest.approx(plain.softmax(scores).max(), abs=2e-3)
        assert rank == 1 + (scores > scores[trace["logits"][4].argmax()]).sum()
    sizes = plain.weights()
    total = sum(array.size for array in sizes.values())
    shares = {label: share for label, share, _ in sent(app, "parameters")}
    assert shares["W_E"] == pytest.approx(sizes["embedding.W_E"].size / total)
    assert sum(shares.values()) == pytest.approx(1)
    assert f"{total:,} parameters; **{max(shares, key=shares.__getitem__)}** has the most" in words(app)


def test_every_shipped_model_is_drawn_at_every_zoom_and_whole_at_an_unknown_one() -> None:
    for name in zoo.available():
        for zoom in ("", "block", "head"):
            app = open_page("whole_model", model=name, zoom=zoom)
            assert not app.error, (name, zoom)
            shown = drawn(app)
            assert (shown["zoom"], shown["title"]) == (zoom or "model", name)
            assert shown["lanes"][-1]["tokens"], (name, zoom)
    for zoom in ("galaxy", "<script>", "blocks", "model"):
        assert drawn(open_page("whole_model", text=TEXT, zoom=zoom))["zoom"] == "model"


def test_layer_and_head_of_the_address_are_what_is_drawn_with_links_to_pages_that_there_are() -> None:
    app = open_page("whole_model", text=TEXT, zoom="head", layer="2", head="3", token="1", model="tiny-english")
    assert (drawn(app)["layer"], drawn(app)["head"]) == ("decoder.2.self_attn", 3)
    chosen = sent(app, "whole_model_selection")
    assert (chosen["layer"], chosen["head"], chosen["token"]) == ("decoder.2.self_attn", 3, 1)
    assert (chosen["address"], chosen["kinds"]) == ({"model": "tiny-english", "text": TEXT}, ATTENTION_KINDS)
    assert chosen["says"] == {}
    lanes = [lane for zoom in ("", "block") for lane in drawn(open_page("whole_model", text=TEXT, zoom=zoom))["lanes"]]
    linked = {page for lane in lanes for column in lane["columns"] for page, _ in column["links"]}
    assert {"step_by_step", "feed_forward", "residual_stream", "normalisation"} <= linked <= set(chosen["pages"])
    encoder = sent(open_page("whole_model", model="french-english", kind="encoder"), "whole_model_selection")
    assert encoder["says"] == {}
    assert encoder["layer"].startswith("encoder.")


def test_what_is_reported_reaches_choices_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for (zoom, layer, head), expected in (
        (("block", "decoder.2.self_attn", 5), (2, 5, "block")),
        (("head", "decoder.0.self_attn", 0), (0, 0, "head")),
        (("model", "decoder.1.self_attn", 1), (1, 1, "")),
        (("<b>", "decoder.3.self_attn", 1), (3, 1, "")),
        (("block", "nowhere", 1), (4, 3, "block")),
    ):
        state: dict[str, Any] = {"layer": 4, "head": 3, "token": None}
        address: dict[str, str] = {}
        monkeypatch.setattr(st, "session_state", state)
        monkeypatch.setattr(st, "query_params", address)
        whole_model.follow({"zoom": zoom, "layer": layer, "head": head, "token": 2})
        assert (state["layer"], state["head"], address.get("zoom", "")) == expected
        assert (state["token"], address["token"]) == (2, "2")


def test_both_kinds_of_block_stand_one_below_the_other_and_two_sentences_each_with_its_text() -> None:
    app = open_page("whole_model", text=TEXT, beside="Post-norm, pre-norm", layer="1", model="twins-alibi")
    (post,), (pre,) = (drawn(app, f"block_{kind}_norm")["lanes"] for kind in ("post", "pre"))
    assert (post["title"], pre["title"]) == ("Post-norm, layer 1 of twins-postnorm", "Pre-norm, layer 1 of twins-rope")
    assert [column["title"] for column in post["columns"]] == ["X", "T¹", "T²", "T³", "a", "T⁴", "T⁵", "H"]
    assert [column["lines"] for column in post["columns"]][1:4] == [["SelfAttention(X)"], ["X + T¹"], ["LayerNorm(T²)"]]
    assert [column["title"] for column in pre["columns"]] == ["X", "T¹", "T²", "T³", "T⁴", "a", "T⁵", "H"]
    app = open_page("whole_model", text=TEXT, b="A dog ran.", **{"with": "another sentence"})
    for key, text in (("whole_model", TEXT), ("whole_model_b", "A dog ran.")):
        assert "".join(drawn(app, key)["lanes"][-1]["tokens"]).replace(" ", "") == text.replace(" ", "")


def test_the_token_clicked_in_either_block_is_the_one_that_both_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = []
    monkeypatch.setattr(whole_model, "show_view", lambda *_, on_report, **__: reports.append(on_report))
    open_page("whole_model", text=TEXT, beside="Post-norm, pre-norm")
    address: dict[str, str] = {}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    _, *of_blocks = reports
    assert len(of_blocks) == 2
    for report in of_blocks:
        followed = []
        for token in (5, 0, -1):
            report({"token": token})
            followed.append(address["token"])
        assert followed == ["5", "0", "0"]
