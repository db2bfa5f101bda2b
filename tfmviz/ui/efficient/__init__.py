"""The chosen head as each method reads it, and the prediction with another output of the head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.attention_layer import of_head, turned
from tfmviz.analysis.efficient import exact
from tfmviz.analysis.efficient.exact import Cost
from tfmviz.analysis.predictions import softmax
from tfmviz.plots.cells import Cells, ValueFormat, masked, of_pairs, share, written
from tfmviz.record.edits import Edit, Patch
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import PageContext, fallback_model
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, visible
from tfmviz.words.numbers import in_bytes, in_words, per_cent, rounded

BYTES = 4
"""Of a number."""


def without_sinks(ctx: PageContext | None) -> PageContext | None:
    """The lesson with a model for which the methods can be shown; None if there is none."""
    if ctx is None:
        return None
    fits = not ctx.model.config.attention.sink
    return fallback_model(ctx, "a model without sinks", fits=fits, instead="twins-rope")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Head:
    """One head on the reader's text.

    Attributes:
        q: (q_len, d_head), rotated by the position scheme and divided by the scores' divisor.
        k, v: (k_len, d_head).
        allowed: (q_len, k_len), the model's mask.
        scores: (q_len, k_len), the record's, −∞ where masked; with the scheme's bias, if any.
        is_linear: its model was trained with linear attention.
        q_tokens_are_keys: queries and keys are the same tokens.
    """

    q: Array
    k: Array
    v: Array
    allowed: Array
    scores: Array
    is_causal: bool
    is_linear: bool
    q_tokens_are_keys: bool
    q_tokens: tuple[str, ...]
    k_tokens: tuple[str, ...]

    @property
    def pattern(self) -> Array:
        return exact.softmax(self.scores)

    @property
    def bias(self) -> Array:
        """Scores minus q · k; 0 where masked: (q_len, k_len)."""
        return np.where(self.allowed, self.scores - self.q @ self.k.T, 0.0)

    @property
    def has_bias(self) -> bool:
        """Scores are not just q · k: methods that never form all of them must leave the rest out."""
        return not self.is_linear and bool(np.abs(self.bias).max() > 1e-2)


def is_causal(ctx: PageContext) -> bool:
    """The chosen head is one of a decoder that reads its own text."""
    return ctx.choice.layer.startswith("decoder.") and ctx.choice.layer.endswith(".self_attn")


def head_of(ctx: PageContext) -> Head:
    trace, layer, head = ctx.trace, ctx.choice.layer, ctx.choice.head
    q, k, v = (of_head(trace, layer, head, turned(trace, layer, name)).astype(np.float64) for name in "qkv")
    scores = trace[f"{layer}.scores"][head].astype(np.float64)
    is_linear = ctx.weights.is_linear
    return Head(
        q=q if is_linear else q / ctx.model.config.divisor,
        k=k,
        v=v,
        allowed=np.isfinite(scores),
        scores=scores,
        q_tokens_are_keys=layer.endswith(".self_attn"),
        is_linear=is_linear,
        is_causal=is_causal(ctx),
        q_tokens=tuple(of_queries(trace, layer)),
        k_tokens=trace.axes(layer)[1].tokens,
    )


def edits_for(ctx: PageContext, z: Array) -> tuple[Edit, ...]:
    """Replaces the chosen head's output by z, (q_len, d_head)."""
    site, head = f"{ctx.choice.layer}.z", ctx.choice.head
    rows = enumerate(map(tuple, z.tolist()))
    return tuple(Patch(site=site, vector=vector, head=head, position=position) for position, vector in rows)


@cached_for_all
def _row(model: Model, text: str, target: tuple[int, ...] | None, edits: tuple[Edit, ...], position: int) -> Array:
    return model.trace(text, edits, ("logits",), target=target).row("logits", position).copy()


