"""The residual-stream page: its numbers against an independent forward pass, its words, and odd input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, columns, matrices, open_page, pictures, series, spaces, views, words
from tests.model import numpy_model
from tests.pages import plain
from tests.pages.claims import told
from tests.pages.plain import MODEL, softmax
from tfmviz import zoo
from tfmviz.model.config import ModelConfig
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer

TEXT = "The cat sat on the mat."
TOKEN = 4
TABS = ("Lengths", "In space", "In context", "Logit lens", "The river", "Who made the word", "Two designs")


def page(tab: str, **address: str) -> AppTest:
    return open_page("residual_stream", stream=tab, **{"text": TEXT, "token": str(TOKEN)} | address)


def turn_to(app: AppTest, **state: str) -> None:
    """Changes what widgets say and runs the page again; much faster than a new session."""
    for key, value in state.items():
        app.session_state[key] = app.query_params[key] = value
    app.run()
    assert not app.exception
    assert all(app.session_state[key] == value for key, value in state.items())


def component(app: AppTest, name: str) -> Any:
    return json.loads(views(app)[name].json)


@cache
def independent() -> tuple[list[str], Array, Array]:
    """Vocabulary, streams (layer + 1, len, d_model) and logits (stage, len, vocab) from numpy alone."""
    vocabulary = Tokenizer.load(MODEL / "tokenizer.json").vocabulary
    (_, streams, logits), w = plain.forward(TEXT), plain.weights()
    read = [
        numpy_model.layer_norm(x, w["decoder.norm.weight"], w["decoder.norm.bias"]) @ w["embedding.W_E"].T
        for x in streams
    ]
    np.testing.assert_allclose(read[-1], logits, atol=1e-6)
    return list(vocabulary), streams, np.array(read)


def test_lengths_are_those_of_an_independent_forward_pass() -> None:
    shown = charts(app := page("Lengths"))
    assert {*shown, *matrices(app)} == {"growth", "lengths", "norms_before_after"}
    expected = np.linalg.norm(independent()[1], axis=-1)
    (rows,) = matrices(app)["lengths"]
    np.testing.assert_allclose(rows[::2], expected, rtol=1e-4)
    of_token = series(shown["growth"], "length", by="kind")["“the”"]
    np.testing.assert_allclose(of_token[::2], expected[:, TOKEN], rtol=1e-4)
    before = series(shown["norms_before_after"], "value", by="series")["before the norm"]
    np.testing.assert_allclose(before[::2], expected[:, TOKEN], rtol=1e-4)


def test_the_lens_shows_what_an_independent_read_out_says() -> None:
    vocabulary, _, logits = independent()
    p = softmax(logits)
    app = page("Logit lens")
    data = component(app, "lens")
    top = p.argmax(axis=-1)
    assert data["columns"] == ["embedding", *(f"after layer {n}" for n in range(6))]
    assert data["texts"] == [[vocabulary[index].removeprefix(" ") for index in column] for column in top.T]
    np.testing.assert_allclose(data["shades"], p.max(axis=-1).T, atol=0.001)
    turn_to(app, cells="rank of the answer")
    ranks = component(app, "lens")["texts"]
    for n, row in enumerate(ranks):
        order = (-logits[:, n]).argsort(axis=-1)
        expected = [int((stage == top[-1, n]).nonzero()[0][0]) + 1 for stage in order]
        assert [int(re.sub(r"\D", "", text)) for text in row] == expected
        arrows = ["", *(" ↑" if b < a else " ↓" if b > a else "" for a, b in pairwise(expected))]
        assert [re.sub(r"[\d,]", "", text) for text in row] == arrows


def test_entropy_and_distance_are_in_nats() -> None:
    p = softmax(independent()[2])
    log = np.log(p)
    app = page("Logit lens", cells="entropy")
    entropy = component(app, "lens")
    np.testing.assert_allclose(np.array(entropy["texts"], float), -(p * log).sum(axis=-1).T, atol=0.006)
    turn_to(app, cells="distance to the end")
    distance = component(app, "lens")
    expected = (p[-1] * (log[-1] - log)).sum(axis=-1).T
    np.testing.assert_allclose(np.array(distance["texts"], float), expected, atol=0.006)
    assert distance["scale"] == "amount"


def test_a_chosen_cell_shows_its_ten_best_words() -> None:
    vocabulary, _, logits = independent()
    app = page("Logit lens", read="3")
    assert component(app, "lens_selection")["column"] == 3
    bars = component(app, "lens_cell")
    p = softmax(logits[3, TOKEN])
    best = np.argsort(-p)[:10]
    assert [label for label, _, _ in bars] == [vocabulary[index].removeprefix(" ") for index in best]
    np.testing.assert_allclose([share for _, share, _ in bars], p[best], atol=1e-5)
    assert component(page("Logit lens", read="999"), "lens_selection")["column"] == 6
    assert component(page("Logit lens", read="x"), "lens_selection")["column"] == 3


def test_the_river_ends_at_the_length_of_the_final_vector() -> None:
    """Of the token that the address names, then of that which the box chooses."""
    app = page("The river")
    (residue,) = told(app, r"to within \*\*(\S+)\*\*")
    assert residue < 1e-4, "and most likely far less"
    assert "The 61 parts sum to the model's own vector" in words(app)
    assert len(columns(app, "parts")["part"]) == 61
    for token in (TOKEN, 1):
        app.selectbox(key="chosen_token").set_value(token).run()
        assert not app.exception
        length = np.linalg.norm(independent()[1][-1, token])
        assert charts(app)["river"]["tables"]["trail"]["end"][-1] == pytest.approx(length, rel=1e-4)


def test_who_made_the_word_sums_to_the_independent_logit() -> None:
    """Without a word it is the model's own answer."""
    vocabulary, _, logits = independent()
    app = page("Who made the word", word="dog", versus="house", layer="5", head="2")
    dog, house = vocabulary.index(" dog"), vocabulary.index(" house")
    difference = logits[-1, TOKEN, dog] - logits[-1, TOKEN, house]
    said = told(app, r"is \*\*(−?[\d.]+)\*\*; these parts sum to (−?[\d.]+),")
    assert said == pytest.approx([difference] * 2, abs=0.006)
    shown = charts(app)
    assert sum(shown["ranked"]["tables"]["rows"]["value"]) == pytest.approx(difference, abs=1e-3)
    header, (grid,) = pictures(app)["head_scores_map"]
    assert grid.shape == (6, 9)
    assert sum(shown["wrote"]["tables"]["rows"]["value"]) == pytest.approx(grid[5, 2], abs=1e-4)
    (frame,) = header["frames"]
    assert (frame["left"], frame["top"], frame["right"], frame["bottom"]) == (2, 5, 3, 6)
    answer = vocabulary[int(logits[-1, TOKEN].argmax())].strip()
    assert f"The logit of “{answer}” after token {TOKEN} “the”" in words(page("Who made the word"))


