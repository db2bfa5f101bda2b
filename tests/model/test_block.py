"""Norms, feed-forward layers, blocks and stacks against torch.nn and transformers, and the accounting of the residual
stream."""

from typing import Any, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.cases import each
from tests.model.helpers import assert_close, blocks_of, config, lively, normal, record
from tests.model.sizes import BATCH, D_FF, D_MODEL, K_LENGTH, LENGTH, N_HEADS, N_LAYERS, SCHEMES
from tfmviz import masks
from tfmviz.model.attention import Attention
from tfmviz.model.block import Residual, Stack
from tfmviz.model.config import ModelConfig
from tfmviz.model.feed_forward import FeedForward
from tfmviz.model.pictures import ACROSS, N_PATCHES, PATCH, SIDE, PictureReader, patches
from tfmviz.model.pictures import config as config_of_pictures
from tfmviz.record.facts import Norm, NormPosition
from tfmviz.record.tap import NO_TAP

torchs_norm_positions = each("norm_position", ["pre", "post"])
every_norm = each("norm", get_args(Norm))

X, MEMORY = normal(BATCH, LENGTH, D_MODEL), normal(BATCH, K_LENGTH, D_MODEL, seed=4)
CAUSAL = masks.causal(LENGTH)
MEMORY_MASK = masks.full(LENGTH, K_LENGTH) & masks.padding(torch.tensor([5, K_LENGTH]), K_LENGTH)


def normalised(x: Tensor, norm: nn.Module) -> Tensor:
    """What torch's functions make of x with this norm's weights."""
    if isinstance(norm, nn.LayerNorm):
        return F.layer_norm(x, (D_MODEL,), norm.weight, norm.bias, eps=1e-5)
    assert isinstance(norm, nn.RMSNorm)
    return F.rms_norm(x, (D_MODEL,), norm.weight, eps=1e-5)


def copy_attention(theirs: nn.MultiheadAttention, ours: Attention) -> None:
    linears = (ours.W_Q, ours.W_K, ours.W_V)
    theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in linears]))
    theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in linears]))
    theirs.out_proj.load_state_dict(ours.W_O.state_dict())


def copy_feed_forward(theirs: nn.Module, ours: nn.Module | None) -> None:
    assert isinstance(ours, FeedForward)
    theirs.get_submodule("linear1").load_state_dict(ours.W_in.state_dict())
    theirs.get_submodule("linear2").load_state_dict(ours.W_out.state_dict())


def copy_norms(theirs: nn.Module, *ours: Residual | None) -> None:
    """Copies the norms; torch numbers them in the order of the layers they belong to."""
    for number, residual in enumerate(ours, start=1):
        assert residual is not None
        theirs.get_submodule(f"norm{number}").load_state_dict(residual.norm.state_dict())


def last_norm(stack: Stack) -> nn.LayerNorm | None:
    """A copy of the stack's last norm, for torch to use."""
    if stack.norm is None:
        return None
    weights = stack.norm.state_dict()
    norm = nn.LayerNorm(len(weights["weight"]))
    norm.load_state_dict(weights)
    return norm


@torch.no_grad()
def as_torch_encoder(stack: Stack, shape: ModelConfig, *, activation: str, norm_first: bool) -> nn.TransformerEncoder:
    how: dict[str, Any] = {"activation": activation, "norm_first": norm_first, "batch_first": True}
    layer = nn.TransformerEncoderLayer(shape.d_model, shape.attention.n_heads, shape.feed_forward.d_ff, **how)
    encoder = nn.TransformerEncoder(layer, shape.n_layers, norm=last_norm(stack), enable_nested_tensor=False)
    for theirs, ours in zip(encoder.layers, blocks_of(stack), strict=True):
        assert isinstance(theirs, nn.TransformerEncoderLayer)
        copy_attention(theirs.self_attn, ours.self_attn)
        copy_feed_forward(theirs, ours.mlp)
        copy_norms(theirs, ours.self_attn_residual, ours.mlp_residual)
    return encoder.eval()


@torch.no_grad()
def as_torch_decoder(stack: Stack, *, activation: str, norm_first: bool) -> nn.TransformerDecoder:
    how: dict[str, Any] = {"activation": activation, "norm_first": norm_first, "batch_first": True}
    layer = nn.TransformerDecoderLayer(D_MODEL, N_HEADS, D_FF, **how)
    decoder = nn.TransformerDecoder(layer, N_LAYERS, norm=last_norm(stack))
    for theirs, ours in zip(decoder.layers, blocks_of(stack), strict=True):
        assert isinstance(theirs, nn.TransformerDecoderLayer)
        assert ours.cross_attn is not None
        copy_attention(theirs.self_attn, ours.self_attn)
        copy_attention(theirs.multihead_attn, ours.cross_attn)
        copy_feed_forward(theirs, ours.mlp)
        copy_norms(theirs, ours.self_attn_residual, ours.cross_attn_residual, ours.mlp_residual)
    return decoder.eval()


