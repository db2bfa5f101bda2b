"""The stream of one token as a sum over the model's parts, and their effects on a word's logit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfmviz.analysis.attention_layer import grouped, is_pre_norm, stream_before
from tfmviz.analysis.residual import depth
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import Norm, StackWeights

Kind = Literal["embedding", "position", "head", "bias", "MLP", "norm"]

AGAINST = -0.1
"""Cosine below which a part points against the stream it is added to."""

PARTS = {"self_attn": "attention", "cross_attn": "cross-attention", "mlp": "MLP"}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Part:
    """One addend of a token's stream.

    Attributes:
        kind: "bias" is b_O; "norm" is the change by a post-norm model's norm.
        step: its row, such as "layer 2 attention", shared by a layer's heads.
        name: "layer 2, head 3".
        site: path of the layer; "" for embedding and position.
        head: None for other parts.
        write: (d_model,), the addend.
        meets: (d_model,), the stream it is added to; zero for the embedding.
    """

    kind: Kind
    step: str
    name: str
    site: str = ""
    head: int | None = None
    write: Array
    meets: Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class River:
    """All parts of one token's stream, in order, and their sum.

    Attributes:
        final: (d_model,), the stream after the last layer, before the last norm.
        size: (part,), norms of the writes.
        to_stream: (part,), cosine between a write and the stream it is added to; NaN if one is zero.
        to_final: (part,), that with the final stream.
        along: (part,), write · final / ‖final‖; these sum to ‖final‖.
        residue: largest absolute error of the sum of all writes.
    """

    parts: tuple[Part, ...]
    final: Array
    size: Array
    to_stream: Array
    to_final: Array
    along: Array
    residue: float

    def against(self) -> list[int]:
        """Parts that point against the stream they are added to, the strongest first."""
        found = np.flatnonzero(self.to_stream < AGAINST).tolist()  # not NaN, the first part's
        return sorted(found, key=lambda n: self.size[n] * self.to_stream[n])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Attribution:
    """Each part's contribution to u · (last norm of the final stream), with every measured σ held.

    Attributes:
        scores: (part,), write · g; for a norm β · g.
        directions: (part, d_model), g: u carried back through the norms after the part.
        last_bias: the contribution of the last norm's β; 0 without such a norm.
    """

    scores: Array
    directions: Array
    last_bias: float

    @property
    def total(self) -> float:
        return float(self.scores.sum()) + self.last_bias


def river(trace: Trace, stack: str, token: int, weights: StackWeights) -> River:
    """Takes the stream of one token apart (Elhage et al. 2021, "The residual stream").

        x_final = embedding + position + Σ_layers (Σ_heads z_h W_O[h] + b_O + MLP)

    In a post-norm model each layer's sum goes through a norm, which is not linear. It counts as a part, Norm(s) − s,
    which keeps the sum exact.
    """
    parts = tuple(parts_of(trace, stack, token, weights))
    final = trace[f"{stack}.{depth(trace, stack) - 1}.resid_post"][token].astype(np.float64)
    writes, meets = np.stack([part.write for part in parts]), np.stack([part.meets for part in parts])
    length = max(float(np.linalg.norm(final)), 1e-12)
    return River(
        parts=parts,
        final=final,
        size=np.linalg.norm(writes, axis=-1),
        to_stream=_cosine(writes, meets),
        to_final=_cosine(writes, final[None]),
        along=writes @ final / length,
        residue=float(np.abs(writes.sum(axis=0) - final).max()),
    )


def attribution(river: River, weights: StackWeights, direction: Array) -> Attribution:
    """Direct logit attribution (Elhage et al. 2021; Wang et al. 2022, section 3).

    In a post-norm model a part counts as it arrives at the end, scaled by all norms after it.

    Args:
        direction: u, (d_model,): a row of W_U, or the difference of two.
    """
    g, last_bias = direction.astype(np.float64), 0.0
    if (last := weights.readout.norm) is not None:
        last_bias = float(last.bias @ g)
        g = last.pull_back(g, at=river.final)
    scores, directions = np.zeros(len(river.parts)), np.zeros((len(river.parts), len(g)))
    for n, part in reversed(list(enumerate(river.parts))):
        directions[n] = g
        if part.kind == "norm":
            norm = norm_at(weights, part.site)
            scores[n] = norm.bias @ g
            g = norm.pull_back(g, at=part.meets)
        else:
            scores[n] = part.write @ g
    return Attribution(scores=scores, directions=directions, last_bias=last_bias)


def carried(river: River, weights: StackWeights, index: int, write: Array | None = None) -> Array:
    """A part's write as it arrives at W_U, after all later norms: (d_model,). Its product with u is the part's score.

    Args:
        write: pieces of it, (…, d_model); None: all of it.
    """
    x = river.parts[index].write if write is None else write
    for part in river.parts[index + 1 :]:
        if part.kind == "norm":
            x = norm_at(weights, part.site).carry(x, at=part.meets)
    last = weights.readout.norm
    return x if last is None else last.carry(x, at=river.final)


def looks(trace: Trace, part: Part, token: int, *, weights: StackWeights, direction: Array) -> Array:
    """Each key's contribution to a head's score: a_ij v_j W_O[h] · g, (k_len,). These sum to the score.

    Args:
        direction: g, (d_model,), from `Attribution.directions`.
    """
    assert part.head is not None
    pattern = trace[f"{part.site}.pattern"]
    v = grouped(trace[f"{part.site}.v"], len(pattern))[part.head].astype(np.float64)  # (k_len, d_head)
    attention = weights.attention[part.site]
    if attention.out_norm is not None:
        z = trace[f"{part.site}.z"][:, token].astype(np.float64)  # (head, d_head)
        summed = np.einsum("hd,hdm->m", z, attention.W_O) + attention.b_O
        direction = attention.out_norm.pull_back(direction, at=summed)
    return pattern[part.head, token] * (v @ (attention.W_O[part.head] @ direction))


def norm_at(weights: StackWeights, site: str) -> Norm:
    """The norm of a layer, or the one before the first."""
    if site in weights.norms:
        return weights.norms[site]
    assert weights.embed_norm is not None
    return weights.embed_norm


def parts_of(trace: Trace, stack: str, token: int, weights: StackWeights) -> Iterator[Part]:
    """The addends of a token's stream, in order."""
    widened = f"{stack}.widened"  # after this matrix, token and position can no longer be told apart
    site = widened if widened in trace else "embed" if "embed" in trace else f"{stack}.embed"
    embed = trace[site][token].astype(np.float64)
    yield Part(kind="embedding", step="embedding", name="embedding", write=embed, meets=np.zeros_like(embed))
    if f"{stack}.pos_embed" in trace and site != widened:
        position = trace[f"{stack}.pos_embed"][token].astype(np.float64)
        yield Part(kind="position", step="position", name="position", write=position, meets=embed)
        embed = embed + position
    if (normed := f"{stack}.embed_norm") in trace and site != widened:
        change, name = trace[normed][token] - embed, "embedding: norm"
        yield Part(kind="norm", step=name, name=name, site=normed, write=change, meets=embed)
    for layer in range(depth(trace, stack)):
        for part in PARTS:
            if f"{stack}.{layer}.{part}.out" in trace:
                yield from _layer(trace, f"{stack}.{layer}.{part}", token, weights)


