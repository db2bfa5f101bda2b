"""Attention rollout: which keys some path leads to."""

import numpy as np

from tfmviz.analysis.rollout import rollout


def test_a_key_is_reached_exactly_where_its_share_is_not_zero_also_by_staying_where_one_is() -> None:
    """The masks: nobody may look at itself in the one layer, and only at itself or the next token in the other."""
    length = 5
    others = ~np.eye(length, dtype=bool)
    next_or_same = np.eye(length, dtype=bool) | np.eye(length, k=1, dtype=bool)
    for masks in ([others], [others, others], [next_or_same, next_or_same], [next_or_same, others]):
        patterns = [np.stack([mask / mask.sum(axis=-1, keepdims=True)] * 2) for mask in masks]
        mixed, reached = rollout(patterns, masks)
        np.testing.assert_allclose(mixed.sum(axis=-1), 1)
        np.testing.assert_array_equal(reached, mixed > 0)
        assert reached.diagonal().all()
