"""The page that switches parts off: its numbers against doctored weights, its address, odd input, other sessions."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, paired, pictures, series, views, words
from tests.model import numpy_model
from tests.pages import plain
from tests.pages.plain import MODEL, softmax
from tests.pages.test_odd_texts import ODD
from tfmviz import zoo
from tfmviz.model.config import ModelConfig
from tfmviz.record.edits import Patch
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import models
from tfmviz.ui.switch_off import board, copying
from tfmviz.words.labels import END

TEXT = "The cat sat on the mat."
PAGE = "switch_off"

TABS = (
    "Next word",
    "Loss",
    "What it writes",
    "Attention",
    "Every part in turn",
    "Do sharp heads matter?",
    "Copy from another sentence",
)


@pytest.fixture(scope="module")
def ids() -> tuple[int, ...]:
    return plain.ids_of(TEXT)


def doctored(folder: Path, **cut: Any) -> Path:
    """The model without what `cut` names: a matrix, or some of its columns, which then nothing reads."""
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    weights = {name: value.copy() for name, value in load_file(MODEL / "model.safetensors").items()}
    for name, columns in cut.items():
        weights[f"decoder.blocks.{name}"][..., columns] = 0
    save_file(weights, folder / "model.safetensors")
    return folder


@pytest.fixture(scope="module")
def without_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without head 5 of layer 0 and the MLP of layer 2."""
    mlp = {f"2.mlp.W_out.{part}": slice(None) for part in ("weight", "bias")}
    return doctored(tmp_path_factory.mktemp("doctored"), **mlp | {"0.self_attn.W_O.weight": slice(5 * 32, 6 * 32)})


def losses(folder: Path, ids: tuple[int, ...]) -> Array:
    p = softmax(numpy_model.forward(folder, ids)[2])
    return -np.log(p[np.arange(len(ids) - 1), ids[1:]])


def off(app: AppTest) -> list[str]:
    """What the board says is off, by name."""
    codes = json.loads(views(app)["parts_selection"].json)["off"].split(",")
    rows = json.loads(views(app)["parts"].json)["rows"]
    names = [part[1] for row in rows for part in row["parts"] if part and part[0] in codes]
    assert len(names) == len([code for code in codes if code])
    return names


def test_numbers_are_those_of_a_model_whose_weights_lack_the_parts(ids: tuple[int, ...], without_two: Path) -> None:
    old, new = losses(MODEL, ids), losses(without_two, ids)
    address = {"off": "d0.5,dm2", "token": str(len(ids) - 1)}
    app = open_page(PAGE, text=TEXT, removed="Loss", **address)
    assert f"**{old.mean():.2f}** nats in A, **{new.mean():.2f}** in B, with 0.5, MLP 2 off" in words(app)
    drawn = series(charts(app)["losses"], "value", by="series").values()
    for shown, expected in zip(drawn, (old, new), strict=True):
        np.testing.assert_allclose(shown, expected, atol=1e-3)
    app = open_page(PAGE, text=TEXT, **address)
    p = softmax(numpy_model.forward(without_two, ids)[2][-1])
    best = int(p.argmax())
    assert max(b for _, b in paired(app)[1].values()) == pytest.approx(p[best], abs=1e-4)
    word = Tokenizer.load(MODEL / "tokenizer.json").vocabulary[best].strip("<|>")
    assert re.search(rf"(both expect|, B) “\S*{re.escape(word)}", words(app))


def test_the_map_agrees_with_doctored_weights(ids: tuple[int, ...], tmp_path: Path) -> None:
    app = open_page(PAGE, text=TEXT, removed="Every part in turn")
    found = matrices(app)["damage_map"][0]
    assert found.shape == (6, 9)
    without = doctored(tmp_path, **{"4.self_attn.W_O.weight": slice(3 * 32, 4 * 32)})
    assert found[4, 3] == pytest.approx(losses(without, ids).mean() - losses(MODEL, ids).mean(), abs=1e-3)
    worst = "{}.{}".format(*np.unravel_index(found[:, :8].argmax(), (6, 8)))
    assert f"**{worst}** (+" in words(app)
    spared = [f"{layer}.{head}" for layer, head in np.argwhere(found[:, :8] <= 0)]
    assert f"For {len(spared)} of 48 heads the loss does not grow" in words(app)
    assert app.button(key="spared").label == f"Switch off all {len(spared)} that cost nothing alone"
    for button, gone in (("spared", spared), ("worst", [worst])):
        app.button(key=button).click().run()
        assert off(app) == gone


def test_the_choice_is_in_the_address_and_starts_with_the_chosen_head() -> None:
    assert off(open_page(PAGE, text=TEXT, layer="3", head="4")) == ["3.4"]
    assert off(open_page(PAGE, text=TEXT, off="d3.4,dm1,dl5")) == ["MLP 1", "3.4", "layer 5"]  # row by row
    nothing = open_page(PAGE, text=TEXT, off="none")
    assert off(nothing) == []
    assert "Everything is on" in words(nothing)