def _layer(trace: Trace, site: str, token: int, weights: StackWeights) -> Iterator[Part]:
    block, part = site.rsplit(".", 1)
    layer = block.split(".")[1]
    step = f"layer {layer} {PARTS[part]}"
    meets = stream_before(trace, site)[token].astype(np.float64)
    out = trace[f"{site}.out"][token].astype(np.float64)
    if part == "mlp":
        yield Part(kind="MLP", step=step, name=f"layer {layer}, MLP", site=site, write=out, meets=meets)
    else:
        across = "cross " if part == "cross_attn" else ""
        z = trace[f"{site}.z"][:, token : token + 1].astype(np.float64)  # (head, 1, d_head)
        for head, write in enumerate(weights.attention[site].writes(z)[:, 0]):
            name = f"layer {layer}, {across}head {head}"
            yield Part(kind="head", step=step, name=name, site=site, head=head, write=write, meets=meets)
        name, write = f"layer {layer}, {across}bias b_O", weights.attention[site].bias_write(z)[0].astype(float)
        yield Part(kind="bias", step=step, name=name, site=site, write=write, meets=meets)
    if not is_pre_norm(trace):
        summed = meets + out
        change = trace[f"{site}.norm"][token] - summed
        yield Part(kind="norm", step=f"{step}: norm", name=f"{step}: norm", site=site, write=change, meets=summed)


def _cosine(writes: Array, others: Array) -> Array:
    lengths = np.linalg.norm(writes, axis=-1) * np.linalg.norm(others, axis=-1)
    products = (writes * others).sum(axis=-1)
    return np.divide(products, lengths, where=lengths > 1e-12, out=np.full(lengths.shape, np.nan))
