"""What the page that switches parts off says: each sentence is true of the numbers beside it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, paired, words
from tests.pages.claims import told
from tfmviz.analysis import patching
from tfmviz.analysis.patching import Copied
from tfmviz.model.config import ModelConfig
from tfmviz.record.trace import Array
from tfmviz.ui import models
from tfmviz.ui.switch_off import board, copying, every_part
from tfmviz.words import markdown
from tfmviz.words.labels import visible

TEXT = "The cat sat on the mat."
COPY, MAP, POINTS = "Copy from another sentence", "Every part in turn", "Do sharp heads matter?"
WRITES = [name for name, kind in copying.COPIED.items() if kind in ("self_attn.out", "mlp.out")]
CARRIED = "attention has carried"


def opened(tab: str, text: str = TEXT, **address: str) -> AppTest:
    return open_page("switch_off", text=text, removed=tab, **address)


def last_token(text: str) -> str:
    return str(len(models.load("tiny-english").trace(text).tokens) - 1)


def story(
    values: Array, tokens: list[tuple[str, str]], *, copied: Copied = "resid_pre", beside_encoder: bool = False
) -> str:
    return copying._story(values, tokens, copied=copied, beside_encoder=beside_encoder)


def test_answers_are_what_the_runs_answer() -> None:
    model, alike = models.load("tiny-english"), set()
    for pair in copying.PAIRS:
        rows = [model.trace(text)["logits"][-1] for text in pair]
        best, compared = (
            [f"“{markdown.plain(visible(model.vocabulary[index]))}”" for index in two]
            for two in (patching.favourites(*rows), patching.answers(*rows))
        )
        said = words(opened(COPY, pair[0], other=pair[1], token=last_token(pair[0])))
        alike.add(best[0] == best[1])
        assert ("sentence's answer is" in said) == (best[0] != best[1]), pair
        if best[0] != best[1]:
            assert f"Your sentence's answer is {best[0]}, the second's {best[1]}." in said
        else:
            assert f"Both runs answer {best[0]}. Compared, your sentence favours {compared[0]}, the second" in said
    assert alike == {True, False}


def test_what_a_layer_writes_does_not_show_where_the_difference_went() -> None:
    for one, other in copying.PAIRS:
        for copied in WRITES:
            app = opened(COPY, one, other=other, copied=copied, token=last_token(one))
            said, largest = words(app), matrices(app)["recovered"][0].max(axis=1)
            assert CARRIED not in said
            assert "stored" not in said
            assert not re.search(r"[-−]0%|\b0%", said), one
            named = [int(layer) for layer in re.findall(r"[Ii]n layer (\d)", said)]
            assert named[0] == np.flatnonzero(largest >= copying.FAINT)[0], one
            assert all(largest[layer] >= copying.FAINT for layer in named), one


def test_the_stream_shows_where_attention_took_the_difference() -> None:
    said = words(opened(COPY, copying.PAIRS[0][0], other=copying.PAIRS[0][1], token=last_token(copying.PAIRS[0][0])))
    assert re.search(r"in layer 5 the one at token 9 “named” \(\d\d%\): " + CARRIED, said)


def test_in_a_decoder_cross_attention_brings_the_difference_in() -> None:
    address = {"model": "french-english", "other": "Le chien dort.", "token": "1"}
    for kind in ("decoder", "cross-attention"):
        app = opened(COPY, "Le chat dort.", **address, kind=kind)
        np.testing.assert_allclose(matrices(app)["recovered"][0][0], 0, atol=1e-6)
        said = words(app)
        assert "Layer 0 of the decoder reads the same tokens in both runs: cross-attention brings" in said
        assert "In layer 0" not in said
        assert CARRIED not in said
        assert not re.search(r"[-−]0%|\b0%", said)
        app = opened(COPY, "Le chat dort.", **address, kind=kind, copied="what cross-attention writes")
        assert "reads the same tokens" not in words(app)


def test_a_story_tells_of_no_faint_layer() -> None:
    same = [("a", "a"), ("b", "c"), ("d", "d")]
    values = np.array([[0, 0.9, 0], [0.01, 0.02, 0.09], [0, 0.2, 0.8], [0, 0.1, 0.7], [-0.1, -0.2, -0.001]])
    said = story(values, same)
    assert "In layer 0 the copy at token 1 “b” does most (90% of the way), in layer 3 the one at" in said
    assert said.endswith("token 2 “d” (70%): attention has carried the difference there.")
    assert CARRIED not in story(values, [*same[:2], ("d", "e")])  # it was there from the beginning
    assert CARRIED not in story(values, same, copied="mlp.out")
    assert CARRIED not in story(values, same, beside_encoder=True)
    assert story(values[:2], same).endswith("No copy in another layer goes 10% of the way.")
    assert story(values[[0, 0]], same).endswith("does most: 90% of the way in both.")


def test_heads_that_hurt_are_not_said_to_matter_little() -> None:
    app = opened(MAP, "I am happy", model="induction")
    heads = matrices(app)["damage_map"][0][:, :4]
    layer, head = np.unravel_index(heads.argmin(), heads.shape)
    assert heads.min() < -every_part.LITTLE
    said = words(app)
    assert f"For {(heads <= 0).sum()} of 8 heads the loss does not grow; with **{layer}.{head}** off it" in said
    assert f"off it changes by −{-heads.min():.3f} nats" in said
    assert "matter little" not in said
    assert ("others may do the same work" in said) == (abs(heads) < every_part.LITTLE).any()
    assert "others may do the same work, or this text" in words(opened(MAP))


def test_one_head_is_written_as_one(put_random_model: Callable[..., ModelConfig]) -> None:
    put_random_model(n_layers=1, n_heads=1, n_kv_heads=1)
    app = opened(MAP, "the cat sat")
    grown = matrices(app)["damage_map"][0][0, 0] > 0
    said = "With any of the heads off the model does worse." if grown else "For 1 of 1 head the loss does not grow"
    assert said in words(app)
    assert app.button(key="spared").label == "Switch off 0.0 only"


def test_what_is_done_to_a_part() -> None:
    for way, one, two in (
        (board.Way(how="zero"), "off", "off"),
        (board.Way(how="mean"), "at its mean", "at their means"),
        (board.Way(how="scaled", factor=2.0), "× 2", "each × 2"),
        (board.Way(how="scaled", factor=-0.3), "× −0.3", "each × −0.3"),
        (board.Way(how="scaled", factor=0.0), "off", "off"),
    ):
        assert (way.done(1), way.done(2)) == (one, two)


def test_a_part_that_is_doubled_is_not_said_to_be_off() -> None:
    doubled = {"how": "scaled", "factor": "2.0", "off": "d0.1"}
    for tab, expected in (
        ("Next word", "with 0.1 × 2: "),
        ("Loss", "with 0.1 × 2: "),
        ("What it writes", "with 0.1 × 2: "),
        (MAP, "surprises the model more with this part × 2"),
        (POINTS, "The rank correlation is"),
    ):
        app = opened(tab, **doubled)
        assert expected in words(app)
        assert not re.search(r"\d off|parts? off|these off|without (this|it)", words(app))
        if tab == MAP:
            assert app.button(key="worst").label.startswith("Change ")
        if tab == "Next word":
            assert paired(app)[0] == ["A, whole model", "B, with the part × 2"]
        if tab == POINTS:
            assert "change of the loss with it × 2, in nats" in str(charts(app)["look_and_matter"]["spec"])


def test_where_nothing_is_changed_no_part_is_missed() -> None:
    unchanged = {"how": "scaled", "factor": "1.0"}
    app = opened(MAP, **unchanged)
    assert (np.nan_to_num(matrices(app)["damage_map"]) == 0).all()
    said = words(app)
    assert "No part is missed here" in said
    assert "grows most" not in said
    assert "it shrinks" not in said
    said = words(opened(POINTS, **unchanged))
    assert "No head is missed here" in said
    assert "Number 1 is" not in said


def test_equal_heads_have_one_order() -> None:
    """Of equal heads the first comes first, as on the map, whatever the sort does with many of them."""
    for seed in range(5):
        random = np.random.default_rng(seed)
        lost, sharpness = random.integers(0, 3, 47) / 4, random.random(47)
        sharpest = int(sharpness.argmax())
        place = (lost > lost[sharpest]).sum() + (lost[:sharpest] == lost[sharpest]).sum() + 1
        names = [f"0.{n}" for n in range(47)]
        said = every_part._place(sharpness, lost, names, "the next word", board.Way(how="zero"))
        assert f"it is number {place} of 47. Number 1 is **0.{lost.argmax()}**" in said


def test_a_model_that_fills_in_predicts_in_the_place_of_a_token() -> None:
    for tab in ("Next word", "Loss", "What it writes", MAP, POINTS, COPY):
        assert not re.search(r"After “|next word of|the next word surprises", words(opened(tab, model="fill-in")))
    app = opened("Next word", model="fill-in")
    assert "In the place of “" in words(app)


def test_a_part_without_which_the_sentence_is_predicted_better_is_said_to_be_one() -> None:
    for off, better in (("d4.0", False), ("d2.7", True)):
        app = opened("Loss", off=off)
        a, b = told(app, r"\*\*(\d\.\d\d)\*\* nats in A, \*\*(\d\.\d\d)\*\* in B, with")
        assert (b < a) == better
        assert ("predicts this sentence **better** with the part off" in words(app)) == better
