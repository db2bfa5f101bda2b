"""T5's buckets and biases against transformers."""

from typing import Any

import torch
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from tests.cases import each
from tests.model.helpers import lively
from tests.model.sizes import LENGTH, N_HEADS
from tfmviz.constants import MAX_DISTANCE, N_BUCKETS
from tfmviz.positions.t5 import T5Relative, buckets


@each("bidirectional", [True, False])
def test_t5_buckets_equal_transformers_and_every_one_can_occur(bidirectional: bool) -> None:
    distance = torch.arange(-300, 301)  # query minus key; transformers counts key minus query
    expected = T5Attention._relative_position_bucket(
        -distance, bidirectional=bidirectional, num_buckets=N_BUCKETS, max_distance=MAX_DISTANCE
    )
    found = buckets(distance, bidirectional=bidirectional)
    assert torch.equal(found, expected)
    unused = {N_BUCKETS // 2} if bidirectional else set()  # "to the right, at distance 0"
    assert set(found.tolist()) == set(range(N_BUCKETS)) - unused


@each("bidirectional, first", [(False, 113), (True, 91)])
def test_t5_tells_no_distances_apart_from_the_last_bucket_on(bidirectional: bool, first: int) -> None:
    """The logarithmic scale ends at 128, but its last bucket begins before."""
    found = buckets(torch.arange(300), bidirectional=bidirectional)
    assert (found[first:] == found[299]).all()
    assert found[first - 1] == found[299] - 1
    assert str(first) in str(buckets.__doc__)


@each("bidirectional", [True, False])
def test_t5_bias_equals_transformers(bidirectional: bool) -> None:
    positions = lively(T5Relative(n_heads=N_HEADS, bidirectional=bidirectional))
    shape = T5Config(num_heads=N_HEADS, is_decoder=not bidirectional)
    reference: Any = T5Attention(shape, has_relative_attention_bias=True, layer_idx=0)
    reference.relative_attention_bias.weight = positions.table
    expected = reference.compute_bias(211, 211)[0]
    assert torch.equal(positions.bias(211, 211), expected)
    assert torch.equal(positions.bias(LENGTH, 211), expected[:, -LENGTH:])
