"""A language model with a fixed window (Bengio et al. 2003)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz.model.earlier import WindowConfig
from tfmviz.model.linear import Linear
from tfmviz.record.tap import NO_TAP, Tap
from tfmviz.record.weights import WindowWeights


class WindowModel(nn.Module):
    """Predicts the next token from the last n:

        e = [e_1; e_2; …; e_n]        the vectors of the tokens in the window, concatenated
        h = tanh(W e + b_1)
        y = softmax(U h + b_2)

    Each position in the window has its own columns of W, and zeros stand in for missing tokens.
    """

    def __init__(self, config: WindowConfig) -> None:
        super().__init__()
        self.config = config
        self.W_E = nn.Parameter(torch.empty(config.vocab_size, config.d_model))
        self.W = Linear(config.n_window * config.d_model, config.d_hidden)
        self.U = Linear(config.d_hidden, config.vocab_size)
        nn.init.normal_(self.W_E, std=0.3)

    def forward(self, ids: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """ids: (batch, len). Returns logits (batch, len, vocab)."""
        return tap("logits", self.U(self.hidden(ids, tap)))

    def after(self, ids: Tensor) -> Tensor:
        """The last logits alone, (batch, vocab). No token before the window matters."""
        return self.U(self.hidden(ids[:, -self.config.n_window :])[:, -1])

    def hidden(self, ids: Tensor, tap: Tap = NO_TAP) -> Tensor:
        """ids: (batch, len). Returns h (batch, len, d_hidden)."""
        x = tap("embed", F.embedding(ids, self.W_E))  # (batch, len, d_model)
        e = tap("window", self.join(x))  # (batch, len, n_window × d_model)
        return tap("hidden", torch.tanh(self.W(e)))

    def join(self, x: Tensor) -> Tensor:
        """The vectors of each token and the n - 1 before it, in order."""
        n = self.config.n_window
        padded = F.pad(x, (0, 0, n - 1, 0))  # (batch, n - 1 + len, d_model)
        return padded.unfold(1, n, 1).transpose(2, 3).flatten(2)


def weights_of(model: WindowModel) -> WindowWeights:
    """The matrices and biases; the arrays share the model's memory."""
    (W, b_1), (U, b_2) = (
        [part.detach().numpy() for part in (layer.weight, layer.bias)] for layer in (model.W, model.U)
    )
    return WindowWeights(W=W, b_1=b_1, U=U, b_2=b_2)
