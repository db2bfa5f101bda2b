"""Translations with one thing changed: a word of the source, or a row of attention."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import alt, matrices, words
from tests.pages.translating import TEXT, open_translating
from tfmviz import load, zoo
from tfmviz.record.edits import Edit, Patch, SetMask
from tfmviz.ui.translating import what_if
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.zoo import ZooModel


@pytest.fixture(scope="module")
def model() -> ZooModel:
    return load("french-english")


def test_a_closed_look_gets_nothing_and_changes_no_earlier_step(model: ZooModel) -> None:
    reads, writes = (visible(model.vocabulary[index]) for index in zoo.writing.generate(model, TEXT).ids[1:3])
    app = open_translating(
        translation="What if", change="close a look", changed_step=f"2 {reads} → {writes}", closed="3 jamais"
    )
    before, after = (matrices(app)[key][0] for key in ("as_it_was", "as_changed"))
    assert after[2, 3] == 0
    assert before[2, 3] > 0
    np.testing.assert_allclose(after.sum(axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(after[:2], before[:2], atol=1e-6)


NAMED = [visible(token) for token in load("french-english").encode(TEXT).tokens]


def assert_after(app: AppTest, model: ZooModel, step: int, edit: Callable[[str], Edit]) -> None:
    """The page's translation is the greedy one with this edit in every layer of cross-attention."""
    edits = tuple(edit(f"decoder.{n}.cross_attn") for n in range(3))
    text = zoo.writing.generate(model, TEXT, edits=edits, at=step).text
    assert f"After: “{markdown.plain(text.strip())}”" in words(app)


def test_several_words_of_a_row_are_closed_or_get_all_attention(model: ZooModel) -> None:
    step, chosen, row = 2, (2, 3), tuple(0.5 if k in (2, 3) else 0.0 for k in range(len(NAMED)))
    reads, writes = (visible(model.vocabulary[index]) for index in zoo.writing.generate(model, TEXT).ids[1:3])
    mask = (tuple(k not in chosen for k in range(len(NAMED))),)
    cases: tuple[tuple[str, str, Callable[[str], Edit]], ...] = (
        ("close a look", "closed", lambda layer: SetMask(layer=layer, mask=mask)),
        ("direct a look", "directed", lambda layer: Patch(site=f"{layer}.pattern", vector=row)),
    )
    for how, key, edit in cases:
        app = open_translating(translation="What if", change=how)
        app.selectbox(key="changed_step").set_value(f"{step} {reads} → {writes}")
        app.multiselect(key=key).set_value([f"{n} {NAMED[n]}" for n in chosen]).run()
        assert_after(app, model, step, edit)
        found = matrices(app)["as_changed"][0, step, list(chosen)]
        np.testing.assert_allclose(found, 0 if key == "closed" else 0.5, atol=1e-3)


def test_a_row_of_typed_weights_is_the_row_that_the_model_sees(model: ZooModel) -> None:
    app = open_translating(translation="What if", change="direct a look", directed_parts="1 0.5, 2.5")
    app.multiselect(key="directed").set_value([f"{n} {NAMED[n]}" for n in (0, 3, 4)]).run()
    row = [0.0] * len(NAMED)
    row[0], row[3], row[4] = 0.25, 0.125, 0.625
    assert_after(app, model, 0, lambda layer: Patch(site=f"{layer}.pattern", vector=tuple(row)))
    np.testing.assert_allclose(matrices(app)["as_changed"][0, 0], row, atol=1e-3)
    assert all(share in words(app) for share in ("25% to “Elle”", "12% to", "62% to"))


def test_parts_that_make_no_row_are_refused_in_a_sentence() -> None:
    refused = {
        **{"1": "1 for 2", "1 2 3": "3 for 2", "a 1": "Write numbers", "<b> 1": "Write numbers", "-1 2": "below 0"},
        **{"0 0": "one above it", "inf 1": "must be finite", "nan 1": "must be finite"},
    }
    for typed, said in refused.items():
        with pytest.raises(ValueError, match=said):
            what_if.shares_of(typed, 2)


def test_shares_are_parts_of_their_sum_however_large_or_small() -> None:
    for typed in ("3 1", "3,1", "0.75 : 0.25", "3e307 1e307", "3e-300;1e-300"):
        assert what_if.shares_of(typed, 2) == pytest.approx((0.75, 0.25))
    assert what_if.shares_of(" ", 4) == (0.25,) * 4


def test_a_page_with_bad_parts_says_so_and_changes_nothing() -> None:
    app = open_translating(translation="What if", change="direct a look", directed_parts="many")
    assert "Write numbers with spaces between them" in words(app)
    assert "So nothing is changed." in words(app)
    before, after = (matrices(app)[key] for key in ("as_it_was", "as_changed"))
    np.testing.assert_array_equal(before, after)


def test_a_swapped_word_is_translated_as_the_whole_new_source(model: ZooModel) -> None:
    app = open_translating(translation="What if", swapped="5 viande.", becomes="poisson.")
    expected = zoo.writing.generate(model, "Elle ne mange jamais de poisson.").text.strip()
    assert f"After: “{expected.replace('.', chr(92) + '.')}”" in words(app)
    assert expected != zoo.writing.generate(model, TEXT).text.strip()
    assert alt(app, "as_it_was").startswith("As it is: ")
    assert alt(app, "as_changed") == f"With the change: {expected}"


def test_what_does_not_exist_is_not_changed_nor_a_source_of_one_token() -> None:
    addresses = ({"swapped": "99 x"}, {"change": "close a look", "changed_step": "99", "closed": ""})
    for address in addresses:
        app = open_translating(translation="What if", **address)
        assert set(matrices(app)) == {"as_it_was", "as_changed"}
        app.text_area(key="text").set_value("Merci beaucoup !").run()  # no place of the old text is one of the new
        assert not app.exception
        assert set(matrices(app)) == {"as_it_was", "as_changed"}
    for change in ("swap a word", "close a look"):
        assert "nothing to change" in words(open_translating(translation="What if", text="a", change=change))
