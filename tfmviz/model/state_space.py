"""A language model with a diagonal linear recurrence instead of attention (S4D, Gu et al. 2022)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz import deadline
from tfmviz.model.earlier import StateSpaceConfig
from tfmviz.model.linear import Linear, product
from tfmviz.record.tap import NO_TAP, Tap

SLOWEST, FASTEST = 0.002, 0.2
"""Initial decay rate per token of state 0, from the slowest channel to the fastest; state s decays s + 1 times as fast
(S4D-Real).
"""


class StateSpace(nn.Module):
    """Every channel c has states s, each of which decays at its own rate a = exp(−rate), in (0, 1):

        v_t = x_t W_in
        h_t = a ⊙ h_{t−1} + √(1 − a²) ⊙ v_t           v_t of the channel, for all its states
        y_t = Σ_s C_s h_ts + D v_t
        out = (y_t ⊙ silu(x_t W_gate)) W_out

    √(1 − a²) keeps slow and fast states about equally large (Orvieto et al. 2023). Only v_t depends on the token, so
    unrolled it is a convolution of v with the kernel K_t = Σ_s C_s √(1 − a_s²) a_s^t.

    Site: `hidden`, h, (batch, len, d_model × n_state), the states of a channel in sequence.
    """

    def __init__(self, config: StateSpaceConfig) -> None:
        super().__init__()
        d, n = config.d_model, config.n_state
        self.W_in, self.W_gate, self.W_out = Linear(d, d), Linear(d, d), Linear(d, d)
        slowest = torch.exp(torch.linspace(math.log(SLOWEST), math.log(FASTEST), d))[:, None]
        self.log_rate = nn.Parameter(torch.log(slowest * torch.arange(1, n + 1)))  # (channel, number), and so below
        self.C = nn.Parameter(torch.randn(d, n) / math.sqrt(n))
        self.D = nn.Parameter(torch.ones(d))

    def forward(self, x: Tensor, *, tap: Tap) -> Tensor:
        """(batch, len, d_model), shape kept."""
        v, gate = self.W_in(x), F.silu(self.W_gate(x))
        y = self.recur(v, tap=tap) if tap.watches("hidden") else self.convolve(v)
        return self.W_out((y.to(v.dtype) + self.D * v) * gate)

    def decay(self) -> tuple[Tensor, Tensor]:
        """a and √(1 − a²)."""
        a = torch.exp(-torch.exp(self.log_rate))
        return a, torch.sqrt(1 - a * a)

    def kernel(self, length: int) -> Tensor:
        """K: (channel, length), the effect of a token on later y."""
        a, b = self.decay()
        later = torch.arange(length, device=a.device)
        return torch.einsum("cs,cst->ct", self.C * b, a[..., None] ** later)

    def convolve(self, v: Tensor) -> Tensor:
        """All tokens in parallel: (batch, len, channel), shape kept."""
        length = v.shape[1]
        K = F.pad(self.kernel(length), (length - 1, 0))  # (channel, 2 len − 1), zeros before the first place
        back = torch.arange(length - 1, 2 * length - 1, device=v.device)
        matrix = K[:, back[:, None] - torch.arange(length, device=v.device)]  # (channel, len, len): K of i − j
        return torch.einsum("cij,bjc->bic", matrix.to(v.dtype), v)

    def recur(self, v: Tensor, *, tap: Tap) -> Tensor:
        """Token by token, with the state as a site: (batch, len, channel), shape kept."""
        a, b = self.decay()
        h, y = v.new_zeros(len(v), *a.shape), []
        for t in range(v.shape[1]):
            deadline.check()
            h = a * h + b * v[:, t, :, None]  # (batch, channel, number)
            h = tap.at(t, length=v.shape[1])("hidden", h.flatten(1)[:, None]).view_as(h)
            y.append((h * self.C).sum(dim=-1))
        return torch.stack(y, dim=1)


class StateSpaceBlock(nn.Module):
    """x + f(Norm(x)) around a state space and then a feed-forward layer."""

    def __init__(self, config: StateSpaceConfig) -> None:
        super().__init__()
        self.norm, self.mlp_norm = nn.LayerNorm(config.d_model), nn.LayerNorm(config.d_model)
        self.mixer = StateSpace(config)
        self.mlp_in, self.mlp_out = Linear(config.d_model, config.d_ff), Linear(config.d_ff, config.d_model)

    def forward(self, x: Tensor, *, tap: Tap) -> Tensor:
        """(batch, len, d_model), shape kept."""
        x = x + self.mixer(self.norm(x), tap=tap)
        return x + self.mlp_out(F.gelu(self.mlp_in(self.mlp_norm(x))))


class StateSpaceModel(nn.Module):
    """A language model of such blocks, with tied embeddings."""

    def __init__(self, config: StateSpaceConfig) -> None:
        super().__init__()
        self.config = config
        self.W_E = nn.Parameter(torch.empty(config.vocab_size, config.d_model))
        self.ssm = nn.ModuleList(StateSpaceBlock(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model)
        nn.init.normal_(self.W_E, std=0.02)
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear):
                writes = name.endswith(("W_out", "mlp_out"))  # smaller, as in `transformer.initialise`
                nn.init.normal_(module.weight, std=0.02 / math.sqrt(2 * config.n_layers) if writes else 0.02)
                nn.init.zeros_(module.bias)

    def forward(self, ids: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """ids: (batch, len). Returns logits (batch, len, vocab)."""
        return tap("logits", product(self.stream(ids, tap), self.W_E))

    def after(self, ids: Tensor) -> Tensor:
        """The last logits alone, (batch, vocab)."""
        return product(self.stream(ids)[:, -1], self.W_E)

    def stream(self, ids: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """ids: (batch, len). Returns (batch, len, d_model)."""
        x = tap("embed", math.sqrt(self.config.d_model) * F.embedding(ids, self.W_E))  # (batch, len, d_model)
        for index, block in enumerate(self.ssm):
            x = block(x, tap=tap.scope(f"ssm.{index}"))
        return self.norm(x)
