"""Scaling laws on the page on size: curves, tables and words against the papers' numbers and the runs' own."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tests.app import charts, open_page, series, views, words
from tfmviz.analysis.law_fits import fit_additive
from tfmviz.ui.size import own

PAGE, LAWS, OWN = "size", "Scaling laws", "Our own runs"


def test_curves_are_the_papers() -> None:
    chart = charts(open_page(PAGE, sized=LAWS, law_n="1 billion", law_d="unlimited"))["laws"]
    kaplan, hoffmann, besiroglu = series(chart, "y").values()
    x, *_ = series(chart, "x").values()
    np.testing.assert_allclose(kaplan, (6.4e13 / x) ** 0.076)
    np.testing.assert_allclose(hoffmann, 1.69337 + 406.401 / x**0.33917)
    np.testing.assert_allclose(besiroglu, 1.8172 + 482.01 / x**0.3478)


def test_against_operations_no_split_is_better_than_the_curve() -> None:
    chart = charts(open_page(PAGE, sized=LAWS, law_axis="C"))["laws"]
    _, hoffmann, _ = series(chart, "y").values()
    _, c, _ = series(chart, "x").values()
    n = np.geomspace(1e4, 1e14, 2001)
    for operations, best in zip(c[::24], hoffmann[::24], strict=True):
        losses = 1.69337 + 406.401 / n**0.33917 + 410.7228 / (operations / 6 / n) ** 0.28491
        assert best == pytest.approx(losses.min(), rel=1e-5)


def test_the_table_holds_the_losses_at_the_readers_place() -> None:
    app = open_page(PAGE, sized=LAWS, law_n="1 billion", law_d="100 billion")
    rows = {row[0]: row for row in json.loads(views(app)["at"].json)["rows"]}
    loss = 1.8172 + 482.01 / 1e9**0.3478 + 2085.43 / 1e11**0.3658
    assert rows["Besiroglu et al. 2024"][2] == f"{loss:.2f}"
    assert rows["Hoffmann et al. 2022"][2] == f"{1.69337 + 406.401 / 1e9**0.33917 + 410.7228 / 1e11**0.28491:.2f}"
    endless = open_page(PAGE, sized=LAWS, law_n="unlimited", law_d="unlimited")
    rows = {row[0]: row for row in json.loads(views(endless)["at"].json)["rows"]}
    assert rows["Hoffmann et al. 2022"][2:] == ["1.69", "0.00", "0.00", "–", "–", "–"]
    assert "nan" not in words(endless)


def shipped() -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """The runs that are fitted, and those of the largest model."""
    found = json.loads(own.FILE.read_text())
    larger = [run for run in found["runs"] if [run["width"], run["depth"]] == found["largest"]]
    return [run for run in found["runs"] if run not in larger], larger


def test_points_are_the_runs() -> None:
    small, larger = shipped()
    for counted in ("all", "without embeddings"):
        for against in "NDC":
            rows = charts(open_page(PAGE, sized=OWN, own_axis=against, n_counts=counted))["own_runs"]["tables"]["rows"]
            points = zip(rows["x"], rows["y"], rows["seen"], strict=True)
            expected = set()
            for run in small + larger:
                n = run["parameters"] - (run["embeddings"] if counted != "all" else 0)
                x = {"N": n, "D": run["tokens"], "C": 6 * n * run["tokens"]}[against]
                expected.add((round(x), round(run["loss"], 9)))
            assert {(round(x), round(y, 9)) for x, y, dot in points if dot} == expected


def test_the_prediction_for_the_larger_model_comes_from_the_others_alone() -> None:
    small, larger = shipped()
    n, d, loss = (np.array([run[key] for run in small], float) for key in ("parameters", "tokens", "loss"))
    law = fit_additive(n, d, loss).law
    said = words(open_page(PAGE, sized=OWN))
    assert larger
    for run in larger:
        assert f"**{law.loss(run['parameters'], run['tokens']):.3f}**" in said
        assert f"it reached **{run['loss']:.3f}**" in said


def test_every_constant_lies_in_its_interval() -> None:
    rows = json.loads(views(open_page(PAGE, sized=OWN))["constants"].json)["rows"]
    for row in rows[:2]:
        for cell in row[1:]:
            value, low, high = map(float, re.fullmatch(r"(\S+) \((\S+)–(\S+)\)", cell).groups())  # type: ignore[union-attr]
            assert low <= value <= high
    assert rows[0][4].endswith("(0.00–1.63)")  # the endless model of some resamples has no loss at all
    assert [row[3] for row in rows[2:]] == ["0.73", "0.457", "0.513"]
