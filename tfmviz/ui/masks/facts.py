from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz.analysis.attention_layer import of_head, turned
from tfmviz.analysis.mask_effect import LARGE, additive, softmax_under
from tfmviz.plots.cells import Axis, Cells, Scale, ValueFormat, of_tokens
from tfmviz.record.trace import Array
from tfmviz.ui import lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.masks import Chosen, Settings, gallery
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, said_of_queries
from tfmviz.words.numbers import counted, tiny

SHOWN = 4
"""Rows and columns of a printed mask."""


def table(ctx: PageContext, chosen: Chosen, settings: Settings) -> None:
    """Causal against padding, boolean against additive, −1e9 against −∞, and the conventions of torch."""
    batch(ctx, settings)
    st.table(
        {
            "mask": ["causal", "padding", "cross-attention"],
            "hides": ["later tokens", "padding tokens", "only the padding of the source"],
            "depends on": ["positions only", "lengths in the batch", "source lengths"],
            "shape": ["(len, len)", "(batch, 1, 1, k_len)", "(batch, 1, 1, k_len)"],
            "without it": ["the answer is visible", "results depend on other texts", "as with padding"],
        }
    )
    st.markdown("**Boolean or additive**: the first cells of your mask.")
    left, right = st.columns(2)
    corner = chosen.mask[:SHOWN, :SHOWN]
    left.code(_grid(corner.astype(int)), language=None)
    right.code(_grid(np.where(additive(corner) < 0, "−∞", "0")), language=None)
    swallowed(ctx)
    conventions()


def batch(ctx: PageContext, settings: Settings) -> None:
    """Two sentences in one batch: padding, causal, and both."""
    import torch

    from tfmviz import masks

    keys = ctx.trace.axes(ctx.choice.layer)[1]
    second = ctx.model.tokenizer.encode(settings.second, max_len=len(keys) + 64)
    texts = (keys.tokens, second.tokens)
    width = max(map(len, texts))
    short = min(range(2), key=lambda n: len(texts[n]))
    filled = [*texts[short], *["[pad]"] * (width - len(texts[short]))]
    padding = masks.padding(torch.tensor([len(t) for t in texts]), width)[short, 0, 0].expand(width, width)
    causal = masks.causal(width)
    st.markdown(
        f"**Causal is not padding.** Your sentence ({counted(len(texts[0]), 'token')}) and the second "
        f"({len(texts[1])}) share a batch: the shorter one's masks."
    )
    drawn = (
        ("causal: by position", causal),
        ("padding: by length", padding),
        ("causal & padding", causal & padding),
    )
    for column, (title, mask) in zip(st.columns(3), drawn, strict=True):
        with column:
            show(title, _picture(mask.numpy(), filled, title))


def _picture(mask: Array, keys: Sequence[str], title: str) -> Cells:
    scale, form = Scale("open", 0, 1), ValueFormat(words=("may look", "may not look"))
    values = np.where(mask, 1.0, np.nan)[None]
    return Cells(values, Axis("query", ()), of_tokens("key", keys), scale, form=form, titles=(title,), square=True)


def swallowed(ctx: PageContext) -> None:
    """The same scores under −∞ and under −1e9: a row with a choice, and an empty one."""
    token = ctx.query
    trace, layer, head = ctx.trace, ctx.choice.layer, ctx.choice.head
    q, k = (of_head(trace, layer, head, turned(trace, layer, name)) for name in ("q", "k"))
    scores, bias = ctx.weights.scores(q[token], k), ctx.positions.bias
    if bias is not None:
        scores = scores + bias[head, token]
    mask = np.broadcast_to(trace[f"{layer}.mask"], (len(q), len(k)))[token]
    infinite, large = (softmax_under(scores, mask, blocked) for blocked in (-np.inf, float(LARGE)))
    difference = float(np.abs(infinite - large).max())
    nothing = np.zeros_like(mask)
    empty = softmax_under(scores, nothing, -np.inf), softmax_under(scores, nothing, float(LARGE))
    st.markdown("**−∞ or −1e9**: the chosen query's weights.")
    least, most = empty[1].min(), empty[1].max()
    kind = "uniform" if np.isclose(least, most) else "the scores after rounding"
    spread = f"every weight {least:.3f} to {most:.3f}: {kind}"
    st.table(
        {
            "row": ["with the model's mask", "with nothing allowed"],
            "−∞": [
                f"largest weight {infinite.max():.3f}",
                "0/0: not a number" if np.isnan(empty[0]).all() else "weights",
            ],
            "−1e9": [f"the same, to within {tiny(difference)}" if difference else "exactly the same", spread],
        }
    )
    st.markdown("Next to −1e9, float32 loses scores below 32; in float16, −1e9 is −∞.")


def conventions() -> None:
    """The value that blocks in each function of torch, tried out here."""
    found = torch_conventions()
    st.markdown("**True means opposite things:**")
    st.table(
        {
            "torch": [name.replace("_", "_\u200b").replace("(", "\u200b(") for name in found],  # lines may end there
            "True means": ["visible", "masked", "padding"],
            "checked": ["✓ matches our attention" if same else "✗ differs" for same in found.values()],
        }
    )


@cached_for_all
def torch_conventions() -> dict[str, bool]:
    """Imports torch; see `model.conventions`."""
    from tfmviz.model.conventions import agreement

    return agreement()


def _grid(cells: Array) -> str:
    return "\n".join(" ".join(f"{cell!s:>2}" for cell in row) for row in cells)


def exercises(ctx: PageContext, settings: Settings) -> None:
    """Three questions for the class, with answers computed from the reader's sentence."""
    trace, choice = ctx.trace, ctx.choice
    queries, keys = trace.axes(choice.layer)
    pattern = trace[f"{choice.layer}.pattern"][choice.head]
    rows, columns = pattern.sum(axis=1), pattern.sum(axis=0)
    position = min(1, len(queries) - 1)
    mask = np.broadcast_to(trace[f"{choice.layer}.mask"], pattern.shape)[position]
    who = markdown.plain(said_of_queries(trace, choice.layer)[position])
    everything = gallery(len(queries), len(keys), settings, second_len=len(keys), crossing=queries is not keys)
    examples = [example for example in everything if example.id not in ("padding", "cross")]  # they take two sentences
    with lesson.control_row("riddle"):
        n = st.number_input("Picture", 1, len(examples), min(5, len(examples)))
    example = examples[int(n) - 1]
    picture, questions = st.columns([3, 2])
    with picture:
        show("riddle", _picture(example.mask, keys.tokens, "which mask?"))
    names = quoted(keys.tokens)
    seen = [markdown.plain(names[j]) for j in np.flatnonzero(mask)[:12]]
    with questions:
        _ask("1. Which mask is this?", f"{example.title}. {example.words}")
        _ask(
            "2. Rows or columns: which sums to 1?",
            f"The rows: {rows.min():.3f} to {rows.max():.3f}. Columns need not: here {columns.min():.2f} to "
            f"{columns.max():.2f}.",
        )
        _ask(
            f"3. What can {who} attend to?",
            f"{int(mask.sum())} of {len(keys)} tokens: {', '.join(seen)}{' …' if mask.sum() > 12 else ''}.",
        )


def _ask(question: str, answer: str) -> None:
    with st.expander(question):
        st.markdown(answer)
