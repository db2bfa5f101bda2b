"""Which head links two words, and which keys some path of attention leads to."""

from typing import Any

import numpy as np

from tests.cases import each
from tests.model.sizes import N_LAYERS
from tests.records import traced
from tfmviz.analysis.heads import links
from tfmviz.analysis.rollout import rollout

MODELS: dict[str, list[dict[str, Any]]] = {
    "decoder.self_attn": [{}, {"n_kv_heads": 1}],
    "encoder.self_attn": [{"architecture": "encoder-only", "positions": "alibi"}, {"architecture": "encoder-decoder"}],
    "decoder.cross_attn": [{"architecture": "encoder-decoder"}],
}


@each("kind, changes", [(kind, one) for kind, every in MODELS.items() for one in every])
def test_weights_are_those_of_every_head_of_the_kind(kind: str, changes: dict[str, Any]) -> None:
    trace, (stack, part) = traced(**changes), kind.split(".")
    patterns = np.stack([trace[f"{stack}.{n}.{part}.pattern"] for n in range(N_LAYERS)])
    np.testing.assert_array_equal(links(trace, kind, 5, 3), patterns[:, :, 5, 3])


def test_a_look_that_the_mask_forbids_has_no_weight() -> None:
    assert np.isnan(links(traced(), "decoder.self_attn", 2, 5)).all()


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
