"""The position-wise feed-forward layer, its gated variant, and a mixture of several."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, assert_never, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz.model.config import ModelConfig
from tfmviz.model.linear import Linear
from tfmviz.model.norms import build_out_norm
from tfmviz.record.facts import FeedForwardKind
from tfmviz.record.tap import NO_TAP, Tap


class FeedForward(nn.Module):
    """f(x W_in + b_in) W_out + b_out with f = ReLU, its square, GELU or SiLU (Vaswani et al. 2017, section 3.3).

    The same function at every position. Sites: `pre` before f and `post` after it, both (batch, len, d_ff).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_in = Linear(config.d_model, config.feed_forward.d_ff)
        self.W_out = Linear(config.feed_forward.d_ff, config.d_model)
        self.kind = config.feed_forward.kind
        self.activation = activation(config.feed_forward.kind)
        self.out_norm = build_out_norm(config)

    def forward(self, x: Tensor, *, tap: Tap) -> Tensor:
        pre = tap("pre", self.W_in(x))  # (batch, len, d_ff)
        post = tap("post", self.activation(pre))
        return tap("out", self.out_norm(self.W_out(post)))  # (batch, len, d_model)


def activation(kind: FeedForwardKind) -> Callable[[Tensor], Tensor]:
    """f, which acts on what W_in reads or, in a gated layer, on the gate."""
    match kind:
        case "relu" | "reglu":
            return F.relu
        case "relu2":
            return relu_squared
        case "gelu" | "geglu":
            return F.gelu
        case "gelu_tanh" | "geglu_tanh":
            return partial(F.gelu, approximate="tanh")
        case "silu" | "swiglu":
            return F.silu
        case "none":
            raise ValueError("There is no feed-forward layer, so it has no function.")
        case _:
            assert_never(kind)


def relu_squared(x: Tensor) -> Tensor:
    """max(0, x)² (So et al. 2021, Primer)."""
    return F.relu(x).square()


class GatedFeedForward(nn.Module):
    """(f(x W_gate) ⊙ x W_in) W_out, with biases: SwiGLU with f = SiLU, GEGLU with GELU, ReGLU with ReLU (Shazeer 2020).

    Sites: `gate` and `pre` before the product, `post` after it, all (batch, len, d_ff).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_gate = Linear(config.d_model, config.feed_forward.d_ff)
        self.W_in = Linear(config.d_model, config.feed_forward.d_ff)
        self.W_out = Linear(config.feed_forward.d_ff, config.d_model)
        self.kind = config.feed_forward.kind
        self.activation = activation(config.feed_forward.kind)
        self.out_norm = build_out_norm(config)

    def forward(self, x: Tensor, *, tap: Tap) -> Tensor:
        gate = tap("gate", self.W_gate(x))  # (batch, len, d_ff)
        pre = tap("pre", self.W_in(x))  # (batch, len, d_ff)
        post = tap("post", self.activation(gate) * pre)
        return tap("out", self.out_norm(self.W_out(post)))  # (batch, len, d_model)


BALANCE = 0.01
"""α of the loss that spreads the tokens over the experts (Fedus et al. 2021, section 2.2)."""


class Experts(nn.Module):
    """A mixture of experts: p_i(x) E_i(x), with p = softmax(x W_R + b_R) and i the expert with the largest p.

    Each expert E_i is a feed-forward layer, and each token passes one of them alone (Switch Transformer, Fedus et al.
    2021, section 2.1). Every token is served, however many choose the same expert: the paper's capacity is left out.

    In training the gradient is that of loss + α · n · Σ_i f_i P_i, where f_i is the share of the tokens that chose
    expert i, P_i the mean of p_i and n the number of experts (equation 4); see `Balance`.

    Site: `router`, p, (batch, len, expert); rows sum to 1, and the largest names the expert.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_R = Linear(config.d_model, config.feed_forward.n_experts)
        self.experts = nn.ModuleList(build_expert(config) for _ in range(config.feed_forward.n_experts))

    def forward(self, x: Tensor, *, tap: Tap) -> Tensor:
        p = self.W_R(x).softmax(dim=-1)  # (batch, len, expert)
        if self.training:
            p = balanced(p)
        p = tap("router", p)
        x = x.expand(len(p), -1, -1)  # a tap may have made several rows of one
        p, chosen = p.flatten(0, 1).max(dim=-1)  # (batch × len,) each
        order = chosen.argsort(stable=True)  # tokens of one expert next to one another
        sizes = chosen.bincount(minlength=len(self.experts)).tolist()
        groups = x.flatten(0, 1)[order].split(sizes)  # (tokens of the expert, d_model) each
        written = torch.cat([expert(group, tap=NO_TAP) for expert, group in zip(self.experts, groups, strict=True)])
        return tap("out", (p[:, None] * written[order.argsort()]).view_as(x))  # (batch, len, d_model)


def build_expert(config: ModelConfig) -> FeedForward | GatedFeedForward:
    """One feed-forward layer."""
    return GatedFeedForward(config) if config.feed_forward.is_gated else FeedForward(config)


def balanced(p: Tensor) -> Tensor:
    """p itself, with the gradient of the balancing loss added on the way back: (batch, len, expert), shape kept."""
    n_experts = p.shape[-1]
    chosen = p.argmax(dim=-1).flatten()
    share = chosen.bincount(minlength=n_experts) / len(chosen)  # f, (expert,); no gradient
    return cast(Any, Balance).apply(p, BALANCE * n_experts / len(chosen) * share)


class Balance(torch.autograd.Function):
    """The identity, whose gradient is larger by that of a linear loss Σ c · p."""

    @staticmethod
    def forward(ctx: Any, p: Tensor, c: Tensor) -> Tensor:
        ctx.save_for_backward(c)
        return p.view_as(p)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None]:
        (c,) = ctx.saved_tensors
        return upstream[0] + c.to(upstream[0].dtype), None
