from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import lens, residual
from tfmviz.analysis.predictions import softmax
from tfmviz.plots.cells import Cells, masked, of_tokens, share
from tfmviz.record.decoding import draw, number_for
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_pairs
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.writing.desk import Written, step_at
from tfmviz.ui.writing.settings import Settings, offer_sampling
from tfmviz.views.bars import Bars
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import per_cent

DRAWS = 100

ROWS = 16

SITES = ("*.pattern", "*.mask", "*.resid_pre", "*.resid_post", "logits")


def hundred_draws(ctx: PageContext, settings: Settings, now: Written) -> None:
    """The settings' distribution at the position, and the frequency of each word in a hundred samples."""
    if settings.rules.temperature == 0:
        offer_sampling("Greedy decoding draws no samples.")
        return
    step = step_at(ctx, settings, now)
    p = step.stages[-1].probabilities
    found = [draw(p, number_for(settings.seed + 1 + n, step.place)).token for n in range(DRAWS)]
    counts = np.bincount(found, minlength=len(p)) / DRAWS
    best = np.argsort(-np.maximum(p, counts), kind="stable")[:8]
    rest = [1 - float(values[best].sum()) for values in (p, counts)]
    words = [*(ctx.model.vocabulary[index] for index in best), "all others"]
    expected, drawn = np.append(p[best], max(0, rest[0])), np.append(counts[best], max(0, rest[1]))
    show_pairs(
        "draws",
        words,
        expected,
        drawn,
        series=("expected", f"in {DRAWS} samples"),
        title="share",
        token_title="next token",
        percent=True,
        names=[f"“{visible(word)}”" for word in words],
    )
    most = int(np.abs(drawn - expected)[:-1].argmax())
    spread = float(np.sqrt(expected[most] * (1 - expected[most]) / DRAWS))
    wanted, came = per_cent(expected[most]), per_cent(drawn[most])
    differs = f"differs most: {wanted} expected, {came} drawn" if wanted != came else f"came up as expected: {came}"
    result(f"“{markdown.plain(visible(words[most]))}” {differs}. Its standard deviation is {per_cent(spread)}.")


def into_this_word(ctx: PageContext, now: Written) -> None:
    """The attention of the chosen head at the written words, and the layers' predictions at the position."""
    trace = _trace(ctx.model, ctx.text, now.before, ctx.edits)
    layer, head = ctx.choice.layer, ctx.choice.head
    queries, keys = trace.axes(layer)
    first = 0 if layer.startswith("encoder.") else max(0, len(queries) - len(now.before) - 1, len(queries) - ROWS)
    pattern = trace[f"{layer}.pattern"][head]
    mask = np.broadcast_to(trace[f"{layer}.mask"], pattern.shape)
    best = np.argsort(-pattern[-1], kind="stable")[:3]
    names, asks = quoted(keys.tokens), quoted(queries.tokens)[-1]
    strongest = ", ".join(f"{names[k]} {per_cent(pattern[-1, k])}" for k in best)
    rows, columns = of_tokens("query", queries.tokens, first=first), of_tokens("key", keys.tokens)
    values, titles = masked([pattern[first:]], mask[first:]), (f"Layer {ctx.choice.layer_index}, head {head}",)
    show("rows", Cells(values, rows, columns, share(), titles=titles, row_height=26))
    result(
        f"The last token read, {markdown.plain(asks)}, attends most to {markdown.plain(strongest)}. "
        "Rows are tokens read."
    )
    # The last token's stream read out after every layer: the logit lens.
    stages, vocabulary = residual.stages(trace, "decoder", "layers"), ctx.model.vocabulary
    readout = ctx.model.weights.stacks["decoder"].readout
    found = lens.read_token(trace, list(stages.values()), readout, len(trace.tokens) - 1)
    words = [f"{name}: {visible(vocabulary[index])}" for name, index in zip(stages, found.top[:, -1], strict=True)]
    bars = Bars(labels=words, shares=[found.top_probability[:, -1].tolist()])
    show("by_layer", bars, title="After each layer the model would write")
    answer = int(found.answer[-1])
    p = float(softmax(trace.row("logits", -1))[answer])
    st.caption(
        f"The last line, “{markdown.plain(visible(vocabulary[answer]))}” with {per_cent(p)}, is before any setting."
    )


@cached_for_all
def _trace(model: Model, text: str, before: tuple[int, ...], edits: tuple[Edit, ...]) -> Trace:
    """Reads the end of a text that is longer than the context."""
    if model.config.architecture == "encoder-decoder":
        return model.trace(text, edits, sites=SITES, target=before)
    prompt = model.encode(text).ids
    return model.trace((*prompt, *before)[-model.config.max_len :], edits, sites=SITES)
