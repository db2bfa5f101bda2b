"""Damage to a model when a head, a feed-forward layer or a whole layer is switched off.

Nothing here runs a model: `damage` takes a `Run`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfmviz.constants import PART_CODES
from tfmviz.record.edits import Edit, Patch, Scale
from tfmviz.record.trace import Array, Trace

Kind = Literal["head", "mlp", "layer"]

Run = Callable[[Sequence[Sequence[Edit]], Sequence[int]], Array]
"""The logits (variant, position, vocab) at some positions under each of several sets of edits."""

MOST_LOGITS = 5_000_000
"""Most logits in one pass: 20 MB, which `surprise` copies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of a model that can be switched off.

    Attributes:
        code: its name in addresses: d1.2 is head 2 of layer 1 in the decoder (e: encoder, c: cross-attention), dm1 that
            layer's MLP, dl1 the whole layer.
        name: its label: "1.2", "MLP 1", "layer 1"; in an encoder-decoder the stack comes first.
        sites: the values it writes; for a head this is its z, before W_O.
        head: None for all other parts.
    """

    code: str
    name: str
    kind: Kind
    sites: tuple[str, ...]
    head: int | None = None

    def scaled(self, factor: float) -> tuple[Scale, ...]:
        """Edits that multiply the part's output; 0 switches it off."""
        return tuple(Scale(site=site, factor=factor, head=self.head) for site in self.sites)

    def averaged(self, reference: Trace) -> tuple[Patch, ...]:
        """Edits that replace the part's output by its mean over another text's tokens.

        Unlike zeros, which later layers have never met, it removes only what depends on the text (Wang et al. 2022,
        section 2.1).
        """
        return tuple(Patch(site=site, vector=self._mean(reference[site]), head=self.head) for site in self.sites)

    def _mean(self, value: Array) -> tuple[float, ...]:
        """Mean over the tokens of (len, d_model) or (head, len, d_head)."""
        mine = value if self.head is None else value[self.head]
        return tuple(mine.mean(axis=0, dtype=np.float64).tolist())


def parts_of(trace: Trace) -> tuple[Part, ...]:
    """All heads, MLPs and whole layers, each kind from the first layer to the last."""
    both = trace.source is not None
    blocks = list(dict.fromkeys(layer.rsplit(".", 1)[0] for layer in trace.layers))
    heads = [head for layer in trace.layers for head in _heads(trace, layer, both=both)]
    mlps, layers = [], []
    for block in blocks:
        stack, index = block.split(".")
        where = f"{stack} " if both else ""
        outputs = (f"{block}.{part}.out" for part in ("self_attn", "cross_attn", "mlp"))
        sites = tuple(site for site in outputs if site in trace)
        code = {kind: f"{PART_CODES[stack]}{PART_CODES[kind]}{index}" for kind in ("mlp", "layer")}
        layers.append(Part(code=code["layer"], name=f"{where}layer {index}", kind="layer", sites=sites))
        if (mlp := f"{block}.mlp.out") in trace:
            mlps.append(Part(code=code["mlp"], name=f"{where}MLP {index}", kind="mlp", sites=(mlp,)))
    return (*heads, *mlps, *layers)


def _heads(trace: Trace, layer: str, *, both: bool) -> list[Part]:
    stack, index, part = layer.split(".")
    crossing = part == "cross_attn"
    letter, where = (PART_CODES[part], "cross ") if crossing else (PART_CODES[stack], f"{stack} " if both else "")
    return [
        Part(code=f"{letter}{index}.{h}", name=f"{where}{index}.{h}", kind="head", sites=(f"{layer}.z",), head=h)
        for h in range(len(trace[f"{layer}.z"]))
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Tokens whose probability is measured.

    Attributes:
        positions: rows of the logits.
        answers: vocabulary indices, one per position.
    """

    positions: tuple[int, ...]
    answers: tuple[int, ...]


def whole_text(ids: Sequence[int]) -> Question:
    """The next token at every position of a text of at least two tokens."""
    return Question(positions=tuple(range(len(ids) - 1)), answers=tuple(ids[1:]))


def one_word(trace: Trace, position: int, *, writes: bool) -> Question:
    """The token after a position; at the end, or if the model predicts no next token, its own first choice.

    Args:
        writes: whether the model predicts the next token.
    """
    ids = trace.target.ids
    favourite = not writes or position + 1 == len(ids)
    following = int(trace.row("logits", position).argmax()) if favourite else ids[position + 1]
    return Question(positions=(position,), answers=(following,))


def surprise_of(trace: Trace, question: Question) -> float:
    return float(surprise(trace.rows("logits", question.positions), question))


def surprise(rows: Array, question: Question) -> Array:
    """The loss: −log p(answer), in nats, averaged over the question's positions: (…).

    Args:
        rows: (…, position, vocab), logits at these positions.
    """
    shifted = rows - rows.max(axis=-1, keepdims=True)
    answers = shifted[..., np.arange(len(question.answers)), list(question.answers)].astype(np.float64)
    # exp in float32 is four times faster, with a relative error of 1e-7; the sum is in float64.
    return (np.log(np.exp(shifted, out=shifted).sum(axis=-1, dtype=np.float64)) - answers).mean(axis=-1)


def damage(trace: Trace, question: Question, run: Run, edits_of: Callable[[Part], Sequence[Edit]]) -> Array:
    """Growth of the loss without each head and MLP, in one forward pass per layer or, beyond `MOST_LOGITS`, several.

    Args:
        edits_of: the edits that switch a part off.

    Returns:
        (attention layer, n_heads + 1), in nats; below 0 where the model does better without the part. The last column
        is the MLP after the layer, NaN if there is none.
    """
    rows = trace.rows("logits", question.positions)  # (position, vocab)
    before, at_once = surprise(rows, question), max(1, MOST_LOGITS // rows.size)
    layers = layers_of(trace)
    table = np.full((len(layers), 1 + max(sum(part.kind == "head" for part in row) for row in layers)), np.nan)
    for lost, row in zip(table, layers, strict=True):
        for start in range(0, len(row), at_once):
            some = row[start : start + at_once]
            losses = surprise(run([edits_of(part) for part in some], question.positions), question) - before
            for part, loss in zip(some, losses, strict=True):
                lost[-1 if part.head is None else part.head] = loss
    return table


def layers_of(trace: Trace) -> tuple[tuple[Part, ...], ...]:
    """For each attention layer its heads, and the MLP if it comes next."""
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
    """The largest weight of a row, averaged over the rows with several allowed keys.

    Returns:
        (attention layer, head), in (0, 1]; NaN where there is no such row.
    """
    table = []
    for layer in trace.layers:
        pattern = trace[f"{layer}.pattern"]  # (head, q_len, k_len)
        choices = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape).sum(axis=-1) > 1
        largest = np.where(choices, pattern.max(axis=-1), 0).sum(axis=-1)
        table.append(largest / np.where(choices.any(axis=-1), choices.sum(axis=-1), np.nan))
    return np.stack(table)


def rank_correlation(one: Array, other: Array) -> float:
    """Spearman's ρ, where equal values share a rank. NaN without variance."""
    ranks = np.stack([_ranks(values) for values in (one, other)])
    if (np.ptp(ranks, axis=1) == 0).any():
        return float("nan")
    return float(np.corrcoef(ranks)[0, 1])


def _ranks(values: Array) -> Array:
    """1 for the smallest; equal values get the mean of their ranks."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (counts.cumsum() - (counts - 1) / 2)[where]
