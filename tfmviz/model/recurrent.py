"""Recurrent layers (GRUs, Cho et al. 2014), and a language model made of them.

A GRU's memory is one vector, an LSTM's (Hochreiter & Schmidhuber 1997) two. It is also the unit of the first translator
with attention (Bahdanau et al. 2015).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz import deadline
from tfmviz.model.earlier import RecurrentConfig
from tfmviz.model.linear import product
from tfmviz.record.tap import NO_TAP, Tap
from tfmviz.record.weights import RecurrentWeights

SITES = ("reset", "update", "candidate", "hidden")
"""Sites of a layer at every step, each (batch, len, d_hidden)."""


class RecurrentLayer(nn.Module):
    """The same weights at every step t:

        r_t = σ(x_t W_xr + b_xr + h_{t-1} W_hr + b_hr)                how much of the state the candidate reads
        z_t = σ(x_t W_xz + b_xz + h_{t-1} W_hz + b_hz)                how much of the state stays
        n_t = tanh(x_t W_xn + b_xn + r_t ⊙ (h_{t-1} W_hn + b_hn))     the candidate
        h_t = (1 - z_t) ⊙ n_t + z_t ⊙ h_{t-1}                         the hidden state

    As in torch, r_t acts after the product with W_hn; in the paper, before. The gates are in (0, 1), candidate and
    state in (-1, 1).

    torch's fused kernel runs if the tap needs only the result.
    """

    def __init__(self, d_in: int, d_hidden: int) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.gru = nn.GRU(d_in, d_hidden, batch_first=True)

    def forward(self, x: Tensor, *, tap: Tap = NO_TAP, before: Tensor | None = None) -> Tensor:
        """The hidden states h_1, h_2 …, (batch, len, d_hidden).

        Args:
            x: (batch, len, d_in).
            before: (batch, d_hidden), the initial state; None: zeros.
        """
        if not tap.watches(*SITES):
            states, _ = self.gru(x, None if before is None else before[None])
            return states
        return torch.stack(self.states(x, range(x.shape[1]), before=before, tap=tap), dim=1)

    def backwards(self, x: Tensor, *, tap: Tap = NO_TAP) -> Tensor:
        """The same from the last token to the first: h_t from x_t and h_{t+1}."""
        if not tap.watches(*SITES):
            states, _ = self.gru(x.flip(1))
            return states.flip(1)
        return torch.stack(self.states(x, range(x.shape[1])[::-1], tap=tap)[::-1], dim=1)

    def states(self, x: Tensor, order: range, *, tap: Tap, before: Tensor | None = None) -> list[Tensor]:
        """The states (batch, d_hidden) after the tokens at these positions, read in this order."""
        h = x.new_zeros(len(x), self.d_hidden) if before is None else before
        states = []
        for t in order:
            deadline.check()
            h = self.step(x[:, t], h, tap=tap.at(t, length=x.shape[1]))
            states.append(h)
        return states

    def step(self, x: Tensor, h: Tensor, *, tap: Tap = NO_TAP) -> Tensor:
        """One step: x_t (batch, d_in) and h_{t-1} (batch, d_hidden) to h_t (batch, d_hidden).

        The sites have a position axis of length 1.
        """
        W_x, W_h, b_x, b_h = self.gru.parameters()  # r, z and n stacked
        x_r, x_z, x_n = product(x, W_x, b_x)[:, None].chunk(3, dim=-1)
        h_r, h_z, h_n = product(h, W_h, b_h)[:, None].chunk(3, dim=-1)
        r = tap("reset", torch.sigmoid(x_r + h_r))  # (batch, 1, d_hidden), and so below
        z = tap("update", torch.sigmoid(x_z + h_z))
        n = tap("candidate", torch.tanh(x_n + r * h_n))
        return tap("hidden", (1 - z) * n + z * h[:, None])[:, 0]


class RecurrentModel(nn.Module):
    """A language model of stacked recurrent layers.

    x_t is the row of W_E for the token w_t, times √d_model; the last layer's state predicts the next token: y_t =
    softmax(W_E h_t + b).
    """

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        self.W_E = nn.Parameter(torch.empty(config.vocab_size, config.d_model))
        self.b = nn.Parameter(torch.zeros(config.vocab_size))
        self.rnn = nn.ModuleList(RecurrentLayer(config.d_model, config.d_model) for _ in range(config.n_layers))
        nn.init.normal_(self.W_E, std=0.02)

    def forward(self, ids: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """ids: (batch, len). Returns logits (batch, len, vocab)."""
        return tap("logits", product(self.states(ids, tap), self.W_E, self.b))

    def after(self, ids: Tensor) -> Tensor:
        """The last logits alone, (batch, vocab)."""
        return product(self.states(ids)[:, -1], self.W_E, self.b)

    def states(self, ids: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """ids: (batch, len). Returns the states of the last layer, (batch, len, d_model)."""
        x = tap("embed", math.sqrt(self.config.d_model) * F.embedding(ids, self.W_E))  # (batch, len, d_model)
        for index, layer in enumerate(self.rnn):
            x = layer(x, tap=tap.scope(f"rnn.{index}"))
        return x


def weights_of(layer: RecurrentLayer) -> RecurrentWeights:
    """The matrices of a layer; the arrays share its memory."""
    W_x, W_h, b_x, b_h = (part.detach().unflatten(0, (3, -1)).numpy() for part in layer.gru.parameters())
    return RecurrentWeights(W_x=W_x, W_h=W_h, b_x=b_x, b_h=b_h)
