"""What a model loses when a part of it is switched off: heads, feed-forward layers, whole layers.

The parts of a model are read off a trace; what becomes of a part is said in edits, so nothing here runs a model. A map
over all parts is handed a function that does, see `Run`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfmviz.edits import Edit, Patch, Scale
from tfmviz.trace import Array, Trace

Kind = Literal["head", "mlp", "layer"]

Run = Callable[[Sequence[Sequence[Edit]]], Array]
"""Gives the logits (variant, len, vocab) under each of several sets of edits, as `ZooModel.logits_under` does."""

STACKS = {"encoder": "e", "decoder": "d"}
CROSS = "c"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of a model that can be switched off.

    Attributes:
        code: a short name for addresses: d1.2 is head 2 of layer 1 in the decoder (e: encoder, c: cross-attention),
            dm1 that layer's MLP, dl1 the whole layer.
        name: the same for the reader: "1.2", "MLP 1", "layer 1", in an encoder-decoder with the stack before it.
        sites: the values it writes; a head's is its z, before W_O.
        head: index of the head, None for everything else.
    """

    code: str
    name: str
    kind: Kind
    sites: tuple[str, ...]
    head: int | None = None

    def scaled(self, factor: float) -> tuple[Scale, ...]:
        """Edits that multiply what the part writes; 0 switches it off."""
        return tuple(Scale(site=site, factor=factor, head=self.head) for site in self.sites)

    def averaged(self, reference: Trace) -> tuple[Patch, ...]:
        """Edits that put the mean over all tokens of another text in the place of what the part writes.

        A head of zeros is something the later layers have never met; the mean takes away only what depends on the
        text (Wang et al. 2022, section 2.1).
        """
        return tuple(Patch(site=site, vector=self._mean(reference[site]), head=self.head) for site in self.sites)

    def _mean(self, value: Array) -> tuple[float, ...]:
        """value: (len, d_model), or (head, len, d_head)."""
        mine = value if self.head is None else value[self.head]
        return tuple(mine.mean(axis=0, dtype=np.float64).tolist())


def parts_of(trace: Trace) -> tuple[Part, ...]:
    """All parts of the model that left this trace: heads, MLPs, whole layers, each kind bottom up."""
    both = trace.source is not None
    blocks = list(dict.fromkeys(layer.rsplit(".", 1)[0] for layer in trace.layers))
    heads = [head for layer in trace.layers for head in _heads(trace, layer, both=both)]
    mlps, layers = [], []
    for block in blocks:
        stack, index = block.split(".")
        where = f"{stack} " if both else ""
        sites = tuple(site for site in _outputs(block) if site in trace)
        layers.append(Part(code=f"{STACKS[stack]}l{index}", name=f"{where}layer {index}", kind="layer", sites=sites))
        if (mlp := f"{block}.mlp.out") in trace:
            mlps.append(Part(code=f"{STACKS[stack]}m{index}", name=f"{where}MLP {index}", kind="mlp", sites=(mlp,)))
    return (*heads, *mlps, *layers)


def _heads(trace: Trace, layer: str, *, both: bool) -> list[Part]:
    stack, index, part = layer.split(".")
    crossing = part == "cross_attn"
    letter, where = (CROSS, "cross ") if crossing else (STACKS[stack], f"{stack} " if both else "")
    return [
        Part(code=f"{letter}{index}.{h}", name=f"{where}{index}.{h}", kind="head", sites=(f"{layer}.z",), head=h)
        for h in range(len(trace[f"{layer}.z"]))
    ]


