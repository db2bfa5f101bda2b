"""The formation of copying, at one step of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.ablation import Part, Question, Run, parts_of, surprise, surprise_of
from tfmviz.analysis.heads import Kind, layer_scores
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.record.trace import Array, Trace


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Copying:
    """A model's behaviour on a sequence of p random tokens that comes twice.

    Attributes:
        first: mean of −log p(token) over tokens 1 … p − 1, in nats.
        second: the same over tokens p + 1 … 2p − 1.
        heads: names, "layer.head".
        scores: for each kind (head,), see `heads.head_scores`.
        damage: (head,), growth of `second` without the head, in nats.
    """

    first: float
    second: float
    heads: tuple[str, ...]
    scores: dict[Kind, Array]
    damage: Array

    @property
    def in_context(self) -> float:
        """The in-context score, `second` − `first`: below 0 if the model profits from context (Olsson et al. 2022)."""
        return self.second - self.first


def copying(trace: Trace, run: Run) -> Copying:
    """Measures how a language model copies.

    Args:
        trace: on `heads.random_repeats`, with patterns, z and logits.
        run: on the same tokens, under edits.
    """
    ids, period = trace.target.ids, len(trace.target) // 2
    losses = next_token_losses(trace["logits"], ids)
    question = second_time(ids)
    heads = tuple(part for part in parts_of(trace) if part.kind == "head")
    scores = layer_scores(trace)
    kinds = next(iter(scores.values()))
    return Copying(
        first=float(losses[: period - 1].mean()),
        second=float(losses[period:].mean()),
        heads=tuple(head.name for head in heads),
        scores={kind: np.concatenate([scores[layer][kind] for layer in trace.layers]) for kind in kinds},
        damage=damage(trace, question, run, heads),
    )


def second_time(ids: Sequence[int]) -> Question:
    """The tokens p + 1 … 2p − 1 of a sequence of p tokens that comes twice."""
    period = len(ids) // 2
    return Question(positions=tuple(range(period, 2 * period - 1)), answers=tuple(ids[period + 1 : 2 * period]))


def damage(trace: Trace, question: Question, run: Run, heads: Sequence[Part]) -> Array:
    """Growth of the loss without each head: (head,), in nats. One pass per layer."""
    before = surprise_of(trace, question)
    found: list[Array] = []
    for site in dict.fromkeys(head.sites[0] for head in heads):
        off = [head.scaled(0.0) for head in heads if head.sites[0] == site]
        found.append(surprise(run(off, question.positions), question) - before)
    return np.concatenate(found)


def loss_at(logits: Array, texts: Array) -> Array:
    """Mean of −log p(token) at every position, in nats: (len − 1,).

    Args:
        logits: (text, len, vocab).
        texts: (text, len), vocabulary indices.
    """
    losses = [next_token_losses(rows, ids.tolist()) for rows, ids in zip(logits, texts, strict=True)]
    return np.mean(losses, axis=0)
