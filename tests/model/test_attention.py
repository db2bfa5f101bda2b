"""Attention against torch's own two implementations, its two paths against each other, and what a pattern must obey."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.cases import each
from tests.model.helpers import assert_close, assert_same, config, lively, normal, record
from tests.model.sizes import BATCH, BIASES, D_HEAD, D_MODEL, K_LENGTH, LENGTH, MAX_LEN, N_HEADS
from tests.model.test_block import copy_attention
from tfmviz import masks
from tfmviz.analysis import linear_attention
from tfmviz.model.attention import Attention
from tfmviz.model.block import build_positions
from tfmviz.model.linear import Linear
from tfmviz.positions.rope import Rope
from tfmviz.record.tap import NO_TAP, STEPWISE, PassThrough

SELF_LENGTHS, CROSS_LENGTHS = torch.tensor([LENGTH, 3]), torch.tensor([5, K_LENGTH])
SELF_PADDING, CROSS_PADDING = masks.padding(SELF_LENGTHS, LENGTH), masks.padding(CROSS_LENGTHS, K_LENGTH)

MASKS = {
    "full": masks.full(LENGTH, LENGTH),
    "causal": masks.causal(LENGTH),
    "padding": SELF_PADDING,
    "causal and padding": masks.causal(LENGTH) & SELF_PADDING,
    "cross": masks.full(LENGTH, K_LENGTH),
    "cross and padding": masks.full(LENGTH, K_LENGTH) & CROSS_PADDING,
}
every_mask = each("mask", MASKS)
every_bias = each("scheme", BIASES)


def inputs_for(mask: Tensor) -> tuple[Tensor, Tensor]:
    """x_q and x_kv as long as the mask wants them; self-attention passes the same tensor twice."""
    x_q = normal(BATCH, LENGTH, D_MODEL)
    return x_q, x_q if mask.shape[-1] == LENGTH else normal(BATCH, K_LENGTH, D_MODEL, seed=4)


def bias_for(mask: Tensor, scheme: str, *, n_heads: int = N_HEADS) -> Tensor | None:
    shape = config(positions=scheme, n_heads=n_heads, d_model=n_heads * D_HEAD)
    bias = lively(build_positions(shape, bidirectional=True)).bias(LENGTH, mask.shape[-1])
    assert (bias is None) is (scheme == "none")
    return None if bias is None else bias.detach()


def additive(mask: Tensor, bias: Tensor | None) -> Tensor:
    """Mask and bias as the one float mask torch's kernels take: (batch or 1, head or 1, q_len, k_len)."""
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf) + (0 if bias is None else bias)


@every_mask
@every_bias
def test_attention_equals_torchs_multihead_attention(mask: Tensor, scheme: str) -> None:
    attention, bias = lively(Attention(config())), bias_for(mask, scheme)
    x_q, x_kv = inputs_for(mask)
    values, both = record(attention, x_q, x_kv, mask=mask, bias=bias), additive(mask, bias)
    float_mask = both.expand(BATCH, N_HEADS, LENGTH, -1).flatten(0, 1)
    reference = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True).eval()
    with torch.no_grad():
        copy_attention(reference, attention)
    out, pattern = reference(x_q, x_kv, x_kv, attn_mask=float_mask, average_attn_weights=False)
    assert_close(values["pattern"], pattern)
    assert_close(values["out"], out)
    z = F.scaled_dot_product_attention(values["q"], values["k"], values["v"], attn_mask=both)
    assert_close(values["z"], z)
    assert_close(values["scores"].softmax(dim=-1), pattern)
    allowed = mask.expand_as(pattern)
    assert (pattern[allowed] > 0).all()
    assert (pattern[~allowed] == 0).all()
    assert (values["scores"] == -torch.inf).equal(~allowed)


@every_mask
def test_the_two_paths_have_equal_gradients(mask: Tensor) -> None:
    attention = lively(Attention(config(n_kv_heads=1)))
    gradients = []
    for tap in (NO_TAP, STEPWISE):
        attention.zero_grad()
        attention(*inputs_for(mask), mask=mask, tap=tap).square().mean().backward()
        gradients.append([weight.grad.clone() for weight in attention.parameters() if weight.grad is not None])
    fused, stepwise = gradients
    assert len(fused) == len(list(attention.parameters()))
    for ours, theirs in zip(fused, stepwise, strict=True):
        assert_close(ours, theirs)


@each("n_kv_heads", [1, 2, 3, 6])
@each("kind", ["causal", "causal and padding"])
@every_bias
def test_grouped_heads_equal_torchs(n_kv_heads: int, kind: str, scheme: str) -> None:
    mask, x = MASKS[kind], normal(BATCH, LENGTH, 6 * D_HEAD)
    bias = bias_for(mask, scheme, n_heads=6)
    attention = lively(Attention(config(n_heads=6, d_model=6 * D_HEAD, n_kv_heads=n_kv_heads)))
    values = record(attention, x, x, mask=mask, bias=bias)
    q, k, v = (values[name] for name in "qkv")
    assert k.shape == v.shape == (BATCH, n_kv_heads, LENGTH, D_HEAD)
    z = F.scaled_dot_product_attention(q, k, v, attn_mask=additive(mask, bias), enable_gqa=True)
    assert_close(values["z"], z)
    assert_close(attention(x, x, mask=mask, bias=bias, tap=NO_TAP), values["out"])


