"""Learned positions on the page: the table of the file, how well it is trained, and where it ends."""

from __future__ import annotations

import json
import math

import numpy as np
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, series, words
from tfmviz import zoo
from tfmviz.analysis import position_table
from tfmviz.record.trace import Array

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
