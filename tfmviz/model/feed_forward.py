"""The position-wise feed-forward layer, its gated variant, and a mixture of experts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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

    Sites: `pre` before f and `post` after it, both (batch, len, d_ff).
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
    """f, applied to x W_in or, in a gated layer, to the gate."""
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

    With limits a, b and c it is (f(min(x W_gate, a)) ⊙ clamp(x W_in, b, c)) W_out (gpt-oss).

    Sites: `gate` and `pre` before limits and product, `post` after it, all (batch, len, d_ff).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_gate = Linear(config.d_model, config.feed_forward.d_ff)
        self.W_in = Linear(config.d_model, config.feed_forward.d_ff)
        self.W_out = Linear(config.feed_forward.d_ff, config.d_model)
        self.kind = config.feed_forward.kind
        self.activation = activation(config.feed_forward.kind)
        self.out_norm = build_out_norm(config)
        self.limits = config.feed_forward.limits

    def forward(self, x: Tensor, *, tap: Tap) -> Tensor:
        gate = tap("gate", self.W_gate(x))  # (batch, len, d_ff)
        pre = tap("pre", self.W_in(x))  # (batch, len, d_ff)
        if self.limits is not None:
            most, low, high = self.limits
            gate, pre = gate.clamp(max=most), pre.clamp(low, high)
        post = tap("post", self.activation(gate) * pre)
        return tap("out", self.out_norm(self.W_out(post)))  # (batch, len, d_model)


BALANCE = 0.01
"""α of the load-balancing loss (Fedus et al. 2021, section 2.2)."""


class Experts(nn.Module):
    """A mixture of experts: Σ w_i E_i(x), over the k experts with the largest p_i of p = softmax(x W_R + b_R).

    Each expert E_i reads only the tokens routed to it: with k = 1 and w_i = p_i the Switch Transformer (Fedus et al.
    2021, section 2.1); with k = 2 and w = p / Σ p of the chosen, the softmax of their scores, Mixtral (Jiang et al.
    2024, section 2.1). There is no capacity limit. A shared expert, if any, reads every token, weighted by σ(x W_S +
    b_S) (Qwen2-MoE).

    In training the gradient is that of loss + α · n · Σ_i f_i P_i, where f_i is the share of the choices that fell on
    expert i, P_i the mean of p_i and n the number of experts (equation 4 of the first paper).

    Sites: `router`, p, (batch, len, expert), whose rows sum to 1; `weights`, w, the same, 0 for each expert not chosen;
    `shared`, σ(x W_S + b_S), (batch, len, 1).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        facts = config.feed_forward
        self.n_chosen, self.scales_up = facts.n_chosen, facts.scaled_up
        self.W_R = Linear(config.d_model, facts.n_experts)
        self.experts = nn.ModuleList(build_expert(config) for _ in range(facts.n_experts))
        self.shared: FeedForward | GatedFeedForward | None = None
        self.W_S: Linear | None = None
        if facts.d_shared is not None:
            self.shared = build_expert(replace(config, feed_forward=replace(facts, d_ff=facts.d_shared)))
            self.W_S = Linear(config.d_model, 1)

    def forward(self, x: Tensor, *, tap: Tap) -> Tensor:
        p = self.W_R(x).softmax(dim=-1)  # (batch, len, expert)
        if self.training:
            p = balanced(p, self.n_chosen)
        w = tap("weights", self.weights_of(tap("router", p)))
        out = self.written(x.expand(len(w), -1, -1), w)  # a tap may have made several rows of one
        if self.shared is not None and self.W_S is not None:
            out = out + tap("shared", self.W_S(x).sigmoid()) * self.shared(x, tap=NO_TAP)
        return tap("out", out)  # (batch, len, d_model)

    def weights_of(self, p: Tensor) -> Tensor:
        """w: the k largest p, in some models divided by their sum: (batch, len, expert)."""
        largest, chosen = p.topk(self.n_chosen, dim=-1)  # (batch, len, k) each
        if self.scales_up:
            largest = largest / largest.sum(dim=-1, keepdim=True)
        return torch.zeros_like(p).scatter(-1, chosen, largest)

    def written(self, x: Tensor, w: Tensor) -> Tensor:
        """Σ w_i E_i(x): (batch, len, d_model)."""
        shape, x, w = x.shape, x.flatten(0, 1), w.flatten(0, 1)  # (batch × len, …) each
        expert, token = w.T.nonzero().T  # sorted by expert
        sizes = expert.bincount(minlength=len(self.experts)).tolist()
        groups = zip(self.experts, x[token].split(sizes), strict=True)
        each = torch.cat([layer(group, tap=NO_TAP) for layer, group in groups])  # (choice, d_model)
        return torch.zeros_like(x).index_add(0, token, w[token, expert, None] * each).view(shape)


def build_expert(config: ModelConfig) -> FeedForward | GatedFeedForward:
    return GatedFeedForward(config) if config.feed_forward.is_gated else FeedForward(config)


def balanced(p: Tensor, n_chosen: int) -> Tensor:
    """p itself, with the balancing loss's gradient."""
    n_experts = p.shape[-1]
    chosen = p.topk(n_chosen, dim=-1).indices.flatten()
    share = chosen.bincount(minlength=n_experts) / len(chosen)  # f, (expert,); no gradient
    n_tokens = len(chosen) // n_chosen
    return cast(Any, Balance).apply(p, BALANCE * n_experts / n_tokens * share)


class Balance(torch.autograd.Function):
    """The identity, with the gradient of a linear loss Σ c · p added."""

    @staticmethod
    def forward(ctx: Any, p: Tensor, c: Tensor) -> Tensor:
        ctx.save_for_backward(c)
        return p.view_as(p)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None]:
        (c,) = ctx.saved_tensors
        return upstream[0] + c.to(upstream[0].dtype), None