def effect(ctx: PageContext, z: Array) -> tuple[float, str] | None:
    """KL(p ‖ p') in nats of the prediction at the chosen token with z as the head's output, and a sentence on both.

    None for a model without predictions.
    """
    if "logits" not in ctx.trace:
        return None
    target = ctx.trace.target.ids[1:] if ctx.trace.source is not None else None
    old = softmax(ctx.trace.row("logits", ctx.target)).astype(np.float64)
    new = softmax(_row(ctx.model, ctx.text, target, edits_for(ctx, z), ctx.target)).astype(np.float64)
    divergence = max(float(np.sum(old * (np.log(np.maximum(old, 1e-30)) - np.log(np.maximum(new, 1e-30))))), 0.0)
    first = int(old.argmax())
    word, after = (ctx.model.vocabulary[n] for n in (first, int(new.argmax())))
    stays = "stays first" if word == after else f"gives way to “{markdown.plain(visible(after))}”"
    shares = f"{per_cent(old[first])} → {per_cent(new[first])}"
    return divergence, f"“{markdown.plain(visible(word))}” {stays}, {shares} (KL {rounded(divergence)} nats)"


def beside(
    ctx: PageContext,
    head: Head,
    pattern: Array,
    z: Array,
    *,
    title: str,
    cost: Cost,
    kept: Array | None = None,
    buckets: Sequence[Sequence[str]] = ((), ()),
    of: str = "",
) -> None:
    """The exact pattern and another, and the effect of the change, counted and measured on this text.

    Args:
        kept: the pairs that the other pattern keeps, (q_len, k_len), bool; None: all.
        buckets: of each query and of each key, written after its token.
        of: whose head it is, where it is not the chosen one; the result begins with it.
    """
    full = head.pattern
    elsewhere, moved = exact.pattern_error(full, pattern), exact.output_error(full @ head.v, z)
    left = pattern if kept is None else np.where(kept, pattern, -np.inf)
    rows, columns = (
        [f"{token} {one}" for token, one in zip(tokens, of_tokens, strict=True)] if of_tokens else tokens
        for tokens, of_tokens in zip((head.q_tokens, head.k_tokens), buckets, strict=True)
    )
    heading = f"{title}: {per_cent(elsewhere)} elsewhere"
    show("both_patterns", two_patterns(masked([full, left], head.allowed), rows, columns, heading))
    _, sentence = effect(ctx, z) or (0.0, "")
    exactly = exact.cost(len(head.q), len(head.k), head.q.shape[1])
    takes, holds = in_words(cost.multiplications), in_bytes(BYTES * cost.numbers)
    before = in_words(exactly.multiplications), in_bytes(BYTES * exactly.numbers)
    result(
        f"{of}**{per_cent(elsewhere)}** of the attention lies elsewhere, on other keys; the head's output changes by "
        f"**{per_cent(moved)}** of its norm. "
        + (f"In the prediction, {sentence}. " if sentence else "")
        + (
            f"This takes {takes} multiplications and holds {holds} at once, as before."
            if (takes, holds) == before
            else f"This takes **{takes}** multiplications instead of {before[0]} and holds {holds} at once instead of "
            f"{before[1]}."
        )
    )


def two_patterns(both: Array, q_tokens: Sequence[str], k_tokens: Sequence[str], title: str) -> Cells:
    """(2, query, key): NaN where masked, −∞ for what is left out."""
    look: dict[str, Any] = {"form": ValueFormat(absent=("masked", "left out")), "titles": ("exact", title), "across": 2}
    return of_pairs(both, q_tokens, k_tokens, share(), texts=written(np.concatenate(both), ".2f"), **look)


def no_bias(head: Head) -> None:
    """A note where methods cannot keep the position scheme's bias."""
    if head.is_linear:
        st.caption("This head's linear attention has no exp(q · k) to approximate.")
    if head.has_bias:
        st.caption("Methods that form no pairs leave out this model's bias or cap.")
