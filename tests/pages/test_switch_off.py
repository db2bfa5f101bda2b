"""The page that switches parts off: its numbers against doctored weights, its address, odd input, other sessions."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

from tests.app import charts, forget, matrices, open_page, paired, pictures, series, views, words
from tests.model import numpy_model
from tests.pages.test_pages import put_random_model
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import models
from tfmviz.ui.switch_off import board, copying
from tfmviz.words.labels import END

MODEL = zoo.MODELS / "tiny-english"

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
    return Tokenizer.load(MODEL / "tokenizer.json").encode(TEXT, max_len=256).ids


@pytest.fixture(scope="module")
def doctored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with head 5 of layer 0 and the MLP of layer 2 cut out of its weights: nothing reads their columns."""
    folder = tmp_path_factory.mktemp("doctored")
    shutil.copytree(MODEL, folder, dirs_exist_ok=True)
    weights = {name: value.copy() for name, value in load_file(MODEL / "model.safetensors").items()}
    weights["decoder.blocks.0.self_attn.W_O.weight"][:, 5 * 32 : 6 * 32] = 0
    for part in ("weight", "bias"):
        weights[f"decoder.blocks.2.mlp.W_out.{part}"][:] = 0
    save_file(weights, folder / "model.safetensors")
    return folder


def softmax(logits: Array) -> Array:
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


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


def test_numbers_are_those_of_a_model_whose_weights_lack_the_parts(ids: tuple[int, ...], doctored: Path) -> None:
    old, new = losses(MODEL, ids), losses(doctored, ids)
    last = str(len(ids) - 1)
    app = open_page(PAGE, text=TEXT, off="d0.5,dm2", removed="Loss", token=last)
    said = words(app)
    assert f"**{old.mean():.2f}** nats in A, **{new.mean():.2f}** in B, with 0.5, MLP 2 off" in said
    one, other = series(charts(app)["losses"], "value", by="series").values()
    np.testing.assert_allclose(one, old, atol=1e-3)
    np.testing.assert_allclose(other, new, atol=1e-3)
    app = open_page(PAGE, text=TEXT, off="d0.5,dm2", token=last)
    bars = [b for _, b in paired(app)[1].values()]
    p = softmax(numpy_model.forward(doctored, ids)[2][-1])
    vocabulary = Tokenizer.load(MODEL / "tokenizer.json").vocabulary
    best = int(p.argmax())
    assert max(bars) == pytest.approx(p[best], abs=1e-4)
    assert re.search(rf"(both expect|, B) “\S*{re.escape(vocabulary[best].strip('<|>'))}", words(app))


def test_the_map_agrees_with_doctored_weights(ids: tuple[int, ...], tmp_path: Path) -> None:
    app = open_page(PAGE, text=TEXT, removed="Every part in turn")
    found = matrices(app)["damage_map"][0]
    assert found.shape == (6, 9)
    shutil.copytree(MODEL, tmp_path, dirs_exist_ok=True)
    weights = {name: value.copy() for name, value in load_file(MODEL / "model.safetensors").items()}
    weights["decoder.blocks.4.self_attn.W_O.weight"][:, 3 * 32 : 4 * 32] = 0
    save_file(weights, tmp_path / "model.safetensors")
    assert found[4, 3] == pytest.approx(losses(tmp_path, ids).mean() - losses(MODEL, ids).mean(), abs=1e-3)
    worst = np.unravel_index(found[:, :8].argmax(), (6, 8))
    assert f"**{worst[0]}.{worst[1]}** (+" in words(app)
    assert f"For {(found[:, :8] <= 0).sum()} of 48 heads the loss does not grow" in words(app)
    spared = [f"{layer}.{head}" for layer, head in np.argwhere(found[:, :8] <= 0)]
    assert app.button(key="spared").label == f"Switch off all {len(spared)} that cost nothing alone"
    app.button(key="spared").click().run()
    assert off(app) == spared
    app.button(key="worst").click().run()
    assert off(app) == [f"{worst[0]}.{worst[1]}"]


def test_the_choice_is_in_the_address_and_starts_with_the_sidebars_head() -> None:
    app = open_page(PAGE, text=TEXT, layer="3", head="4")
    assert off(app) == ["3.4"]
    other = open_page(PAGE, text=TEXT, off="d3.4,dm1,dl5")
    assert off(other) == ["MLP 1", "3.4", "layer 5"]  # row by row
    nothing = open_page(PAGE, text=TEXT, off="none")
    assert off(nothing) == []
    assert "Everything is on" in words(nothing)


