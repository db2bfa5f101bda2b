"""Recurrent encoder-decoders: one vector for the whole source, or a separate context for every word.

The encoder reads the source, h_jᵉ = GRU(x_j, h_{j-1}ᵉ). The decoder starts from its last state, h_0ᵈ = h_nᵉ, and writes
word by word: h_iᵈ = GRU([y_{i-1}; c_i], h_{i-1}ᵈ). The models differ only in c_i. Without attention it is h_nᵉ at every
step (Cho et al. 2014). With attention it is c_i = Σ_j α_ij h_jᵉ, where α_i is the softmax over j of a score of h_{i-1}ᵈ
and h_jᵉ (Bahdanau et al. 2015; the scores: Luong et al. 2015, section 3.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import assert_never

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz import deadline
from tfmviz.model.earlier import Seq2SeqConfig
from tfmviz.model.linear import Linear, product
from tfmviz.model.recurrent import RecurrentLayer
from tfmviz.record.tap import NO_TAP, Tap


class NoScores(nn.Module):
    def keys(self, states: Tensor) -> Tensor:
        """The part of the scores that depends only on the source: (batch, k_len, d_model)."""
        return states

    def forward(self, h: Tensor, keys: Tensor) -> Tensor:
        """The scores of a decoder's state h (batch, d_model) and all of the source: (batch, k_len)."""
        raise ValueError("This model has no attention.")


class DotScores(NoScores):
    """h · h_jᵉ."""

    def forward(self, h: Tensor, keys: Tensor) -> Tensor:
        return (keys @ h[:, :, None])[:, :, 0]


class BilinearScores(DotScores):
    """h W_s h_jᵉ, which also compares states of different width."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.W_s = Linear(d_model, d_model, bias=False)

    def keys(self, states: Tensor) -> Tensor:
        return self.W_s(states)


class AdditiveScores(NoScores):
    """v · tanh(h W_h + h_jᵉ W_e) (Bahdanau et al. 2015, appendix A.1.2)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.W_h = Linear(d_model, d_model, bias=False)
        self.W_e = Linear(d_model, d_model, bias=False)
        self.v = Linear(d_model, 1, bias=False)

    def keys(self, states: Tensor) -> Tensor:
        return self.W_e(states)

    def forward(self, h: Tensor, keys: Tensor) -> Tensor:
        return self.v(torch.tanh(self.W_h(h)[:, None] + keys))[:, :, 0]


def build_scores(config: Seq2SeqConfig) -> NoScores:
    match config.attention:
        case "none":
            return NoScores()
        case "dot":
            return DotScores()
        case "bilinear":
            return BilinearScores(config.d_model)
        case "additive":
            return AdditiveScores(config.d_model)
        case _:
            assert_never(config.attention)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Source:
    """The decoder's view of a source.

    Attributes:
        states: h_jᵉ, (batch, k_len, d_model).
        keys: the source's part of the scores.
        mask: (batch, k_len), True where there is a token.
        last: h_nᵉ, (batch, d_model).
    """

    states: Tensor
    keys: Tensor
    mask: Tensor
    last: Tensor


class Seq2Seq(nn.Module):
    """The model above, with outputs y_i = softmax(W_E tanh([h_iᵈ; c_i] W_O + b_O)).

    One table W_E serves both languages and the output.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        d = config.d_model
        self.config = config
        self.W_E = nn.Parameter(torch.empty(config.vocab_size, d))
        self.encoder = RecurrentLayer(d, d)
        self.decoder = RecurrentLayer(2 * d, d)
        self.scores = build_scores(config)
        self.W_O = Linear(2 * d, d)
        nn.init.normal_(self.W_E, std=1 / math.sqrt(d))

    def forward(self, src: Tensor, tgt: Tensor, tap: Tap = NO_TAP, *, src_lengths: Tensor | None = None) -> Tensor:
        """src: (batch, k_len), tgt: (batch, q_len). Returns logits (batch, q_len, vocab)."""
        source = self.encode(src, tap, src_lengths=src_lengths)
        logits, _ = self.decode(tgt, source, source.last, tap)
        return logits

    def encode(self, src: Tensor, tap: Tap = NO_TAP, *, src_lengths: Tensor | None = None) -> Source:
        """src: (batch, k_len)."""
        within = tap.scope("encoder")
        x = within("embed", self.embed(src))  # (batch, k_len, d_model)
        states = self.encoder(x, tap=within)  # (batch, k_len, d_model)
        lengths = torch.full((len(src),), src.shape[1], device=src.device) if src_lengths is None else src_lengths
        places = torch.arange(src.shape[1], device=src.device)
        return Source(
            states=states,
            keys=self.scores.keys(states),
            mask=places < lengths[:, None],
            last=states[torch.arange(len(src), device=src.device), lengths - 1],
        )

    def decode(self, tgt: Tensor, source: Source, h: Tensor, tap: Tap = NO_TAP) -> tuple[Tensor, Tensor]:
        """Logits (batch, q_len, vocab), and the state after the last token.

        Args:
            tgt: (batch, q_len).
            h: (batch, d_model), the state before them.
        """
        within = tap.scope("decoder")
        y = within("embed", self.embed(tgt))  # (batch, q_len, d_model)
        seen = []
        for i in range(tgt.shape[1]):
            deadline.check()
            here = within.at(i, length=tgt.shape[1])
            c = self.context(h, source, tap=here)  # (batch, d_model)
            h = self.decoder.step(torch.cat((y[:, i], c), dim=-1), h, tap=here)  # (batch, d_model)
            seen.append(torch.cat((h, c), dim=-1))
        out = within("out", torch.tanh(self.W_O(torch.stack(seen, dim=1))))  # (batch, q_len, d_model)
        return tap("logits", product(out, self.W_E)), h

    def context(self, h: Tensor, source: Source, *, tap: Tap) -> Tensor:
        """c_i from h_{i-1}: (batch, d_model), (batch, d_model). The sites have a step axis of length 1."""
        if self.config.attention == "none":
            return tap("context", source.last[:, None])[:, 0]
        scores = torch.where(source.mask, self.scores(h, source.keys), -torch.inf)
        alpha = tap("alpha", tap("scores", scores[:, None]).softmax(dim=-1))  # (batch, 1, k_len), sums to 1
        return tap("context", alpha @ source.states)[:, 0]

    def embed(self, ids: Tensor) -> Tensor:
        """(batch, len) to (batch, len, d_model), coordinates of about unit size."""
        return math.sqrt(self.config.d_model) * F.embedding(ids, self.W_E)


@torch.inference_mode()
def translate_batch(
    model: Seq2Seq, src: Tensor, src_lengths: Tensor, *, mark: int, max_new_tokens: int
) -> list[list[int]]:
    source = model.encode(src, src_lengths=src_lengths)
    h, token = source.last, torch.full((len(src), 1), mark, device=src.device)
    written: list[Tensor] = []
    running = torch.ones(len(src), dtype=torch.bool, device=src.device)
    while running.any() and len(written) < max_new_tokens:
        logits, h = model.decode(token, source, h)
        token = logits.argmax(dim=-1)  # (batch, 1)
        running = running & (token[:, 0] != mark)
        written.append(token[:, 0])
    rows = torch.stack(written, dim=1).tolist()
    return [row[: row.index(mark)] if mark in row else row for row in rows]