def test_where_nothing_is_off_no_word_suffers() -> None:
    app = open_page(PAGE, text=TEXT, off="none", removed="Loss")
    assert "No word surprises the model more than before" in words(app)
    assert "suffers most" not in words(app)
    assert "suffers most" in words(open_page(PAGE, text=TEXT, off="dl0", removed="Loss"))


def test_nonsense_in_the_address_is_the_chosen_head() -> None:
    for nonsense in ("", "<b>", "d1.2,", "x1.2", "d1.2;dm0", "d" * 4000, "d99999.1", "none,d1.2"):
        assert not board.OFF.fullmatch(nonsense)
    assert off(open_page(PAGE, text=TEXT, off="d1.3,<b>")) == ["3.2"]


def test_a_part_the_model_lacks_is_named_and_the_rest_holds() -> None:
    app = open_page(PAGE, text=TEXT, off="d1.2,d77.1,c0.1")
    assert off(app) == ["1.2"]
    assert "`` c0.1 ``" in app.info[0].value
    assert "`` d77.1 ``" in app.info[0].value


def test_everything_off_is_shown_with_a_sentence() -> None:
    layers, mlps = (",".join(f"d{part}{n}" for n in range(6)) for part in "lm")
    heads = ",".join(f"d{layer}.{head}" for layer in range(6) for head in range(8))
    for everything in (layers, f"{heads},{mlps}"):
        app = open_page(PAGE, text=TEXT, off=everything)
        assert "Everything is off" in app.warning[0].value
        assert not app.error


def test_two_sessions_at_once_do_not_mix() -> None:
    one = open_page(PAGE, text=TEXT, off="dl0")
    other = open_page(PAGE, text=TEXT, off="dm1", how="mean")
    said = words(one), words(other)
    assert said[0] != said[1]
    other.query_params["off"] = "dm1,dl3"
    other.run()
    one.run()
    assert words(one) == said[0]
    assert (off(one), off(other)) == (["layer 0"], ["MLP 1", "layer 3"])
    other.query_params["off"] = "dm1"
    other.run()
    assert words(other) == said[1]
    assert not models.trace(models.load("tiny-english"), TEXT).edits


def test_scaling_by_one_and_the_mean_are_what_they_say() -> None:
    app = open_page(PAGE, text=TEXT, off="dl2", how="scaled", factor="1.0")
    assert "in B, with layer 2 × 1: +0.000" in words(app)
    app = open_page(PAGE, text=TEXT, off="dl2", how="mean", reference="My dog ran.")
    model = models.load("tiny-english")
    reference = model.trace("My dog ran.")
    sites = ("decoder.2.self_attn.out", "decoder.2.mlp.out")
    edits = tuple(Patch(site=site, vector=tuple(reference[site].mean(axis=0).tolist())) for site in sites)
    p = softmax(model.trace(TEXT, edits)["logits"].astype(np.float64))
    loss = -np.log(p[np.arange(6), plain.ids_of(TEXT)[1:]]).mean()
    assert f"**{loss:.2f}** in B, with layer 2 at its mean" in words(app)


def test_an_encoder_decoder_writes_before_and_after() -> None:
    model = models.load("reverse")
    app = open_page(PAGE, model="reverse", text="stressed", off="em0,c0.1", removed="What it writes")
    a, b = ("".join(texts) for texts in boxes(app))
    assert a == zoo.writing.generate(model, "stressed").text + END == "desserts" + END
    assert b not in (a, END)
    at = next(n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other)
    assert f"They part at token {at + 1}: A writes “{a[at]}”, B “{b[at]}”." in words(app)
    assert off(app) == ["encoder MLP 0", "cross 0.1"]
    rows = json.loads(views(app)["parts"].json)["rows"]
    assert [[part and part[1] for part in (row["parts"][0], row["parts"][-1])] for row in rows] == [
        ["encoder layer 0", "encoder MLP 0"],
        ["decoder layer 0", None],
        [None, "decoder MLP 0"],
    ]
    app = open_page(PAGE, model="reverse", text="stressed", removed="Every part in turn")
    assert pictures(app)["damage_map"][0]["rows"]["names"] == ["encoder 0", "decoder 0", "cross-attention 0"]


def boxes(app: AppTest) -> list[list[str]]:
    """What A and what B writes, token by token."""
    return [[text for text, *_ in row["pieces"]] for row in json.loads(views(app)["side_rows"].json)["rows"]]


