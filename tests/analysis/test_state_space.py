"""What is left of each token in the state of a linear recurrence."""

from __future__ import annotations

import numpy as np
import pytest

from tests.each import each
from tfmviz.analysis.efficient import state_space

LENGTH, NUMBERS = 7, 5


def test_shares_are_those_of_a_state_that_each_token_alone_would_leave() -> None:
    rng = np.random.default_rng(1)
    x, a = rng.standard_normal((LENGTH, NUMBERS)), rng.uniform(0.2, 0.95, NUMBERS)

    def states(inputs: np.ndarray) -> np.ndarray:
        h, found = np.zeros(NUMBERS), []
        for one in inputs:
            h = a * h + one
            found.append(h)
        return np.array(found)

    shares = state_space.remembered(states(x), a)
    alone = [states(np.where(np.arange(LENGTH)[:, None] == j, x, 0)) for j in range(LENGTH)]
    np.testing.assert_allclose(sum(alone), states(x))  # the recurrence is linear
    for i in range(LENGTH):
        lengths = np.array([np.linalg.norm(one[i]) for one in alone])
        np.testing.assert_allclose(shares[i], lengths / lengths.sum(), atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=-1), 1)


@each("a", [0.5, 0.9, 0.999])
def test_after_its_half_life_half_of_a_number_is_left(a: float) -> None:
    (life,) = state_space.half_lives(np.array([a]))
    assert a**life == pytest.approx(0.5)
