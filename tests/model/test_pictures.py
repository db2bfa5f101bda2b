"""The reader of pictures, against torch's own encoder and by its laws."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.model.helpers import assert_close, blocks_of, lively
from tests.model.test_block import copy_layer
from tfmviz.model.pictures import ACROSS, N_PATCHES, PATCH, SIDE, PictureReader, config, patches

BATCH = 3


def pictures() -> Tensor:
    return torch.rand(BATCH, SIDE, SIDE, generator=torch.Generator().manual_seed(1))


def test_patches_are_cut_from_left_to_right_and_from_top_to_bottom() -> None:
    read = pictures()
    for n in range(N_PATCHES):
        row, column = divmod(n, ACROSS)
        cut = read[:, PATCH * row : PATCH * (row + 1), PATCH * column : PATCH * (column + 1)]
        assert patches(read)[:, n].equal(cut.flatten(1))


@torch.no_grad()
def test_the_whole_model_is_torchs_encoder_between_two_matrices() -> None:
    model = lively(PictureReader(config("learned")))
    sizes, last = model.config, model.encoder.norm
    how: dict[str, Any] = {"activation": "gelu", "norm_first": True, "batch_first": True}
    layer = nn.TransformerEncoderLayer(sizes.d_model, sizes.attention.n_heads, sizes.feed_forward.d_ff, **how)
    assert isinstance(last, nn.LayerNorm)
    theirs = nn.TransformerEncoder(layer, sizes.n_layers, norm=last, enable_nested_tensor=False)
    for copy, ours in zip(theirs.layers, blocks_of(model.encoder), strict=True):
        copy_layer(copy, ours)
    cut = patches(pictures())
    rows = cut @ model.W_P.weight.T + model.W_P.bias
    x = torch.cat((model.class_token.expand(BATCH, 1, -1), rows), dim=1)
    (table,) = model.encoder.positions.parameters()
    expected = theirs.eval()(x + table)[:, 0] @ model.W_U.weight.T + model.W_U.bias
    assert_close(model(cut), expected)
