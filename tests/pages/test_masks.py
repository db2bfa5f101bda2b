"""The mask page: its masks, what they do to the model, and what becomes of odd ones."""

import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, columns, lesson, matrices, open_page, pictures, views, words
from tests.pages import plain
from tfmviz import masks, zoo
from tfmviz.analysis import mask_effect
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Array
from tfmviz.ui import masks as lab
from tfmviz.ui import models
from tfmviz.ui.masks import effects, facts
from tfmviz.views import masks as view

TEXT = "The cat sat on the mat."
LENGTH = 7
LAYER = "decoder.1.self_attn"
EFFECTS = ("Attention", "Next word", "Loss", "Reach", "Kinds", "Quiz")
STARTS = ("full", "causal", "strict", "prefix", "window", "dilated", "blocks", "global", "random", "bigbird")
SAID = lab.Settings(
    second="My dog ran.", back=False, n_prefix=2, radius=1, step=2, size=3, n_global=1, n_random=1, seed=0
)


def parts(app: AppTest) -> list[dict[str, Any]]:
    """Data and selection of the laboratory."""
    others = ("tfmviz_cells", "tfmviz_counts")
    return [json.loads(proto.json) for proto in views(app).values() if proto.component_name not in others]


def some_mask(rows: int, columns: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).random((rows, columns)) < 0.5


def chosen(mask: Array, start: str = "full") -> lab.Chosen:
    return lab.Chosen(start=start, mask=mask, usable=mask, empty=[])


def test_a_mask_survives_its_way_in_few_characters_and_nonsense_and_a_bomb_are_none() -> None:
    for shape in ((1, 1), (3, 5), (24, 24), (7, 11), (60, 7)):
        mask = some_mask(*shape)
        found = [view.from_bits(view.to_bits(mask), shape)]
        if mask.any():
            found.append(view.expand(view.compact(mask), shape))
        assert all(again is not None and np.array_equal(again, mask) for again in found), shape
    changed = np.zeros((128, 128), dtype=bool)
    assert view.compact(changed) == ""
    changed[5, 7] = changed[100, :] = True
    assert len(view.compact(changed)) < 80
    bomb = view.compact(np.ones((3000, 3000), dtype=bool))
    odd = ("", "!", "AAAA", "é", "x" * 20_000, "eJwDAAAAAAE", view.compact(some_mask(8, 8, 1)), bomb)
    assert [text for text in odd if view.expand(text, (7, 7)) is not None] == []


def test_the_gallery_holds_what_its_settings_say_and_across_two_texts_no_causal_mask() -> None:
    examples = lab.gallery(6, 6, SAID, second_len=4, crossing=False)
    found, said = ({one.id: one.mask for one in examples}, {one.id: one.words for one in examples})
    assert "keys 2, 4 … positions away, at most 1 on each side" in said["dilated"]
    assert tuple(found) == ("full", "causal", "strict", "padding", "prefix", *STARTS[4:], "cross")
    assert found["strict"].sum() == 15
    assert found["window"].sum() == 16
    np.testing.assert_array_equal(found["padding"], np.arange(6) < np.full((6, 1), 4))
    assert found["cross"].shape == (4, 6)
    back = lab.Settings(**{name: getattr(SAID, name) for name in SAID.__slots__} | {"back": True})
    only_past = {e.id: e.mask for e in lab.gallery(6, 6, back, second_len=4, crossing=False)}
    np.testing.assert_array_equal(only_past["window"], np.tril(found["window"]))
    np.testing.assert_array_equal(only_past["full"], found["full"])
    across = {e.id: e.mask.shape for e in lab.gallery(3, 5, SAID, second_len=4, crossing=True)}
    assert across == {"full": (3, 5), "padding": (3, 5)}


