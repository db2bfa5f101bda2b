"""Which head links two words, against the record's own patterns."""

from typing import Any

import numpy as np

from tests.cases import each
from tests.model.sizes import N_LAYERS
from tests.records import traced
from tfmviz.analysis.links import links

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