def test_all_heads_hear_of_a_part_that_is_off_but_those_before_it(ids: tuple[int, ...], without_two: Path) -> None:
    app = open_page(PAGE, text=TEXT, off="d0.5,dm2", removed="Attention", layer="3", head="6")
    patterns = [numpy_model.forward(folder, ids)[0] for folder in (MODEL, without_two)]
    shown = matrices(app)
    for key, of_run in zip(("side_a", "side_b"), patterns, strict=True):
        np.testing.assert_allclose(shown[key][0], np.where(np.tri(len(ids)) > 0, of_run[3, 6], np.nan), atol=1e-3)
    moved = 0.5 * np.abs(patterns[1] - patterns[0]).sum(axis=-1).mean(axis=-1)  # (layer, head)
    np.testing.assert_allclose(shown["side_heads"][0], moved, atol=1e-3)
    assert (shown["side_heads"][0][0] == 0).all()
    layer, head = np.unravel_index(moved.argmax(), moved.shape)
    assert f"The head that changes most is layer {layer}, head {head}" in words(app)
    assert "looks as before" not in words(app)
    itself = open_page(PAGE, text=TEXT, off="d0.5", removed="Attention", layer="0", head="5")
    assert "Head 0.5 **looks as before**" in words(itself)


def test_every_figure_of_an_odd_text_holds_a_number() -> None:
    for text in ODD[:2]:
        for tab in TABS:
            app = open_page(PAGE, text=text, model="twins-rope", removed=tab)
            assert not app.error, tab
            assert "NaN" not in json.dumps(charts(app)), tab
            assert all(np.isfinite(values).any() for values in matrices(app).values()), tab


def test_other_models_are_shown(put_random_model: Callable[..., ModelConfig]) -> None:
    """The decoder-only one has one layer, one head, no MLP and norms after the sum."""
    small = {"feed_forward": "none", "norm_position": "post", "n_layers": 1, "n_heads": 1, "n_kv_heads": 1}
    for architecture in ("encoder-only", "encoder-decoder", "decoder-only"):
        put_random_model(architecture, architecture=architecture, **small if architecture == "decoder-only" else {})
        drawn = {}
        for tab in TABS:
            app = open_page(PAGE, text="the cat sat", model=architecture, removed=tab)
            assert not app.error, words(app)
            drawn[tab] = [*charts(app), *matrices(app), *({"next_words"} & set(views(app)))]
        assert drawn["Next word"] == ["next_words"]
        assert drawn["Loss"] == ([] if architecture == "encoder-only" else ["losses"])
        assert {"side_a", "side_b", "side_difference", "side_heads"} <= set(drawn["Attention"])
        assert drawn["Every part in turn"] == ["damage_map"]
        assert drawn["Do sharp heads matter?"] == ([] if architecture == "decoder-only" else ["look_and_matter"])
        assert drawn["Copy from another sentence"] == ["recovered"]


def test_copying_uses_the_readers_pair_and_says_where_the_difference_is() -> None:
    app = open_page(PAGE, text="Once there was a little girl named", removed="Copy from another sentence")
    assert "Your sentence's answer is “Lily”, the second's “Tim”" in words(app)
    found = matrices(app)["recovered"][0]
    assert found[0, 5] == pytest.approx(1, abs=1e-3)
    assert "In layer 0 the copy at token 5 “girl” does most (100% of the way)" in words(app)
    assert pictures(app)["recovered"][0]["columns"]["names"][5] == "girl / boy"
    app.selectbox(key="pair").set_value(1).run()
    assert app.text_area(key="text").value == copying.PAIRS[1][0]
    assert app.text_input(key="other").value == copying.PAIRS[1][1]


def test_sentences_that_cannot_be_compared_are_told_why() -> None:
    def warned(text: str, other: str) -> str:
        return open_page(PAGE, text=text, other=other, removed="Copy from another sentence").warning[0].value

    assert "has 7 tokens (The·cat·sat·on·the·mat·\\.), the second has 3 (A·dog·\\.)" in warned(TEXT, "A dog.")
    assert f"at most {copying.MAX_TOKENS}" in warned(" dog" * 60, " cat" * 60)
    app = open_page(PAGE, text=TEXT, other=TEXT, removed="Copy from another sentence")
    assert any("get the same answer" in note.value for note in app.info)
    app = open_page(PAGE, text="Zyx qvw", removed="Copy from another sentence")
    assert any("Type a second sentence" in note.value for note in app.info)


def test_one_whole_word_is_exchanged() -> None:
    texts = {"The cat, the dog": "The dog, the dog", "catalogue": None, "": None}
    assert {text: copying.exchanged(text) for text in texts} == texts


def test_where_no_copy_does_much_the_page_says_so() -> None:
    """A decoder's own stream does not know the source before its cross-attention."""
    app = open_page(
        PAGE, model="reverse", text="attention", removed="Copy from another sentence", kind="cross-attention"
    )
    assert "No copy goes 10% of the way" in words(app)
    np.testing.assert_allclose(matrices(app)["recovered"][0], 0, atol=1e-4)
    app.radio(key="copied").set_value("what cross-attention writes").run()
    assert matrices(app)["recovered"][0][0, -1] > 0.5


def test_pairs_have_as_many_tokens() -> None:
    assert [pair for pair in copying.PAIRS if len({len(plain.ids_of(text)) for text in pair}) > 1] == []
