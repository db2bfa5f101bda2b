from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np
import streamlit as st

from tfmviz import views, zoo
from tfmviz.analysis import attention_layer
from tfmviz.analysis.heads import links
from tfmviz.analysis.predictions import top_predictions
from tfmviz.analysis.residual import stream
from tfmviz.constants import NEXT_WORDS
from tfmviz.plots.cells import Cells, ValueFormat, amounts, chosen_column, named, of_tokens
from tfmviz.plots.columns import writes
from tfmviz.record.marks import BARS
from tfmviz.record.trace import kind_of
from tfmviz.ui import controls, inputs, models
from tfmviz.ui.figures import show, show_code, show_view, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.sentences import HOW_IT_READS, WHAT_IT_PREDICTS
from tfmviz.views.bars import Bars
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, said_of_queries, visible
from tfmviz.words.numbers import per_cent


def explorer(ctx: PageContext) -> None:
    trace, choice, model = ctx.trace, ctx.choice, ctx.model
    try:
        payload = models.payload(model, ctx.text)
    except ValueError as error:  # values that are no attention
        st.error(f"{markdown.plain(str(error))} Choose another model or sentence.")
        return
    details, linked = "", None
    if not views.travels_whole(trace):
        linked = _links(ctx)
        looked_at = (f"{choice.layer}/{choice.head}", *controls.wanted())
        details = base64.b64encode(views.details(trace, looked_at, title=model.name)).decode()
    show_view(
        "explorer",
        data=payload,
        selection=controls.selection()
        | {"first": ctx.query if ctx.gap is None else ctx.gap, "details": details, "links": linked},
        on_report=controls.follow,
    )


def how_it_reads(ctx: PageContext) -> str:
    """The model's mask in words; for an encoder-decoder, also the meaning of a row of its cross-attention."""
    sentence = HOW_IT_READS[ctx.model.config.architecture]
    layer = next((layer for layer in ctx.trace.layers if layer.endswith(".cross_attn")), None)
    if layer is None:
        if ctx.model.config.embeddings.separator is None:
            return sentence
        return f"{sentence.removesuffix('.')}, `{BARS}` between two sentences."
    row, words = (markdown.plain(of(ctx.trace, layer)[:2][-1]) for of in (of_queries, said_of_queries))
    return f"{sentence} The row “{row}” is where it has read {words}."


def _links(ctx: PageContext) -> dict[str, object] | None:
    row, column = controls.pinned(), controls.pinned("to")
    kind = kind_of(ctx.choice.layer)
    n_queries, n_keys = (len(axis.tokens) for axis in ctx.trace.axes(ctx.choice.layer))
    if row is None or column is None or row >= n_queries or column >= n_keys:
        return None
    best = attention_layer.ranking(links(ctx.trace, kind, row, column))
    heads = [{"layer": layer, "head": head, "weight": weight} for layer, head, weight in best]
    return {"row": row, "column": column, "heads": heads}


def predictions_in_short(ctx: PageContext) -> None:
    model = ctx.model
    best = top_predictions(ctx.trace.row("logits", ctx.target), 3)
    words = (f"“{visible(model.vocabulary[p.index])}” {per_cent(p.probability)}" for p in best)
    st.text(f"{WHAT_IT_PREDICTS[model.config.architecture]}: {', '.join(words)}.")


def predictions(ctx: PageContext) -> None:
    """The most probable tokens after the chosen one, or in its place."""
    vocabulary = ctx.model.vocabulary
    best = top_predictions(ctx.trace.row("logits", ctx.target), NEXT_WORDS)
    show(
        "predictions", Bars(labels=[visible(vocabulary[p.index]) for p in best], shares=[[p.probability for p in best]])
    )


def stream_norms(ctx: PageContext) -> None:
    """Norms from the embedding (top) to the last layer; and the parts that wrote the chosen token's vector."""
    tokens, token = ctx.trace.tokens, ctx.target
    found = stream(ctx.trace, ctx.model.writes_from)
    shares = [
        ["" if np.isnan(s) else f"of this layer's step: attention {s:.0%}, MLP {1 - s:.0%}" for s in row]
        for row in found.attention_share.tolist()
    ]
    norms = Cells(
        found.norms[None],
        named(["embedding", *(f"after layer {i}" for i in range(len(shares)))]),
        of_tokens("token", tokens),
        amounts(found.norms, "norm of the vector"),
        form=ValueFormat(name="norm ", digits=2),
        notes=[[""] * len(tokens), *shares],
        frames=chosen_column(token, len(found.norms)),
    )
    wrote = (found.attention[:, token], found.mlp[:, token], found.attention_share[:, token])
    left, right = st.columns([3, 2])
    with left:
        show("norms", norms)
    with right:
        show("writes", writes(*wrote, theme=theme()))


def files(ctx: PageContext) -> None:
    trace, layer, model = ctx.trace, ctx.choice.layer, ctx.model
    on_repeats = models.scores_on_repeats(model)
    offers: tuple[tuple[str, Callable[[], str | bytes], str, str, str], ...] = (
        (
            "The explorer as a page",
            lambda: views.html(trace, title=model.name, on_repeats=on_repeats, book=models.book(model)),
            "attention.html",
            "text/html",
            "One offline file; weights are rounded to 0.0005.",
        ),
        (
            "This layer as CSV",
            lambda: views.csv_of(trace, layer),
            "attention.csv",
            "text/csv",
            "One line per head, query and visible key.",
        ),
        (
            "All layers as NPZ",
            lambda: views.npz_of(trace),
            "attention.npz",
            "application/octet-stream",
            "For `numpy.load`: tokens, patterns and masks.",
        ),
    )
    for column, (label, data, name, mime, words) in zip(st.columns(3), offers, strict=True):
        with column:
            inputs.download_button(label, data, name, mime, width="stretch")
            st.caption(words)


def code() -> None:
    show_code(*zoo.attention_code())
