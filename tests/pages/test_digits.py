"""Digits on the page on positions: its numbers against a run of the models, and what becomes of odd addresses."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import matrices, open_page, words
from tests.pages.anew import sent, softmax
from tfmviz.views.picture import from_text, to_text
from tfmviz.zoo import pictures

SEVEN = "".join("00gggg00" if row == 0 else "0000gg00" if row < 4 else "000gg000" for row in range(8))


def page(**address: str) -> AppTest:
    return open_page("positions", lesson="Not only words", **address)


def bars(app: AppTest) -> list[float]:
    return [row[1] for row in sorted(sent(app, "digit_bars"))]


def test_the_bars_and_the_heads_are_those_of_the_chosen_model() -> None:
    held_out, labels = pictures.digits().held_out
    for reader, kind in (("trained positions", "learned"), ("no positions", "none")):
        app = page(digit="7", reader=reader, reader_layer="1")
        values = pictures.read(pictures.load(kind), held_out[7])
        assert bars(app) == pytest.approx(softmax(values["logits"]).tolist(), abs=1e-4), kind
        heads = values["encoder.1.self_attn.pattern"][:, 0, 1:].reshape(-1, 4, 4)
        np.testing.assert_allclose(matrices(app)["digit_looks"], heads, atol=1e-4, err_msg=kind)
        assert sent(app, "picture")["title"] == f"A {labels[7]} of the set"
        assert sent(app, "picture_selection")["cells"] == to_text((held_out[7] * 16).astype(int))


def test_a_drawing_in_the_address_is_read_in_place_of_the_set() -> None:
    app, drawn = page(digit="7", drawn=SEVEN), from_text(SEVEN, 8)
    assert drawn is not None
    logits = pictures.read(pictures.load("learned"), drawn.astype(np.float32) / 16)["logits"]
    assert np.argmax(bars(app)) == logits.argmax()
    assert sent(app, "picture")["title"] == "Drawn by hand"
    assert sum(bars(page(drawn="0" * 64))) == pytest.approx(1, abs=1e-3), "an empty one is read too"
    for none in ("", "0", "z" * 64, "<img src=x onerror=alert(1)>", "0" * 5000, "😀" * 64):
        app = page(drawn=none)
        assert not app.error, none
        assert "Of 359 held-out digits" in words(app), none
        assert sent(app, "picture")["title"].endswith("of the set"), none


def test_shuffled_patches_change_the_answer_of_one_model_alone() -> None:
    in_order, shuffled = page(digit="3"), page(digit="3", shuffle="2")
    assert bars(in_order) != pytest.approx(bars(shuffled), abs=1e-3)
    assert "shuffled_digit" in matrices(shuffled)
    blind = [bars(page(digit="3", shuffle=seed, reader="no positions")) for seed in ("0", "2")]
    assert blind[0] == pytest.approx(blind[1], abs=1e-4)
