"""ALiBi against the reference implementations."""

import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

from tests.cases import each
from tests.model.helpers import assert_close
from tfmviz.positions.alibi import Alibi, slopes


@each("n_heads", [1, 2, 3, 5, 7, 8, 11, 12, 13, 16, 32, 37])
def test_alibi_slopes_equal_blooms_and_mpts(n_heads: int) -> None:
    bloom = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)  # slope · key position
    mpt = build_mpt_alibi_tensor(n_heads, 2)  # slope · (key position − last position)
    assert_close(slopes(n_heads), bloom[:, 0, 1])
    assert_close(slopes(n_heads), -mpt[:, 0, 0])


def test_alibi_bias_as_a_picture() -> None:
    bias = Alibi(n_heads=2).bias(3, 5)
    assert bias.shape == (2, 3, 5)
    assert (bias[0] / -slopes(2)[0]).tolist() == [[2, 1, 0, 1, 2], [3, 2, 1, 0, 1], [4, 3, 2, 1, 0]]
    assert_close(bias[1] / slopes(2)[1], bias[0] / slopes(2)[0])