def test_layers_to_reach_are_powers_of_the_mask_and_tell_which_positions_see_their_answer() -> None:
    length = 8
    window = np.abs(np.subtract.outer(np.arange(length), np.arange(length))) <= 2
    steps = mask_effect.layers_to_reach([window] * 3)
    distance = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    np.testing.assert_array_equal(steps, np.where(distance > 6, -1, -(-distance // 2)))
    power = np.linalg.matrix_power((window | np.eye(length, dtype=bool)).astype(int), 3) > 0
    np.testing.assert_array_equal(steps >= 0, power)
    assert mask_effect.layers_needed(window) == (4, True)
    assert mask_effect.layers_needed(np.tri(length, dtype=bool)) == (1, False)
    assert mask_effect.layers_needed(np.ones((1, 1), dtype=bool)) == (0, True)
    assert mask_effect.seen_answers(mask_effect.layers_to_reach([np.tri(5, dtype=bool)] * 3)).tolist() == []
    mask = np.tri(5, dtype=bool)
    mask[1, 3] = True  # then 1 sees 3, and 3 has seen 2: with two layers 1 knows its answer
    assert mask_effect.seen_answers(mask_effect.layers_to_reach([mask])).tolist() == []
    assert mask_effect.seen_answers(mask_effect.layers_to_reach([mask] * 2)).tolist() == [1, 2]


def test_rows_that_see_nothing_are_named_and_filled_in_every_part_of_the_page() -> None:
    mask = np.tri(4, k=-1, dtype=bool)
    usable, empty = mask_effect.filled(mask)
    assert empty == [0]
    assert usable[0].tolist() == [True, False, False, False]
    assert not mask[0].any()
    assert mask_effect.filled(np.zeros((2, 3), dtype=bool))[0].tolist() == [[True, False, False]] * 2
    for effect in EFFECTS:
        app = open_page("masks", text=TEXT, start="strict", effect=effect)
        assert "Row 0 “The” may look at nothing" in app.warning[0].value, effect
        assert "NaN" not in json.dumps(charts(app)), effect
    for closed in (6, 7):
        edit = view.compact(np.arange(LENGTH)[:, None] < np.full((LENGTH, LENGTH), closed))
        warned = open_page("masks", text=TEXT, start="full", edit=edit).warning[0].value
        assert (" … may look" in warned) == (closed > 6)
    app = open_page("masks", model="french-english", text="Je suis là.", kind="encoder", start="strict")
    app.pills(key="in_layers").set_value([]).run()
    assert "Row 0 “Je” may look at nothing" in app.warning[0].value, "in no layer"
    assert "Mean surprise at the next word of the model's answer: " in words(app)


def test_losses_are_those_of_an_independent_forward_pass() -> None:
    ids, p = plain.ids_of(TEXT), plain.softmax(plain.forward(TEXT)[2])
    expected = [-np.log(p[i, ids[i + 1]]) for i in range(len(ids) - 1)]
    app = open_page("masks", text=TEXT, effect="Loss")
    assert f"**{np.mean(expected):.2f}** nats." in words(app), "the model's own mask changes nothing"
    np.testing.assert_allclose(charts(app)["losses"]["tables"]["rows"]["value"], expected, atol=1e-3)


def test_the_head_is_shown_with_both_masks_and_a_closed_key_counts_as_nothing() -> None:
    app = open_page("masks", text=TEXT, start="full", layer="1", head="2", token="4", in_layers="1", in_heads="2")
    model = models.load("tiny-english")
    rows = ((True,) * LENGTH,) * LENGTH
    edit = SetMask(layer=LAYER, mask=rows, heads=tuple(head == 2 for head in range(8)))
    a, b = (model.trace(TEXT, edits)[f"{LAYER}.pattern"][2] for edits in ((), (edit,)))
    shown = matrices(app)
    np.testing.assert_allclose(shown["side_a"][0], np.where(np.tri(LENGTH) > 0, a, np.nan), atol=1e-3)
    np.testing.assert_allclose(shown["side_b"][0], b, atol=1e-3)
    np.testing.assert_allclose(shown["side_difference"][0], b - a, atol=2e-3)
    assert a[4].argmax() == b[4].argmax()
    assert f"“the” looks most at “on” on both sides: {a[4].max():.0%} in A, {b[4].max():.0%} in B." in words(app)
    other = matrices(open_page("masks", text=TEXT, start="full", layer="1", head="3", in_layers="1", in_heads="2"))
    assert np.nanmax(np.abs(other["side_difference"])) == 0
    table = columns(app, "mask_scores")
    assert [float(share) for share in table["share in B"]] == pytest.approx(b[4].tolist(), abs=6e-4)
    assert table["score in A"][5:] == ["−∞"] * (LENGTH - 5)


def test_minus_a_billion_hides_an_empty_row() -> None:
    scores, nothing = np.array([1.0, 3.0, -2.0]), np.zeros(3, dtype=bool)
    assert np.isnan(mask_effect.softmax_under(scores, nothing, -np.inf)).all()
    assert mask_effect.softmax_under(scores, nothing, float(mask_effect.LARGE)) == pytest.approx(1 / 3)
    mask = np.array([True, False, True])
    alike = [mask_effect.softmax_under(scores, mask, blocked) for blocked in (-np.inf, float(mask_effect.LARGE))]
    np.testing.assert_array_equal(alike[0], alike[1])
    assert mask_effect.additive(mask).tolist() == [0, -np.inf, 0]


def test_both_forms_of_a_mask_act_on_the_models_own_scores_and_torchs_conventions_are_as_said() -> None:
    which = {"effect": "Kinds"}
    for model in ("tiny-english", "twins-alibi", "twins-t5", "twins-shaw", "twins-linear"):
        address = {"model": model, "layer": "2", "head": "0", "token": "6", "second": "My dog ran."}
        own = zoo.load(model).trace(TEXT)["decoder.2.self_attn.pattern"][0, 6]
        app = open_page("masks", text=TEXT, **address, **which)
        forms = app.table[1].value
        assert "Your sentence (7 tokens) and the second (4) share a batch" in words(app)
        assert forms["−∞"].iloc[0] == f"largest weight {own.max():.3f}", model
        assert "uniform" in forms["−1e9"].iloc[1], model
    here = {"model": "reverse", "text": "attention", "layer": "0", "head": "2", "token": "9"}
    assert "0.000 to 1.000: the scores" in open_page("masks", **here, **which).table[1].value["−1e9"].iloc[1]
    assert list(facts.torch_conventions().values()) == [True, True, True]


def test_the_quiz_answers_with_the_sums_of_the_shown_head() -> None:
    for model in ("tiny-english", "twins-sink"):
        said = words(open_page("masks", model=model, text=TEXT, effect="Quiz", layer="2", head="0"))
        pattern = zoo.load(model).trace(TEXT)["decoder.2.self_attn.pattern"][0]
        rows, columns = (sorted(pattern.sum(axis=axis)) for axis in (1, 0))
        assert f"The rows: {rows[0]:.3f} to {rows[-1]:.3f}. Columns need not: here " in said
        assert f" here {columns[0]:.2f} to {columns[-1]:.2f}." in said
    for length in (12, 13):  # its first word is two tokens
        said = words(open_page("masks", model="fill-in", text=" ".join(["cat"] * (length - 1)), effect="Quiz"))
        listed = said.split(f"{length} of {length} tokens: ")[1].split("\n")[0]
        assert (listed.count("“"), listed.endswith(" ….")) == (12, length > 12)


def test_the_address_restores_a_drawn_mask_but_not_one_of_another_sentence() -> None:
    changed = np.zeros((LENGTH, LENGTH), dtype=bool)
    changed[2, 5] = True
    _, selection = parts(open_page("masks", text=TEXT, start="causal", edit=view.compact(changed)))
    mask = view.from_bits(selection["bits"], (LENGTH, LENGTH))
    assert mask is not None
    np.testing.assert_array_equal(mask, np.tri(LENGTH, dtype=bool) ^ changed)
    app = open_page("masks", text="my cat", start="causal", edit=view.compact(np.eye(LENGTH, dtype=bool)))
    assert any("belongs to another sentence" in note.value for note in app.info)
    assert view.from_bits(parts(app)[1]["bits"], (2, 2)) is not None


def test_the_models_own_mask_needs_no_second_run_and_no_figure_of_a_change() -> None:
    for model, window in (("tiny-english", None), ("twins-window", 8)):
        here = lesson(model, TEXT + " and went home, all of them", "decoder.0.self_attn")
        length = len(here.trace.tokens)
        near = masks.near(length, length, window or length)
        mask = (near & masks.causal(length)).numpy()
        layers = here.model.config.layers
        assert lab.edited(here, chosen(mask, "own"), layers, None) is here
        mask[3, 1] = False
        assert lab.edited(here, chosen(mask, "own"), (), None) is here
        gallery = parts(open_page("masks", text=here.text, model=model))[0]["gallery"]
        assert (gallery[0]["title"] == "its own") == bool(window)
        assert not window or f"itself and at most the {window - 1} tokens before it" in gallery[0]["words"]
        after = lab.edited(here, chosen(mask, "own"), layers, None)
        assert after.trace["decoder.1.self_attn.pattern"][:, 3, 1].max() == 0
    app = open_page("masks", text=TEXT, start="causal", effect="Vectors")
    assert "stream_change" not in pictures(app)
    app = open_page("masks", text=TEXT, start="full", effect="Vectors")
    last = matrices(app)["stream_change"][0][-1]
    assert f"moved by {last.mean():.0%} of their length on average, “The” most ({last[0]:.0%})" in words(app)


def test_reach_ends_at_the_last_layer_of_a_model_chosen_later() -> None:
    app = open_page("masks", text="the cat sat", effect="Reach")
    assert app.slider(key="depth").value == 6
    app.selectbox(key="model").set_value("induction").run()
    assert app.slider(key="depth").value == 2
    assert "After 2 layers" in words(app)
    for text, within in (("The", "1 of 1 pairs is"), ("The cat", "4 of 4 pairs are")):
        assert f"{within} within reach" in words(open_page("masks", text=text, start="full", effect="Reach"))


def test_who_sees_the_answer_is_told_what_training_without_a_mask_makes_of_it() -> None:
    text = "The dog ran home. The dog was happy."
    said = words(open_page("masks", text=text, start="full"))
    copying, writing = map(float, re.findall(r"\*\*(\d+\.\d\d)\*\*", said.split("*trained* without a mask, did")[1]))
    trace = zoo.load(effects.UNMASKED).trace(text)
    surprise = mask_effect.next_token_losses(trace["logits"], trace.target.ids)
    assert writing == pytest.approx(np.mean(surprise), abs=0.006)
    assert copying < 1 < writing
    said = words(open_page("masks", text=TEXT, model=effects.UNMASKED, start="full", effect="Loss"))
    assert "trained without a mask and learned to copy" in said
    assert "without a mask, did" not in said