def test_rotation_changes_queries_and_keys_but_not_values() -> None:
    attention, mask = lively(Attention(config())), MASKS["causal"]
    plain = record(attention, *inputs_for(mask), mask=mask)
    turned = record(attention, *inputs_for(mask), mask=mask, positions=Rope(max_len=MAX_LEN, d_head=D_HEAD))
    assert_same({site: turned[site] for site in "qkv"}, {site: plain[site] for site in "qkv"})
    z = F.scaled_dot_product_attention(turned["rot_q"], turned["rot_k"], turned["v"], attn_mask=mask)
    assert_close(turned["z"], z)
    assert not torch.allclose(turned["z"], plain["z"], atol=1e-2)


def test_the_pattern_is_recorded_before_dropout() -> None:
    attention, mask = lively(Attention(config(dropout=0.5))), MASKS["causal"]
    x, _ = inputs_for(mask)
    without = record(attention, x, x, mask=mask)
    attention.train()
    torch.manual_seed(5)
    values = record(attention, x, x, mask=mask)
    assert torch.equal(values["pattern"], without["pattern"])

    torch.manual_seed(5)
    assert_close(values["z"], F.dropout(values["pattern"], 0.5) @ values["v"])
    assert not torch.allclose(values["z"], without["z"], atol=1e-2)


@each("tap", {"fused": NO_TAP, "stepwise": STEPWISE})
def test_both_paths_drop_out_in_training_only(tap: PassThrough) -> None:
    """The first query sees one key: it either keeps its value, doubled, or loses it."""
    attention, mask = lively(Attention(config(dropout=0.5))), MASKS["causal"]
    attention.W_O = Linear(D_MODEL, D_MODEL)
    with torch.no_grad():
        attention.W_O.weight.copy_(torch.eye(D_MODEL))
        attention.W_O.bias.zero_()
    x = normal(53, LENGTH, D_MODEL)
    kept = attention(x, x, mask=mask, tap=tap)[:, 0].unflatten(-1, (N_HEADS, D_HEAD))
    torch.manual_seed(5)
    dropped = attention.train()(x, x, mask=mask, tap=tap)[:, 0].unflatten(-1, (N_HEADS, D_HEAD))
    is_zero = (dropped == 0).all(-1)
    assert 0 < is_zero.sum() < is_zero.numel()
    assert_close(dropped[~is_zero], 2 * kept[~is_zero])


# The path of training on a CPU in bfloat16.


@every_mask
@every_bias
def test_attending_in_halves_equals_torchs_kernel(mask: Tensor, scheme: str) -> None:
    bias, k_len = bias_for(mask, scheme), mask.shape[-1]
    q, k, v = (normal(BATCH, N_HEADS, length, D_HEAD, seed=length) for length in (LENGTH, k_len, k_len))
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=additive(mask, bias))
    assert_close(lively(Attention(config())).attend_in_halves(q, k, v, mask=mask, bias=bias), expected)


@each("scheme", BIASES)
def test_training_in_bfloat16_has_the_gradients_of_the_fused_kernel(scheme: str) -> None:
    mask, gradients = masks.causal(LENGTH), []
    for training in (True, False):
        attention = lively(Attention(config())).train(training)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = attention(*inputs_for(mask), mask=mask, bias=bias_for(mask, scheme), tap=NO_TAP)
        (out.float() * normal(*out.shape, seed=5)).sum().backward()
        gradients.append(torch.cat([p.grad.flatten() for p in attention.parameters() if p.grad is not None]))
    assert (gradients[0] - gradients[1]).norm() < 0.02 * gradients[1].norm()


def test_linear_attention_is_the_kernel_of_features_over_its_sum() -> None:
    """Against running sums, in which no pair is ever formed, in float64 (Katharopoulos et al. 2020)."""
    attention, mask = lively(Attention(config(attention="linear", positions="sinusoidal"))), MASKS["causal"]
    values = record(attention, *inputs_for(mask), mask=mask)
    q, k, v = (values[name][0].double().numpy() for name in "qkv")
    np.testing.assert_allclose(values["z"][0].numpy(), linear_attention.running(q, k, v, angles=None), atol=1e-5)
    torch.testing.assert_close(attention(*inputs_for(mask), mask=mask, tap=NO_TAP), values["out"])
    with torch.no_grad():  # elu(x) + 1 rounds to 0 at x = −20; then there would be nothing to divide by
        attention.W_Q.bias.fill_(-20.0)
        attention.W_K.bias.fill_(-20.0)
    pattern = record(attention, *inputs_for(mask), mask=mask)["pattern"]
    torch.testing.assert_close(pattern.sum(-1), torch.ones_like(pattern.sum(-1)))


def with_sink(**changes: object) -> Attention:
    attention = lively(Attention(config(sink="present", **changes)))
    with torch.no_grad():
        assert attention.sink is not None
        attention.sink.copy_(torch.linspace(-2, 2, N_HEADS))
    return attention


@every_mask
def test_a_sink_is_one_more_logit_that_every_row_divides_by(mask: Tensor) -> None:
    attention = with_sink(n_kv_heads=1)
    values = record(attention, *inputs_for(mask), mask=mask)
    scores = values["scores"].double().numpy()
    powers, sinks = np.exp(scores), np.exp(np.linspace(-2, 2, N_HEADS))[:, None, None]
    pattern = powers / (powers.sum(-1, keepdims=True) + sinks)
    np.testing.assert_allclose(values["pattern"].numpy(), pattern, atol=1e-6)
    np.testing.assert_allclose(values["z"].numpy(), pattern @ values["v"].double().numpy(), atol=1e-5)
    torch.testing.assert_close(attention(*inputs_for(mask), mask=mask, tap=NO_TAP), values["out"])


def test_a_sink_learns() -> None:
    attention, mask = with_sink(), MASKS["causal"]
    attention(*inputs_for(mask), mask=mask, tap=NO_TAP).square().sum().backward()
    assert attention.sink is not None
    assert attention.sink.grad is not None
    assert attention.sink.grad.abs().min() > 0
