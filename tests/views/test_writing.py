"""The settings of writing in the browser are those of Python, on any scores and rules."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.node import call
from tfmviz.record.decoding import ORDER, Rules, draw, stages

SCORES = np.random.default_rng(5).normal(0, 3, 211).round(1)  # many are equal

SETTINGS: list[dict[str, Any]] = [
    {"temperature": t, "repetition": r, "top_k": k, "top_p": p, "min_p": m, "banned": b, "order": order}
    for n, (t, r, k, p, m) in enumerate(
        product((0.1, 1.0, 2.0), (1.0, 1.35), (0, 1, 7, 211, 300), (0.0, 0.5, 1.0), (0.0, 0.2))
    )
    for b, order in [(() if n % 2 else (3, 101), ORDER if n % 3 else tuple(reversed(ORDER)))]
]

SEEN = (7, 7, 11, 101)


def in_browser(rules: dict[str, Any], number: float) -> dict[str, Any]:
    asked = """(() => {
        const found = module.stagesOf(given.scores, given.rules, given.seen);
        const cut = (scores) => Array.from(scores, (score) => score === -Infinity);
        const last = found[found.length - 1].shares;
        const stages = found.map(({ rule, scores, shares }) => [rule, [...shares], cut(scores)]);
        return { stages, drawn: module.drawn(last, given.number) };
    })()"""
    given = {"scores": SCORES.tolist(), "rules": rules, "seen": SEEN, "number": number}
    found: dict[str, Any] = call("writing/decoding.ts", asked, given)
    return found


def test_each_rule_leaves_what_it_leaves_in_python() -> None:
    for settings, number in product(SETTINGS, (0.0, 0.371, 0.99)):
        expected = stages(SCORES, Rules(**settings), seen=SEEN)
        found = in_browser(settings, number)
        assert [rule for rule, _, _ in found["stages"]] == [stage.rule for stage in expected], settings
        for (_, shares, cut), stage in zip(found["stages"], expected, strict=True):
            np.testing.assert_allclose(shares, stage.probabilities, atol=1e-12)
            assert cut == (~stage.allowed).tolist(), settings
        fallen = draw(expected[-1].probabilities, number)
        assert found["drawn"]["token"] == fallen.token, settings
        assert [found["drawn"][end] for end in ("low", "high")] == pytest.approx([fallen.low, fallen.high], abs=1e-9)