@torchs_norm_positions
@each("activation", ["relu", "gelu"])
@each("lengths", [(LENGTH, LENGTH), (LENGTH, 3)])
def test_encoder_equals_torchs(norm_position: NormPosition, activation: str, lengths: tuple[int, ...]) -> None:
    shape = config(norm_position=norm_position, feed_forward=activation, positions="none")
    stack, mask = lively(Stack(shape, bidirectional=True)), masks.padding(torch.tensor(lengths), LENGTH)
    reference = as_torch_encoder(stack, shape, activation=activation, norm_first=norm_position == "pre")
    expected = reference(X, src_key_padding_mask=~mask[:, 0, 0])
    assert_close(stack(X, mask=masks.full(LENGTH, LENGTH) & mask, tap=NO_TAP), expected)


@torchs_norm_positions
@each("activation", ["relu", "gelu"])
def test_decoder_equals_torchs(norm_position: NormPosition, activation: str) -> None:
    shape = config(norm_position=norm_position, feed_forward=activation, positions="none")
    stack = lively(Stack(shape, bidirectional=False, cross=True))
    reference = as_torch_decoder(stack, activation=activation, norm_first=norm_position == "pre")
    expected = reference(X, MEMORY, tgt_mask=~CAUSAL, memory_key_padding_mask=~MEMORY_MASK[:, 0, 0])
    assert_close(stack(X, mask=CAUSAL, memory=MEMORY, memory_mask=MEMORY_MASK, tap=NO_TAP), expected)


def steps(layer: int, *, cross: bool) -> list[tuple[str, str, str]]:
    """(stream before, part that writes, stream after) for each step of a block, in order."""
    streams = ["resid_pre", "resid_mid", *(["resid_cross"] if cross else []), "resid_post"]
    parts = ["self_attn", *(["cross_attn"] if cross else []), "mlp"]
    names = zip(streams, parts, streams[1:], strict=False)
    return [(f"{layer}.{before}", f"{layer}.{part}", f"{layer}.{after}") for before, part, after in names]


@every_norm
@each("cross", [False, True])
@each("norm_position", get_args(NormPosition))
def test_the_residual_stream_is_accounted_for(norm: Norm, cross: bool, norm_position: NormPosition) -> None:
    shape = config(norm_position=norm_position, norm=norm, positions="none")
    stack = lively(Stack(shape, bidirectional=False, cross=cross))
    keywords = {"memory": MEMORY, "memory_mask": MEMORY_MASK} if cross else {}
    values = record(stack, X, mask=CAUSAL, **keywords)
    assert torch.equal(values["0.resid_pre"], X)
    assert ("norm" in values) is (norm_position != "post")
    for layer, block in enumerate(blocks_of(stack)):
        if layer > 0:
            assert torch.equal(values[f"{layer}.resid_pre"], values[f"{layer - 1}.resid_post"])
        for before, part, after in steps(layer, cross=cross):
            total = values[before] + values[f"{part}.out"]
            if norm_position == "post":
                residual = block.get_submodule(f"{part.split('.')[1]}_residual")
                assert isinstance(residual, Residual)
                assert torch.equal(values[after], values[f"{part}.norm"])
                assert_close(values[after], normalised(total, residual.norm))
            else:
                assert torch.equal(values[after], total)


def test_dropout_acts_on_embeddings_and_on_what_layers_write_after_it_is_recorded() -> None:
    """In training with dropout 0.5 the stream gets each number doubled or not at all (2017 paper, section 5.4)."""
    stack = lively(Stack(config(dropout=0.5, positions="none"), bidirectional=False)).train()
    values = record(stack, X, mask=CAUSAL)
    added = [(values["0.resid_pre"], X)]
    for before, part, after in steps(0, cross=False):
        added.append((values[after] - values[before], values[f"{part}.out"]))
    for written, recorded in added:
        is_kept = written != 0
        assert 0 < is_kept.sum() < is_kept.numel()
        assert_close(written[is_kept], 2 * recorded[is_kept])


@each("scheme", SCHEMES)
@each("bidirectional", [True, False])
def test_positions_never_touch_cross_attention(scheme: str, bidirectional: bool) -> None:
    stack = lively(Stack(config(positions=scheme), bidirectional=bidirectional, cross=True))
    values = record(stack, X, mask=CAUSAL, memory=MEMORY, memory_mask=masks.full(LENGTH, K_LENGTH))
    for layer in range(N_LAYERS):
        q, k, v = (values[f"{layer}.cross_attn.{name}"] for name in "qkv")
        assert_close(values[f"{layer}.cross_attn.z"], F.scaled_dot_product_attention(q, k, v))
        assert f"{layer}.cross_attn.rot_q" not in values


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
    model = lively(PictureReader(config_of_pictures("learned")))
    theirs = as_torch_encoder(model.encoder, model.config, activation="gelu", norm_first=True)
    cut = patches(pictures())
    rows = cut @ model.W_P.weight.T + model.W_P.bias
    x = torch.cat((model.class_token.expand(BATCH, 1, -1), rows), dim=1)
    (table,) = model.encoder.positions.parameters()
    expected = theirs(x + table)[:, 0] @ model.W_U.weight.T + model.W_U.bias
    assert_close(model(cut), expected)