def test_a_word_that_is_not_one_token_is_answered_with_near_ones() -> None:
    for typed, said in (
        ("strawberies", "not a single token of this model, which reads it as"),
        ("老王", "“老王” is not a single token"),
        ("<img src=x onerror=alert(1)>", r"“\<img src=x onerror=alert\(1\)\>” is not a single token"),
    ):
        app = page("Who made the word", word=typed)
        assert said in app.warning[0].value
        assert "own answer" in app.caption[0].value
        assert {*charts(app), *matrices(app)} == {"head_scores_map", "ranked", "looked", "wrote"}
        for offered in re.findall(r"“([^”]+)”", app.warning[0].value.partition("nearest that are:")[2]):
            turn_to(app, word=offered.replace("\\", ""))
            assert not app.warning


def test_a_button_takes_the_reader_to_a_strong_head() -> None:
    app = page("Who made the word")
    label = app.button(key="look_at_0").label
    found = re.search(r"layer (\d), head (\d)", label)
    assert found
    app.button(key="look_at_0").click().run()
    assert (app.slider(key="layer").value, app.slider(key="head").value) == (int(found[1]), int(found[2]))
    assert f"**Layer {found[1]}, head {found[2]}** looked most at" in words(app)


def test_post_norm_is_said_to_be_no_plain_sum() -> None:
    app = page("The river", model="twins-postnorm")
    assert "norms rescale the stream" in words(app)
    assert any(step.endswith(" layer 3 MLP: norm") for step in charts(app)["river"]["tables"]["trail"]["step"])
    turn_to(app, stream="Who made the word")
    assert "8 for the embedding" in words(app)
    turn_to(app, stream="The river", model="twins-rope")
    assert "rescale the stream" not in words(app)