def test_where_nothing_is_off_no_word_suffers() -> None:
    app = open_page(PAGE, text=TEXT, off="none", removed="Loss")
    assert "No word surprises the model more than before" in words(app)
    assert "suffers most" not in words(app)
    assert "suffers most" in words(open_page(PAGE, text=TEXT, off="dl0", removed="Loss"))


def test_nonsense_in_the_address_is_the_sidebars_head() -> None:
    for nonsense in ("", "<b>", "d1.2,", "x1.2", "d1.2;dm0", "d" * 4000, "d99999.1", "none,d1.2"):
        assert not board.OFF.fullmatch(nonsense)
    assert off(open_page(PAGE, text=TEXT, off="d1.3,<b>")) == ["3.2"]


def test_a_part_the_model_lacks_is_named_and_the_rest_holds() -> None:
    app = open_page(PAGE, text=TEXT, off="d1.2,d77.1,c0.1")
    assert off(app) == ["1.2"]
    assert "`` c0.1 ``" in app.info[0].value
    assert "`` d77.1 ``" in app.info[0].value


@pytest.mark.parametrize("off", [",".join(f"dl{n}" for n in range(6)), "heads"])
def test_everything_off_is_shown_with_a_sentence(off: str) -> None:
    if off == "heads":
        off = ",".join([f"d{layer}.{head}" for layer in range(6) for head in range(8)] + [f"dm{n}" for n in range(6)])
    app = open_page(PAGE, text=TEXT, off=off)
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
    before, mean = model.trace(TEXT), reference["decoder.2.mlp.out"].mean(axis=0)
    from tfmviz.record.edits import Patch

    attention = reference["decoder.2.self_attn.out"].mean(axis=0)
    edits = (
        Patch(site="decoder.2.self_attn.out", vector=tuple(attention.tolist())),
        Patch(site="decoder.2.mlp.out", vector=tuple(mean.tolist())),
    )
    p = softmax(model.trace(TEXT, edits)["logits"].astype(np.float64))
    loss = -np.log(p[np.arange(6), before.target.ids[1:]]).mean()
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


def test_all_heads_hear_of_a_part_that_is_off_but_those_before_it_and_a_click_leaves_it_off(doctored: Path) -> None:
    app = open_page(PAGE, text=TEXT, off="d0.5,dm2", removed="Attention", layer="3", head="6")
    ids = models.load("tiny-english").encode(TEXT).ids
    patterns = [numpy_model.forward(folder, ids)[0] for folder in (MODEL, doctored)]
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


def tabs(app: AppTest) -> Iterator[str]:
    """Opens one tab after the other."""
    for tab in TABS:
        app.session_state["removed"] = tab
        app.run()
        assert not app.exception
        assert not app.error, words(app)
        yield tab


@pytest.mark.parametrize("text", ["a", "👩‍👩‍👧 says 老王", "<img src=x onerror=alert(1)> $x$ **b**"])
def test_odd_texts_do_not_break_a_tab(text: str) -> None:
    for _ in tabs(app := open_page(PAGE, text=text, model="twins-rope")):
        assert "nan" not in words(app).lower().split()
        assert "NaN" not in json.dumps(charts(app))
        assert all(np.isfinite(values).any() for values in matrices(app).values())


@pytest.mark.parametrize("architecture", ["encoder-only", "encoder-decoder", "decoder-only"])
def test_other_models_are_shown(architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder-only one has one layer, one head, no MLP and norms after the sum."""
    forget()
    small = {"feed_forward": "none", "norm_position": "post"}
    shape = small if architecture == "decoder-only" else {"n_layers": 2, "n_heads": 3, "n_kv_heads": 3}
    put_random_model(tmp_path / "small", architecture=architecture, **shape)
    monkeypatch.setattr(zoo.catalogue, "__defaults__", (tmp_path,))
    monkeypatch.setattr(zoo.load, "__defaults__", (tmp_path,))
    app = open_page(PAGE, text="the cat sat")
    drawn = {tab: [*charts(app), *matrices(app), *({"next_words"} & set(views(app)))] for tab in tabs(app)}
    forget()
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


@pytest.mark.parametrize(
    ("text", "expected"), [("The cat, the dog", "The dog, the dog"), ("catalogue", None), ("", None)]
)
def test_one_whole_word_is_exchanged(text: str, expected: str | None) -> None:
    assert copying.exchanged(text) == expected


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
    tokenizer = Tokenizer.load(MODEL / "tokenizer.json")
    for pair in copying.PAIRS:
        assert len({len(tokenizer.encode(text, max_len=256)) for text in pair}) == 1
