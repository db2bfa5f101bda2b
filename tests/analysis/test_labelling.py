"""Places around a change of label, shares by place, and the mean of the states."""

import numpy as np

from tfmviz.analysis.labelling import from_mean_of_states, share_by, since_change, until_change


def test_tokens_are_counted_around_a_change_and_shares_are_of_their_place() -> None:
    labels = np.array([[0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 1]])
    assert since_change(labels).tolist() == [[0, 0, 1, 2, 3, 1], [0] * 6, [0, 1, 1, 1, 2, 3]]
    assert until_change(labels).tolist() == [[2, 1, 3, 2, 1, 0], [0] * 6, [1, 1, 1, 0, 0, 0]]
    right = np.array([True, False, True, True, False, True])
    place = np.array([1, 1, 2, 0, 5, 4])
    shares = share_by(right, place, longest=4)
    np.testing.assert_array_equal(shares, [0.5, 1.0, np.nan, 1.0])


def test_the_mean_of_the_logits_is_what_a_linear_layer_makes_of_the_mean_of_the_states() -> None:
    rng = np.random.default_rng(0)
    states, W, b = rng.normal(size=(7, 5)), rng.normal(size=(3, 5)), rng.normal(size=3)
    found = from_mean_of_states(states @ W.T + b)
    for t in range(7):
        np.testing.assert_allclose(found[t], W @ states[: t + 1].mean(axis=0) + b)
