"""What schemes add by distance: ALiBi, T5's biases and Shaw's keys, against reference implementations."""

from typing import Any

import numpy as np
import torch
from transformers import T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from tests.cases import each
from tests.model.helpers import assert_close, lively, normal
from tests.model.sizes import BATCH, D_HEAD, K_LENGTH, LENGTH, N_HEADS
from tfmviz.constants import CLIP, MAX_DISTANCE, N_BUCKETS
from tfmviz.positions.alibi import slopes
from tfmviz.positions.shaw import Shaw
from tfmviz.positions.t5 import T5Relative, buckets


@each("n_heads", [1, 2, 3, 5, 7, 8, 11, 12, 13, 16, 32, 37])
def test_alibi_slopes_equal_blooms_and_mpts(n_heads: int) -> None:
    bloom = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)  # slope · key position
    mpt = build_mpt_alibi_tensor(n_heads, 2)  # slope · (key position − last position)
    assert_close(slopes(n_heads), bloom[:, 0, 1])
    assert_close(slopes(n_heads), -mpt[:, 0, 0])


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


@each("bidirectional", [True, False])
def test_t5_bias_equals_transformers(bidirectional: bool) -> None:
    positions = lively(T5Relative(n_heads=N_HEADS, bidirectional=bidirectional))
    shape = T5Config(num_heads=N_HEADS, is_decoder=not bidirectional)
    reference: Any = T5Attention(shape, has_relative_attention_bias=True, layer_idx=0)
    reference.relative_attention_bias.weight = positions.table
    expected = reference.compute_bias(211, 211)[0]
    assert torch.equal(positions.bias(211, 211), expected)
    assert torch.equal(positions.bias(LENGTH, 211), expected[:, -LENGTH:])


@each("q_len, k_len", [(LENGTH, K_LENGTH), (3, 4 * CLIP), (1, 1)])
def test_a_query_meets_the_vector_of_its_clipped_distance(q_len: int, k_len: int) -> None:
    """The queries stand at the last of the keys' positions; a vector past the clip is that of the clip."""
    positions = lively(Shaw(d_head=D_HEAD))
    q = normal(BATCH, N_HEADS, q_len, D_HEAD)
    found = positions.relate(q, k_len).detach().numpy()
    table = positions.table.detach().double().numpy()
    for i in range(q_len):
        for j in range(k_len):
            ahead = min(max(j - (k_len - q_len + i), -16), 16)
            expected = q[:, :, i].double().numpy() @ table[16 + ahead]
            np.testing.assert_allclose(found[:, :, i, j], expected, rtol=1e-4, atol=1e-6)
