from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.cache_cost import KNOWN, Kept, linear_state
from tfmviz.analysis.multiplications import multiplications
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import Axis, Scale, ValueFormat, of_tokens
from tfmviz.plots.lines import DASHES, Axes, Stroke, line_chart, named_lines
from tfmviz.record.decoding import Rules
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_matrix, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.shapes import n_local, shapes_of
from tfmviz.ui.writing.settings import Settings
from tfmviz.words.numbers import counted, in_bytes

LENGTHS = (8, 16, 32, 64, 128, 256)

SIZES = {"float32": 4, "bfloat16": 2, "8 bits": 1}


def steps(ctx: PageContext, settings: Settings) -> None:
    """A row for every step: the tokens whose keys and values it computes, and those that it reads."""
    read, tokens = _steps(ctx.model, ctx.text, settings.rules, settings.seed)
    computed = int((read == 1).sum())
    whole = int(np.isfinite(read).sum())
    notes = [["computed in this step" if v == 1 else "kept from before" if v == 0 else "" for v in row] for row in read]
    columns, scale = of_tokens("token", tokens), Scale("norms", -0.6, 1)
    form = ValueFormat(words=("computed or kept", "not there yet"))
    look: dict[str, Any] = {"form": form, "notes": notes, "row_height": 22, "titles": ("Keys and values",)}
    show_matrix("cache", read, Axis("step"), columns, scale, **look)
    result(
        f"In {counted(len(read), 'step')} each layer computes **{computed}** keys and values (dark); without the cache "
        f"it would be **{whole}**, all coloured cells. Under the causal mask the earlier ones never change."
    )
    if len(tokens) > ctx.model.config.max_len:
        st.info(
            f"Beyond {ctx.model.config.max_len} tokens positions shift, and all tokens are read again.",
            icon=icons.INFO,
        )


@cached_for_all
def _steps(model: Model, text: str, rules: Rules, seed: int) -> tuple[Array, tuple[str, ...]]:
    """(step, token): 1 read in this step, 0 in the cache, NaN absent; and the tokens."""
    made = zoo.writing.generate(model, text, rules=rules, seed=seed, max_new_tokens=10)
    ids = (*made.steps[-1].seen,)
    read = np.full((len(made.steps), len(ids)), np.nan)
    for row, step in zip(read, made.steps, strict=True):
        row[: min(step.n_cached, step.place)] = 0
        row[step.place - step.n_read : step.place] = 1
    return read, model.tokenizer.encoding_of(ids, max_len=len(ids)).tokens


def costs(ctx: PageContext) -> None:
    if ctx.model.config.architecture != "decoder-only":
        st.info("Choose a language model above.", icon=icons.INFO)
        return
    lengths = [length for length in LENGTHS if length <= ctx.model.config.max_len]
    shape = shapes_of(ctx.model.config)["decoder"]
    counts = [[multiplications(shape, new=new or n, length=n) / 1e6 for n in lengths] for new in (0, 1)]
    times = _times(ctx.model, tuple(lengths))
    left, right = st.columns(2)
    x, strokes = np.array(lengths), (Stroke(theme().text, DASHES[1], dot=50), Stroke(theme().plain, dot=50))
    for column, key, title, (without, kept) in (
        (left, "multiplications", "million multiplications", counts),
        (right, "times", "milliseconds", times),
    ):
        points = {"without cache": (x, np.array(without)), "with cache": (x, np.array(kept))}
        lines = named_lines(points, "{}, {:.0f} tokens: {:.3g}".format, theme=theme(), strokes=strokes)
        with column:
            show(key, line_chart(lines, Axes("tokens of the text", title, 280, log=True), theme=theme()))
    (count, one), (slow, fast) = ((values[0][-1], values[1][-1]) for values in (counts, times))
    waits = ": with one token the processor mostly waits for the weights" if fast / slow > 2 * one / count else ""
    result(
        f"At {lengths[-1]} tokens a step with the cache needs {one / count:.1%} of the multiplications and took "
        f"{fast / slow:.0%} of the time ({fast:.1f} instead of {slow:.1f} ms){waits}."
    )


@cached_for_all
def _times(model: Model, lengths: tuple[int, ...]) -> tuple[list[float], list[float]]:
    return zoo.experiments.step_times(model, lengths, rounds=5)


def size(ctx: PageContext) -> None:
    """Bytes of the cache: of the chosen model, of published ones, or of any shape."""
    config, attention = ctx.model.config, ctx.model.config.attention
    line = lesson.control_row("kept")
    preset = inputs.selectbox("Shape of", ["the chosen model", *KNOWN], key="preset", line=line)
    known = KNOWN.get(preset)
    if known is None:
        n_layers, n_heads, n_kv_heads, d_head = config.n_layers, attention.n_heads, attention.n_kv_heads, config.d_head
        n_kept, window = n_local(config), attention.window or 0
    else:
        n_layers, n_heads, n_kv_heads, d_head = known.n_layers, known.n_heads, known.n_kv_heads, known.d_head
        n_kept, window = known.n_local, known.window
    groups = [n for n in range(1, n_heads + 1) if n_heads % n == 0]
    kv = inputs.select_slider(
        "Key/value heads", groups, n_kv_heads, key=f"kv_{preset}_{attention.n_heads}", bind=None, line=line
    )
    number = inputs.segmented_control("Number format", list(SIZES), default="bfloat16", key="bytes", line=line)
    length = inputs.select_slider("Tokens", [2**n for n in range(7, 18)], 4096, key="cache_tokens", line=line)
    each = SIZES[number or "bfloat16"]
    kept = Kept(n_layers=n_layers, n_kv_heads=kv, d_head=d_head, size=each, n_local=n_kept, window=window)
    result(
        f"2 · {counted(n_layers, 'layer')} · {counted(kv, 'key/value head')} · {d_head} values · "
        f"{counted(each, 'byte')} = "
        f"**{in_bytes(kept.per_token)} per token**. A text of {length:,} tokens takes **{in_bytes(kept.at(length))}**."
    )
    if n_kept and length > window:
        full = replace(kept, n_local=0).at(length)
        st.markdown(
            f"{n_kept} of the {n_layers} layers keep only their last {window:,} tokens; counting them all in full "
            f"gives {in_bytes(full)}, {full / kept.at(length) - 1:.0%} too much."
        )
    if known is None and attention.kind == "linear":
        state = linear_state(n_layers=n_layers, n_heads=n_heads, d_head=d_head, size=each)
        st.markdown(
            f"This model's linear attention keeps only Σ φ(k) vᵀ and Σ φ(k) of each head, **{in_bytes(state)}** "
            "after a text of any length."
        )
    kinds = {n_heads: "multi-head", 1: "multi-query"}  # by their key/value heads
    rows = sorted({*kinds, kv}, reverse=True)
    sizes, look = [replace(kept, n_kv_heads=heads).at(length) for heads in rows], theme()
    chart = bar_chart(
        [f"{kinds.get(heads, 'grouped')}, {counted(heads, 'head')}" for heads in rows],
        np.array(sizes) / 2**20,
        f"MiB at {length:,} tokens",
        words=[in_bytes(size) for size in sizes],
        colours=[look.text if heads == kv else look.plain for heads in rows],
        theme=look,
    )
    show("cache_sizes", chart, title="Keys and values")
    if known:
        st.caption(f"Shape: {known.source}.")
