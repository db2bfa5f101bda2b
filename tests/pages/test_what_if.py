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


def tokens_of(model: ZooModel) -> list[str]:
    return [visible(token) for token in model.tokenizer.encode(TEXT, max_len=64).tokens]


def row_patched(row: list[float], step: int) -> tuple[Edit, ...]:
    return tuple(Patch(site=f"decoder.{n}.cross_attn.pattern", vector=tuple(row), position=step) for n in range(3))


def assert_after(app: AppTest, model: ZooModel, edits: Callable[[int], tuple[Edit, ...]]) -> None:
    """The page's translation is the greedy one in which each token costs a pass over all before it, so edited."""
    ids: list[int] = []
    while not ids or ids[-1] not in model.tokenizer.marks.ends:
        ids.append(int(model.trace(TEXT, edits(len(ids) + 1), target=ids)["logits"][-1].argmax()))
    assert f"After: “{markdown.plain(model.tokenizer.decode(ids[:-1]).strip())}”" in words(app)


def test_several_words_of_a_row_are_closed_or_get_all_attention(model: ZooModel) -> None:
    """Against passes over the whole text, without a cache."""
    step, chosen = 2, (2, 3)
    reads, writes = (visible(model.vocabulary[index]) for index in zoo.writing.generate(model, TEXT).ids[1:3])
    named = tokens_of(model)

    def closed(q_len: int) -> tuple[Edit, ...]:
        mask = tuple(tuple(q != step or k not in chosen for k in range(len(named))) for q in range(q_len))
        return tuple(SetMask(layer=f"decoder.{n}.cross_attn", mask=mask) for n in range(3)) if q_len > step else ()

    def directed(q_len: int) -> tuple[Edit, ...]:
        return row_patched([0.5 if k in chosen else 0.0 for k in range(len(named))], step) if q_len > step else ()

    for how, key, edits in (("close a look", "closed", closed), ("direct a look", "directed", directed)):
        app = open_translating(translation="What if", change=how)
        app.selectbox(key="changed_step").set_value(f"{step} {reads} → {writes}")
        app.multiselect(key=key).set_value([f"{n} {named[n]}" for n in chosen]).run()
        assert_after(app, model, edits)
        row = matrices(app)["as_changed"][0, step]
        expected = [0, 0] if key == "closed" else [0.5, 0.5]
        np.testing.assert_allclose(row[list(chosen)], expected, atol=1e-3)


def test_a_row_of_typed_weights_is_the_row_that_the_model_sees(model: ZooModel) -> None:
    """Against passes over the whole text, without a cache."""
    named = tokens_of(model)
    app = open_translating(translation="What if", change="direct a look", directed_parts="1 0.5, 2.5")
    app.multiselect(key="directed").set_value([f"{n} {named[n]}" for n in (0, 3, 4)]).run()
    row = [0.0] * len(named)
    row[0], row[3], row[4] = 0.25, 0.125, 0.625
    assert_after(app, model, lambda _: row_patched(row, 0))
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