def test_the_twins_share_one_scale_and_label_the_five_tensors() -> None:
    app = page("Two designs")
    shown = charts(app)
    ends = [shown[name]["tables"]["ends"]["y"] for name in ("growth_pre", "growth_post")]
    largest = max(max(shown[name]["tables"]["rows"]["length"]) for name in ("growth_pre", "growth_post"))
    assert ends[0] == ends[1] == [0, pytest.approx(1.06 * largest)]
    table = app.table[0].value
    names = ["X", "T¹", "T²", "T³", "T⁴", "T⁵", "H"]
    assert [equation.split(" = ")[0] for equation in table["post-norm"]] == names
    assert table["post-norm"].iloc[3] == "T³ = LayerNorm(T²)"
    assert table["pre-norm"].iloc[3] == "T³ = X + T²"


def test_every_shipped_model_is_shown_on_every_tab() -> None:
    for name in zoo.available():
        app = open_page("residual_stream", model=name)
        for tab in TABS[:5]:
            turn_to(app, stream=tab)
            assert not app.error, (name, tab)
            assert "nan" not in words(app).lower().split(), (name, tab)
            assert charts(app) or spaces(app) or component(app, "lens"), (name, tab)


def test_other_shapes_are_shown(put_random_model: Callable[..., ModelConfig]) -> None:
    shapes: dict[tuple[str, ...], dict[str, Any]] = {
        ("encoder",): {"architecture": "encoder-only"},
        ("encoder", "decoder", "cross-attention"): {"architecture": "encoder-decoder", "norm_position": "post"},
        ("decoder",): {"n_heads": 1, "n_kv_heads": 1, "feed_forward": "none"},
    }
    for kinds, shape in shapes.items():
        put_random_model(kinds[-1], n_layers=2 if kinds == ("encoder",) else 1, **shape)
        for kind in kinds:
            app = open_page("residual_stream", text="the cat sat", model=kinds[-1], kind=kind)
            for tab in TABS:
                turn_to(app, stream=tab)
                assert not app.error, words(app)
            assert "needs the model `` twins-rope ``" in words(app)
            turn_to(app, stream="Who made the word")
            of_other_stream = "Heads of the encoder write into another stream" in words(app)
            assert of_other_stream is (kind == "encoder" and len(kinds) > 1)


def test_every_part_that_is_drawn_against_the_stream_is_counted() -> None:
    for name, text in (("french-english", "Le chat dort sur le lit."), ("fill-in", "The cat ___ on it.")):
        seen = 0
        for token in range(4):
            app = open_page("residual_stream", stream="The river", model=name, text=text, token=str(token))
            cosines = [float(c.replace("−", "-")) for c in re.findall(r"cosine ([−-]?\d\.\d\d|nan)", alt(app, "sizes"))]
            against, surely = (sum(cosine < limit for cosine in cosines) for limit in (-0.105, -0.095))
            said = re.search(r"(\d+|no) parts? points? against", words(app))
            assert said
            assert against <= int(said[1].replace("no", "0")) <= surely
            seen += surely
        assert seen


def test_the_paths_in_space_end_where_the_vectors_of_an_independent_pass_do() -> None:
    app = page("In space")
    (space,) = spaces(app)
    rows = space["layout"]["meta"]["values"]["rows"]
    _, vectors, _ = independent()
    stages, length, width = vectors.shape
    at = np.array([row[1:] for row in rows]).reshape(length, stages, 3).swapaxes(0, 1)
    flat = (vectors - vectors.mean(axis=(0, 1))).reshape(-1, width)
    _, _, directions = np.linalg.svd(flat, full_matrices=False)
    assert np.allclose(np.abs(at.reshape(-1, 3)), np.abs(flat @ directions[:3].T), atol=2e-3)
    cosines = vectors @ vectors[:, TOKEN, :, None] / np.linalg.norm(vectors, axis=-1)[..., None]
    tokens = [row[0] for row in rows[::stages]]
    for stage in (0, -1):
        cosines[stage, TOKEN] = -np.inf
        assert f"is most like {tokens[int(cosines[stage].argmax())]}" in words(app).replace("\\", "")


