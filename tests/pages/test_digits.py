"""Digits on the page on positions: its numbers against a run of the models, and what becomes of odd addresses."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import matrices, open_page, views, words
from tfmviz.views.picture import from_text, to_text
from tfmviz.zoo import pictures

SEVEN = "".join("00gggg00" if row == 0 else "0000gg00" if row < 4 else "000gg000" for row in range(8))


def page(**address: str) -> AppTest:
    return open_page("positions", lesson="Not only words", **address)


def bars(app: AppTest) -> list[float]:
    rows: list[list[Any]] = json.loads(views(app)["digit_bars"].json)
    return [row[1] for row in sorted(rows)]


@pytest.mark.parametrize(("reader", "kind"), [("trained positions", "learned"), ("no positions", "none")])
def test_the_bars_and_the_heads_are_those_of_the_chosen_model(reader: str, kind: str) -> None:
    app = page(digit="7", reader=reader, reader_layer="1")
    held_out, labels = pictures.digits().held_out
    values = pictures.read(pictures.load(kind), held_out[7])
    p = np.exp(values["logits"]) / np.exp(values["logits"]).sum()
    assert bars(app) == pytest.approx(p.tolist(), abs=1e-4)
    heads = values["encoder.1.self_attn.pattern"][:, 0, 1:].reshape(-1, 4, 4)
    np.testing.assert_allclose(matrices(app)["digit_looks"], heads, atol=1e-4)
    assert json.loads(views(app)["picture"].json)["title"] == f"A {labels[7]} of the set"
    assert json.loads(views(app)["picture_selection"].json)["cells"] == to_text((held_out[7] * 16).astype(int))


def test_a_drawing_in_the_address_is_read_in_place_of_the_set() -> None:
    app = page(digit="7", drawn=SEVEN)
    drawn = from_text(SEVEN, 8)
    assert drawn is not None
    logits = pictures.read(pictures.load("learned"), drawn.astype(np.float32) / 16)["logits"]
    assert np.argmax(bars(app)) == logits.argmax()
    assert json.loads(views(app)["picture"].json)["title"] == "Drawn by hand"


def test_shuffled_patches_change_the_answer_of_one_model_alone() -> None:
    in_order, shuffled = page(digit="3"), page(digit="3", shuffle="2")
    assert bars(in_order) != pytest.approx(bars(shuffled), abs=1e-3)
    assert "shuffled_digit" in matrices(shuffled)
    blind = [bars(page(digit="3", shuffle=seed, reader="no positions")) for seed in ("0", "2")]
    assert blind[0] == pytest.approx(blind[1], abs=1e-4)


@pytest.mark.parametrize("drawn", ["", "0", "z" * 64, "<img src=x onerror=alert(1)>", "0" * 5000, "😀" * 64])
def test_what_is_no_drawing_is_left_out(drawn: str) -> None:
    app = page(drawn=drawn)
    assert not app.error
    assert "Of 359 held-out digits" in words(app)
    assert json.loads(views(app)["picture"].json)["title"].endswith("of the set")


def test_an_empty_picture_is_read_too() -> None:
    assert sum(bars(page(drawn="0" * 64))) == pytest.approx(1, abs=1e-3)
