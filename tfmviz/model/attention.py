"""Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2)."""

from __future__ import annotations

from typing import assert_never

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz.model.config import ModelConfig
from tfmviz.model.linear import Dropout, Linear
from tfmviz.model.norms import build_out_norm, build_qk_norm
from tfmviz.positions.base import Positions
from tfmviz.record.tap import Tap

NO_POSITIONS = Positions()


class Attention(nn.Module):
    """softmax(Q Kᵀ / √d_head + bias, over the allowed keys) V, for every head, merged by W_O.

    A configuration may replace √d_head and set a cap c on the scores: c · tanh(scores / c). In linear attention the
    score is ln(φ(q) · φ(k)) with φ = elu + 1, so that the pattern is φ(q) · φ(k), divided by its sum over the allowed
    keys (Katharopoulos et al. 2020, equation 4). A sink s of each head adds exp(s) to the divisor: rows sum to less
    than 1.

    With n_kv_heads < n_heads, neighbouring query heads share keys and values; the sites `k` and `v` hold them once per
    key/value head, after the norm of queries and keys.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.is_linear = is_linear(config)
        self.d_head = config.d_head
        self.divisor = config.divisor
        self.score_cap = config.attention.score_cap
        n_heads, n_kv_heads = config.attention.n_heads, config.attention.n_kv_heads
        self.n_groups = n_heads // n_kv_heads
        self.dropout = Dropout(config.dropout)
        d_q, d_kv = n_heads * config.d_head, n_kv_heads * config.d_head
        self.W_Q = Linear(config.d_model, d_q)
        self.W_K = Linear(config.d_model, d_kv)
        self.W_V = Linear(config.d_model, d_kv)
        self.W_O = Linear(d_q, config.d_model)
        self.q_norm, self.k_norm = build_qk_norm(config, n_heads), build_qk_norm(config, n_kv_heads)
        self.norms_heads = config.attention.qk_norm != "all heads"
        self.out_norm = build_out_norm(config)
        self.sink = nn.Parameter(torch.zeros(n_heads)) if config.attention.sink else None  # (head,)

    def forward(
        self,
        x_q: Tensor,
        x_kv: Tensor,
        *,
        mask: Tensor,
        tap: Tap,
        positions: Positions = NO_POSITIONS,
        bias: Tensor | None = None,
    ) -> Tensor:
        """One attention layer: (batch, q_len, d_model).

        Args:
            x_q: (batch, q_len, d_model).
            x_kv: (batch, k_len, d_model), read by keys and values.
            mask: bool, True = may attend; broadcasts to (batch, head, q_len, k_len).
            positions: rotates queries and keys, or relates queries to distances.
            bias: added to the scaled scores, (head, q_len, k_len).
        """
        q = tap("q", self.normed_heads(self.W_Q(x_q), self.q_norm))  # (batch, head, q_len, d_head)
        k = tap("k", self.normed_heads(self.W_K(x_kv), self.k_norm))  # (batch, kv head, k_len, d_head)
        v = tap("v", self.split_heads(self.W_V(x_kv)))  # (batch, kv head, k_len, d_head)
        q, k = positions.rotate(q, k, tap)
        k, v = self.share(k), self.share(v)  # (batch, head, k_len, d_head)
        mask = tap("mask", mask)
        relative = positions.relate(q, k.shape[-2])
        if relative is not None:
            relative = tap("bias", torch.where(mask, relative / self.divisor, 0.0))  # (batch, head, q_len, k_len)
            bias = relative if bias is None else bias + relative
        is_plain = not self.is_linear and self.score_cap is None and self.sink is None
        if not is_plain or tap.watches("scores", "pattern"):
            z = self.attend_stepwise(q, k, v, mask=mask, bias=bias, tap=tap)
        else:
            z = self.attend_fused(q, k, v, mask=mask, bias=bias)
        z = tap("z", z)  # (batch, head, q_len, d_head)
        return tap("out", self.out_norm(self.W_O(z.transpose(1, 2).flatten(2))))  # (batch, q_len, d_model)

    def attend_stepwise(
        self, q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor, bias: Tensor | None, tap: Tap
    ) -> Tensor:
        """The equation, one step per line: (batch, head, q_len, d_head)."""
        scores = self.score(q, k)
        if bias is not None:
            scores = scores + bias
        scores = tap("scores", torch.where(mask, scores, -torch.inf))
        pattern = tap("pattern", self.normalise(scores))  # rows sum to 1, or less with a sink; before dropout
        return self.dropout(pattern) @ v

    def score(self, q: Tensor, k: Tensor) -> Tensor:
        """The argument of the softmax before bias and mask: (batch, head, q_len, k_len)."""
        if self.is_linear:
            return (feature(q) @ feature(k).mT).log()
        scores = q @ k.mT / self.divisor
        return scores if self.score_cap is None else capped(scores, self.score_cap)

    def normalise(self, scores: Tensor) -> Tensor:
        """The softmax over the keys and the sink, if any: (batch, head, q_len, k_len)."""
        if self.sink is None:
            return scores.softmax(dim=-1)
        sink = self.sink.to(scores.dtype)[:, None, None].expand(*scores.shape[:-1], 1)  # (batch, head, q_len, 1)
        return torch.cat((scores, sink), dim=-1).softmax(dim=-1)[..., :-1]

    def attend_fused(self, q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor, bias: Tensor | None) -> Tensor:
        """The same in one kernel, which never stores the pattern."""
        if self.training and q.dtype == torch.bfloat16 and q.device.type == "cpu" and not torch.compiler.is_compiling():
            return self.attend_in_halves(q, k, v, mask=mask, bias=bias)
        if bias is not None:
            mask = bias.to(q.dtype).masked_fill(~mask, -torch.inf)
        dropout = self.dropout.p if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=1 / self.divisor)

    def attend_in_halves(self, q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor, bias: Tensor | None) -> Tensor:
        """The same stepwise for each half of the queries.

        Keys after the last one that a half may see are left out: in a decoder the first half needs half of the keys.
        For training on a CPU in bfloat16, where the backward pass of torch's kernel takes twice as long.
        """
        half = q.shape[-2] // 2
        mask = mask.expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
        bias = torch.zeros_like(mask, dtype=q.dtype) if bias is None else bias.to(q.dtype)
        bias = bias.masked_fill(~mask, -torch.inf)
        q = q / self.divisor
        halves = []
        for rows in (slice(half), slice(half, None)):
            seen = mask[..., rows, :].flatten(0, -2).any(dim=0).nonzero()  # (n, 1), indices of keys
            keys = slice(int(seen[-1]) + 1 if len(seen) else 0)
            scores = q[..., rows, :] @ k[..., keys, :].mT + bias[..., rows, keys]  # (batch, head, half, n)
            halves.append(self.dropout(scores.softmax(dim=-1)) @ v[..., keys, :])
        return torch.cat(halves, dim=-2)

    def split_heads(self, x: Tensor) -> Tensor:
        """(batch, len, heads × d_head) to (batch, heads, len, d_head)."""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def normed_heads(self, x: Tensor, norm: nn.Module) -> Tensor:
        """`split_heads`, and the norm of each head or of all together."""
        return norm(self.split_heads(x)) if self.norms_heads else self.split_heads(norm(x))

    def share(self, x: Tensor) -> Tensor:
        """Repeats each key/value head for the query heads of its group: (batch, head, k_len, d_head)."""
        return x if self.n_groups == 1 else x.repeat_interleave(self.n_groups, dim=1)


def is_linear(config: ModelConfig) -> bool:
    match config.attention.kind:
        case "softmax":
            return False
        case "linear":
            return True
        case _:
            assert_never(config.attention.kind)


def feature(x: Tensor) -> Tensor:
    """φ(x) = elu(x) + 1, without a difference, so that it stays positive where elu(x) rounds to −1."""
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def capped(x: Tensor, cap: float) -> Tensor:
    """c · tanh(x / c) (Bello et al. 2016; Gemma 2)."""
    return cap * torch.tanh(x / cap)
