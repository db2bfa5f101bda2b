"""Recurrent networks that label every token, in one direction or both (Schuster & Paliwal 1997)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz.model.earlier import LabellerConfig
from tfmviz.model.linear import Linear
from tfmviz.model.recurrent import RecurrentLayer
from tfmviz.record.tap import NO_TAP, Tap


class BidirectionalLayer(nn.Module):
    """Two recurrent layers in parallel, with separate weights:

    →h_t = GRU(x_t, →h_{t-1})      from the first token to the last: the text before
    ←h_t = GRU(x_t, ←h_{t+1})      from the last token to the first: the text after
    h_t = [→h_t; ←h_t]
    """

    def __init__(self, d_in: int, d_hidden: int) -> None:
        super().__init__()
        self.from_left = RecurrentLayer(d_in, d_hidden)
        self.from_right = RecurrentLayer(d_in, d_hidden)

    def forward(self, x: Tensor, *, tap: Tap = NO_TAP) -> Tensor:
        """(batch, len, d_in) to (batch, len, 2 × d_hidden)."""
        before = self.from_left(x, tap=tap.scope("forward"))  # (batch, len, d_hidden)
        after = self.from_right.backwards(x, tap=tap.scope("backward"))  # (batch, len, d_hidden)
        return torch.cat((before, after), dim=-1)


class Labeller(nn.Module):
    """Stacked recurrent layers, and a label for every token:

        y_t = softmax(W_L h_t + b_L)

    x_t is the row of W_E for the token w_t, times √d_model. Reading forward, h_t knows the tokens up to w_t, and y_t
    also classifies the text so far; in both directions it knows the whole text.
    """

    def __init__(self, config: LabellerConfig) -> None:
        super().__init__()
        self.config = config
        layer = BidirectionalLayer if config.directions == "both" else RecurrentLayer
        self.W_E = nn.Parameter(torch.empty(config.vocab_size, config.d_model))
        self.rnn = nn.ModuleList(layer(config.d_model, config.d_hidden) for _ in range(config.n_layers))
        self.W_L = Linear(config.d_model, config.n_labels)
        nn.init.normal_(self.W_E, std=1 / math.sqrt(config.d_model))

    def forward(self, ids: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """ids: (batch, len). Returns logits (batch, len, n_labels)."""
        x = tap("embed", math.sqrt(self.config.d_model) * F.embedding(ids, self.W_E))  # (batch, len, d_model)
        for index, layer in enumerate(self.rnn):
            x = layer(x, tap=tap.scope(f"rnn.{index}"))  # (batch, len, d_model)
        return tap("logits", self.W_L(x))  # (batch, len, n_labels)