def _outputs(block: str) -> tuple[str, ...]:
    return tuple(f"{block}.{part}.out" for part in ("self_attn", "cross_attn", "mlp"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What a run is asked: how probable is each of these tokens at its position?

    Attributes:
        positions: rows of the logits.
        answers: vocabulary indices, one per position.
    """

    positions: tuple[int, ...]
    answers: tuple[int, ...]


def whole_text(ids: Sequence[int]) -> Question:
    """Every next token of the text itself. The text must have two tokens at least."""
    return Question(positions=tuple(range(len(ids) - 1)), answers=tuple(ids[1:]))


def one_word(logits: Array, ids: Sequence[int], position: int, *, writes: bool) -> Question:
    """The token after a position; where the text ends there, or is not read from left to right, the model's favourite.

    Args:
        logits: (len, vocab), of the run that nobody has touched.
        writes: the model predicts the next token, not the one in this place.
    """
    following = ids[position + 1] if writes and position + 1 < len(ids) else int(logits[position].argmax())
    return Question(positions=(position,), answers=(following,))


def surprise(logits: Array, question: Question) -> Array:
    """The loss: −log p(answer), in nats, averaged over the question's positions.

    Args:
        logits: (…, len, vocab).

    Returns:
        (…): one number per run.
    """
    rows = logits[..., list(question.positions), :]  # (…, position, vocab)
    shifted = rows - rows.max(axis=-1, keepdims=True)
    said = shifted[..., np.arange(len(question.answers)), list(question.answers)].astype(np.float64)
    # Powers of e in float32 take a quarter of the time and are wrong by 1e-7 of themselves; the sum is taken exactly.
    return (np.log(np.exp(shifted).sum(axis=-1, dtype=np.float64)) - said).mean(axis=-1)


def damage(trace: Trace, question: Question, run: Run, edits_of: Callable[[Part], Sequence[Edit]]) -> Array:
    """How much larger the loss is without each part: every head and every MLP in turn, a layer in one forward pass.

    Args:
        trace: of the untouched model.
        edits_of: what is done to a part.

    Returns:
        (attention layer, head + 1), in nats; below 0 where the model does better without the part. The last column is
        the MLP above the attention layer, NaN where there is none.
    """
    before = surprise(trace["logits"], question)
    rows = layers_of(trace)
    table = np.full((len(rows), 1 + max(sum(part.kind == "head" for part in row) for row in rows)), np.nan)
    for lost, row in zip(table, rows, strict=True):
        losses = surprise(run([edits_of(part) for part in row]), question) - before
        for part, loss in zip(row, losses, strict=True):
            lost[-1 if part.head is None else part.head] = loss
    return table


def layers_of(trace: Trace) -> tuple[tuple[Part, ...], ...]:
    """Per attention layer its heads, and the MLP where that comes next."""
    by_site: dict[str, list[Part]] = {}
    for part in parts_of(trace):
        if part.kind != "layer":
            by_site.setdefault(part.sites[0], []).append(part)
    blocks = [layer.rsplit(".", 1)[0] for layer in trace.layers]
    return tuple(
        (*by_site[f"{layer}.z"], *([] if block == following else by_site.get(f"{block}.mlp.out", [])))
        for layer, block, following in zip(trace.layers, blocks, [*blocks[1:], ""], strict=True)
    )


def sharpness(trace: Trace) -> Array:
    """How sharply each head looks: its largest share, averaged over the queries that have a choice.

    Returns:
        (attention layer, head), in (0, 1]; NaN where no query has a choice.
    """
    table = []
    for layer in trace.layers:
        pattern = trace[f"{layer}.pattern"]  # (head, q_len, k_len)
        choices = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape).sum(axis=-1) > 1
        largest = np.where(choices, pattern.max(axis=-1), 0).sum(axis=-1)
        table.append(largest / np.where(choices.any(axis=-1), choices.sum(axis=-1), np.nan))
    return np.stack(table)


def rank_correlation(one: Array, other: Array) -> float:
    """Spearman's ρ: the correlation of the ranks, equal values sharing theirs. NaN where one of them never varies."""
    ranks = np.stack([_ranks(values) for values in (one, other)])
    if (np.ptp(ranks, axis=1) == 0).any():
        return float("nan")
    return float(np.corrcoef(ranks)[0, 1])


def _ranks(values: Array) -> Array:
    """1 for the smallest; equal values get the mean of their ranks."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (counts.cumsum() - (counts - 1) / 2)[where]