def test_a_path_is_turned_by_a_button_and_a_single_token_is_like_nobody() -> None:
    corner, above = (spaces(page("In space", seen_from=seen))[0]["layout"] for seen in ("a corner", "above"))
    assert corner["scene"]["camera"] != above["scene"]["camera"]
    assert corner["uirevision"] != above["uirevision"]
    assert "A single token has nothing to be like" in words(page("In space", text="a", token="0"))


def test_one_word_in_two_places_is_compared_layer_by_layer() -> None:
    """The streams are the numpy model's; without a choice the page finds the word that stands there twice."""
    text = "He left the house on the left."
    app = open_page("residual_stream", stream="In context", text=text)
    streams = plain.forward(text)[1]
    unit = streams / np.linalg.norm(streams, axis=-1, keepdims=True)
    drawn = series(charts(app)["in_context"])
    assert list(drawn) == ["each other", "left 6, its embedding", "left 1, its embedding", "any two tokens"]
    np.testing.assert_allclose(drawn["each other"], (unit[:, 1] * unit[:, 6]).sum(axis=-1), atol=1e-4)
    assert f"{drawn['each other'][-1]:.2f} after the last layer" in words(app)
    app = open_page("residual_stream", stream="In context", text=text, token="3", to="5")
    drawn = series(charts(app)["in_context"])
    np.testing.assert_allclose(drawn["each other"], (unit[:, 3] * unit[:, 5]).sum(axis=-1), atol=1e-4)
    assert "two embeddings" in words(app)
    assert "Type at least two tokens" in words(open_page("residual_stream", stream="In context", text="a"))


def test_two_sides_are_said_to_part_after_the_stage_from_which_on_their_words_differ() -> None:
    """Models of other depths have no stages in common."""
    others: list[dict[str, str]] = [{"b": "The boy sat on the"}, {"b": "The boy went to the"}]
    for b in (*others, {"with": "another model", "b_model": "fill-in"}):
        app = open_page("residual_stream", text="The boy went to the", **{"with": "another sentence"} | b)
        stages, *sides = columns(app, "side_lens").values()
        one, other = ([shown.rsplit(" ", 1)[0] for shown in side] for side in sides)
        differ = [a != b for a, b in zip(one, other, strict=True)]
        parts = next(n for n in range(len(stages) + 1) if all(differ[n:]))
        said = re.findall(r"They part (.+) and stay apart", words(app))
        assert said == ([stages[parts]] if "" not in other and parts < len(stages) else []), b


def test_what_a_part_takes_back_is_read_out_as_by_hand() -> None:
    """For “cat” head 5.6 writes against the first feed-forward layer; both go through the last norm and W_U."""
    app = page("The river", token="1")
    assert "**Layer 5, head 6 takes" in words(app)
    trace, raw = zoo.load("tiny-english").trace(TEXT), plain.weights()
    mlp = trace["decoder.0.mlp.out"][1].astype(float)
    W_O = raw["decoder.blocks.5.self_attn.W_O.weight"][:, 6 * 32 : 7 * 32]
    head = W_O @ trace["decoder.5.self_attn.z"][6, 1].astype(float)
    cosine = mlp @ head / np.linalg.norm(mlp) / np.linalg.norm(head)
    assert f"(cosine {cosine:.2f})".replace("-", "−") in words(app)
    assert f"takes {-(mlp @ head) / (mlp @ mlp):.1%} of layer 0, MLP back" in words(app)
    final = trace["decoder.5.resid_post"][1].astype(float)
    gain, W_U = raw["decoder.norm.weight"], raw["embedding.W_E"]
    raised, lowered = (W_U @ (gain * (x - x.mean()) / np.sqrt(final.var() + 1e-5)) for x in (mlp, head))
    vocabulary = [token.removeprefix(" ") for token in independent()[0]]
    best = sorted(np.flatnonzero(raised > 0).tolist(), key=lambda n: lowered[n])[:6]
    shown = columns(app, "deleted")
    assert shown["word"] == [vocabulary[n] for n in best]
    for name, values in (("layer 0, MLP", raised), ("layer 5, head 6", lowered)):
        np.testing.assert_allclose([float(x.replace("−", "-")) for x in shown[name]], values[best], atol=6e-3)
