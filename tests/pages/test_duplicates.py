"""The tab on duplicates: what it says and draws is what was measured."""

from __future__ import annotations

import json

import numpy as np

from tests.app import charts, open_page, series, words
from tfmviz.ui.training.duplicates import FILE, NAMES

FOUND = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_lines_and_the_sentence_are_what_was_measured() -> None:
    app = open_page("training", learned="Duplicates")
    drawn = series(charts(app)["duplicates"])
    for name, said in NAMES.items():
        for what, points in FOUND[name]["curve"].items():
            expected = [value for step, value in points if step >= 250]
            np.testing.assert_allclose(drawn[f"{said}, {what}"], expected, rtol=1e-5)
        for part in ("seen", "held_out"):
            assert f"{FOUND[name][part]:.2f}" in words(app)


def test_ten_readings_lower_the_loss_on_what_was_repeated_and_raise_it_elsewhere() -> None:
    """Both took as many steps."""
    once, ten = (FOUND[name] for name in NAMES)
    assert ten["seen"] < once["seen"] - 0.02
    assert ten["held_out"] > once["held_out"] + 0.02
    for one in (once, ten):
        assert {what: points[-1][0] for what, points in one["curve"].items()} == {"training": 1400, "held out": 1400}
