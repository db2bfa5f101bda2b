"""Numbers in the browser are written as Python writes them."""

import itertools
import math
from typing import Any

import numpy as np

from tests.node import call
from tfmviz.words import numbers

TIES = [0.5, 1.5, 2.5, 0.125, 0.375, 0.25, 0.75, 0.0625, 12.5, 0.625, 0.03125, 1.125, 2048.5]
"""Exactly half way between two neighbours, at some number of digits."""
NEAR_TIES = [0.145, 0.155, 0.285, 1.005, 2.675, 0.995, 0.0145, 0.00155, 1.25e-5, 3.5e-7]
"""Half way only as people write them; the numbers themselves lie a little above or below."""
EDGES = [0.0, 1.0, 9.94, 9.95, 9.96, 99.5, 0.095, 0.0949, 0.0095, 0.00949, 0.001, 0.000999, 1e-300, 123456.7, 1e15]
RANDOM = (10 ** np.random.default_rng(0).uniform(-12, 6, 500)).tolist()
VALUES = [*TIES, *NEAR_TIES, *EDGES, *RANDOM]


def written(name: str, values: list[float], *arguments: Any) -> list[str]:
    expression = f"given[0].map((value) => module.{name}(value, ...given[1]))"
    found: list[str] = call("shared/numbers.ts", expression, [values, arguments])
    return found


def test_numbers_are_written_as_python_writes_them() -> None:
    values = [*VALUES, *(-value for value in VALUES)]
    for digits, sign in itertools.product(range(4), (False, True)):
        expected = [numbers.decimal(value, f"{'+' if sign else ''}.{digits}f") for value in values]
        assert written("decimal", values, digits, {"sign": sign}) == expected
    negative = [-value for value in VALUES]
    for name, python in (("tiny", numbers.tiny), ("perCent", numbers.per_cent), ("rounded", numbers.rounded)):
        assert written(name, VALUES) == [python(value) for value in VALUES]
        assert name == "rounded" or written(name, negative) == [python(value) for value in negative]
    odd = (math.nan, math.inf, -math.inf)
    both = {"decimal": numbers.decimal, "tiny": numbers.tiny, "perCent": numbers.per_cent, "rounded": numbers.rounded}
    for name, ours in both.items():
        found = call("shared/numbers.ts", f"[NaN, Infinity, -Infinity].map((value) => module.{name}(value))", None)
        assert found == [ours(value) for value in odd] == ["–"] * 3, name
