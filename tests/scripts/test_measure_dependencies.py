"""What is measured of long dependencies: against the models' probabilities, and against what a window can know."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts import measure_dependencies as script
from tests.pages.test_ladder import ids_of
from tfmviz.analysis import dependencies
from tfmviz.places import PROJECT


def test_both_measures_are_counted_from_the_probabilities() -> None:
    pairs = dependencies.pairs(dependencies.AGREEMENT, 1, 12, seed=4)
    models = script.predictors()
    for name in ("ladder-window", "ladder-rnn"):
        odds = []
        for text in (text for pair in pairs for text in pair.texts):
            (p,) = models[name](np.array([ids_of(text)]))
            one, many = (
                sum(p[ids_of(token)[0]] for token in tokens) for tokens in ((" is", " was"), (" are", " were"))
            )
            odds.append(np.log(one / many))
        found = script.points_of(models[name], pairs)
        first, second = np.array(odds).reshape(-1, 2).T
        sure = np.abs(first - second) > 1e-4
        assert sure.any()
        assert (found["leans"][sure] == (first > second)[sure]).all()
        assert found["prefers"].tolist() == (((first > 0) * 1 + (second < 0)) / 2).tolist()


def test_a_trial_writes_what_the_page_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "found.json"
    monkeypatch.setattr(script, "PHRASES", (0, 1))
    monkeypatch.setattr(script, "DRAWS", 20)
    monkeypatch.setattr(sys, "argv", ["measure", "--pairs", "3", "--out", str(out)])
    script.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    shipped = json.loads((PROJECT / "assets" / "ladder" / "dependencies.json").read_text(encoding="utf-8"))
    assert found.keys() == shipped.keys()
    assert found["sentences"] == 6
    for rows in found["kinds"].values():
        for row in rows:
            assert row.keys() == {"n", "example", "leans", "prefers"}
            assert all(0 <= low <= share <= high <= 1 for share, low, high in row["leans"].values())
