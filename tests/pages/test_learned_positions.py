"""Learned positions on the page: a table from its file, how well it is trained, where it ends; those of a picture."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, sent, series, words
from tests.pages.plain import softmax
from tfmviz import zoo
from tfmviz.analysis import position_table
from tfmviz.record.trace import Array
from tfmviz.views.picture import from_text, to_text
from tfmviz.zoo import pictures

TEXT = "Man eats small dinosaur."


def waves(length: int, d: int, base: float = 10_000.0) -> Array:
    """Sinusoids number by number, as the paper writes them."""
    rows = range(length)
    return np.array(
        [[(math.cos if j % 2 else math.sin)(pos / base ** ((j - j % 2) / d)) for j in range(d)] for pos in rows]
    )


def learned(part: str, **address: str) -> AppTest:
    return open_page("positions", text=TEXT, lesson="Learned", of_table=part, **address)


def table_in(name: str, stack: str) -> Array:
    return load_file(zoo.MODELS / name / "model.safetensors")[f"{stack}.positions.table"].astype(np.float64)


def test_principal_components_are_eigenvectors_of_the_covariance() -> None:
    table = np.random.default_rng(3).standard_normal((13, 5)) * [5, 3, 2, 1, 0.5]
    found = position_table.principal_components(table)
    values, vectors = np.linalg.eigh(np.cov(table.T))
    np.testing.assert_allclose(found.shares, values[::-1][:3] / values.sum())
    expected = (table - table.mean(axis=0)) @ vectors[:, ::-1][:, :3]
    np.testing.assert_allclose(np.abs(found.scores), np.abs(expected), atol=1e-9)
    assert (found.scores[np.abs(found.scores).argmax(axis=0), range(3)] > 0).all()


def test_rows_that_training_has_not_reached_are_found() -> None:
    table = np.random.default_rng(4).normal(0, 0.02, (29, 128))
    assert position_table.untrained(table, std=0.02).tolist() == list(range(29))
    table[:17] *= 5
    assert position_table.untrained(table, std=0.02).tolist() == list(range(17, 29))
    np.testing.assert_allclose(position_table.smoothed(np.array([1.0, 2, 6, 4]), window=3), [1.5, 3, 4, 5])


def test_the_trained_table_on_the_page_is_the_one_in_the_file() -> None:
    table, sinusoids = table_in("twins-learned", "decoder"), waves(64, 128)
    np.testing.assert_allclose(matrices(learned("The table"))["trained_table"][0], table, atol=1e-6)
    unit, alike = table / np.linalg.norm(table, axis=1, keepdims=True), matrices(learned("Similarity"))
    np.testing.assert_allclose(alike["similar_trained"][0], unit @ unit.T, atol=1e-5)
    np.testing.assert_allclose(alike["similar_sinusoids"][0], sinusoids @ sinusoids.T / 64, atol=1e-5)


def test_lengths_and_the_measured_loss_are_shown_as_they_are() -> None:
    app = learned("Well trained?")
    lengths, loss = (series(charts(app)[key]) for key in ("trained_norms", "loss_by_position"))
    rows = np.linalg.norm(table_in("twins-learned", "decoder"), axis=1)
    np.testing.assert_allclose(lengths["length now"], rows, rtol=1e-5)
    measured = json.loads((zoo.MODELS.parent / "training" / "twins-learned-by-position.json").read_text())["loss"]
    assert loss["measured"].tolist() == measured
    assert len(measured) == 64
    assert "Every row has grown from its random" in words(app)


def test_a_model_trained_on_short_words_has_poor_late_positions() -> None:
    lengths = np.linalg.norm(table_in("reverse", "encoder"), axis=1)
    assert lengths[:12].min() > 4 * lengths[12:].max()
    assert "**52 of 64 rows, from position 12 on" in words(learned("Well trained?", trained="reverse, encoder"))


def test_the_wall() -> None:
    app = learned("The wall", letters="Attention!")
    assert app.code[0].value == "There are 64 learned positions, but the text has 65 tokens."
    (table,) = app.table
    assert table.value["asked"].tolist() == ["atte", "attentio", "attention"]
    assert table.value["answer"].tolist() == ["etta", "oitnetta", "noitnetta"]
    longer = learned("The wall", letters="abcdefghijklmnopq").table[0].value
    marks = dict(zip(longer["letters"], longer["right"], strict=True))
    assert (marks[12], marks[13], marks[16]) == ("✓", "✗", "✗")
    assert "at least two letters" in words(learned("The wall", letters="7!"))


SEVEN = "".join("00gggg00" if row == 0 else "0000gg00" if row < 4 else "000gg000" for row in range(8))


def digits(**address: str) -> AppTest:
    return open_page("positions", lesson="Not only words", **address)


def bars(app: AppTest) -> list[float]:
    return [row[1] for row in sorted(sent(app, "digit_bars"))]


def test_the_bars_and_the_heads_are_those_of_the_chosen_model() -> None:
    held_out, labels = pictures.digits().held_out
    for reader, kind in (("trained positions", "learned"), ("no positions", "none")):
        app = digits(digit="7", reader=reader, reader_layer="1")
        values = pictures.read(pictures.load(kind), held_out[7])
        assert bars(app) == pytest.approx(softmax(values["logits"]).tolist(), abs=1e-4), kind
        heads = values["encoder.1.self_attn.pattern"][:, 0, 1:].reshape(-1, 4, 4)
        np.testing.assert_allclose(matrices(app)["digit_looks"], heads, atol=1e-4, err_msg=kind)
        assert sent(app, "picture")["title"] == f"A {labels[7]} of the set"
        assert sent(app, "picture_selection")["cells"] == to_text((held_out[7] * 16).astype(int))


def test_a_drawing_in_the_address_is_read_in_place_of_the_set() -> None:
    app, drawn = digits(digit="7", drawn=SEVEN), from_text(SEVEN, 8)
    assert drawn is not None
    logits = pictures.read(pictures.load("learned"), drawn.astype(np.float32) / 16)["logits"]
    assert np.argmax(bars(app)) == logits.argmax()
    assert sent(app, "picture")["title"] == "Drawn by hand"
    assert sum(bars(digits(drawn="0" * 64))) == pytest.approx(1, abs=1e-3), "an empty one is read too"
    for none in ("", "0", "z" * 64, "<img src=x onerror=alert(1)>", "0" * 5000, "😀" * 64):
        app = digits(drawn=none)
        assert not app.error, none
        assert "Of 359 held-out digits" in words(app), none
        assert sent(app, "picture")["title"].endswith("of the set"), none


def test_shuffled_patches_change_the_answer_of_one_model_alone() -> None:
    in_order, shuffled = digits(digit="3"), digits(digit="3", shuffle="2")
    assert bars(in_order) != pytest.approx(bars(shuffled), abs=1e-3)
    assert "shuffled_digit" in matrices(shuffled)
    blind = [bars(digits(digit="3", shuffle=seed, reader="no positions")) for seed in ("0", "2")]
    assert blind[0] == pytest.approx(blind[1], abs=1e-4)
