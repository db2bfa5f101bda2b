"""Shaw's relative keys, one pair of tokens at a time."""

import numpy as np
import torch

from tests.cases import each
from tests.model.helpers import assert_close, config, lively, lively_model, normal, record, token_ids
from tests.model.sizes import BATCH, D_HEAD, K_LENGTH, LENGTH, N_HEADS
from tfmviz.constants import CLIP
from tfmviz.model.block import build_positions
from tfmviz.model.transformer import DecoderOnly
from tfmviz.positions.shaw import Shaw


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


@torch.inference_mode()
def test_the_distance_joins_the_key_in_every_layer() -> None:
    """scores = q · (k + a) / √d, with a as the scheme says; what joined is kept."""
    model, ids = lively_model(positions="shaw", n_layers=2, max_len=2 * CLIP), token_ids(3 * CLIP // 2)
    assert isinstance(model, DecoderOnly)
    length = ids.shape[1]
    values = record(model, ids)
    vectors = model.decoder.positions.vectors(length)  # (2 len - 1, d_head)
    assert vectors is not None
    away = torch.arange(length) - torch.arange(length)[:, None] + length - 1  # j - i, from 0
    for layer in range(2):
        q, k, scores, bias = (values[f"decoder.{layer}.self_attn.{n}"] for n in ("q", "k", "scores", "bias"))
        keys = k[:, :, None] + vectors[away]  # (batch, head, q_len, k_len, d_head)
        expected = torch.einsum("bhid,bhijd->bhij", q, keys) / D_HEAD**0.5
        seen = torch.tril(torch.ones(length, length, dtype=torch.bool))
        assert_close(scores[..., seen], expected[..., seen])
        joined = torch.einsum("bhid,ijd->bhij", q, vectors[away]) / D_HEAD**0.5
        assert_close(bias, torch.where(seen, joined, 0.0))


def test_vectors_are_rows_of_one_table_shared_by_heads_and_layers() -> None:
    positions = build_positions(config(positions="shaw", n_layers=3), bidirectional=False)
    assert [tuple(weight.shape) for weight in positions.parameters()] == [(33, D_HEAD)]
