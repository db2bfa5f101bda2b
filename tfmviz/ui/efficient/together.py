from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import streamlit as st

from tfmviz.analysis.complexity import crosses, slope
from tfmviz.analysis.efficient import exact, features, linformer, reformer, tiles, timing
from tfmviz.analysis.efficient.exact import Cost
from tfmviz.plots.lines import Axes, growth
from tfmviz.record.trace import Array
from tfmviz.record.weights import feature
from tfmviz.ui import lesson
from tfmviz.ui.background import Found, by_name, measured
from tfmviz.ui.efficient import BYTES, Head, effect, head_of, no_bias
from tfmviz.ui.efficient.approximate import KINDS, bucketed, sparsely
from tfmviz.ui.figures import result, show, show_table, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words.numbers import counted, decimal, in_bytes, in_seconds, in_words, per_cent, rounded

SIZE, BUCKETS, ROUNDS, FEATURES, TILE, SHARE = 3, 4, 2, 64, 4, 4
"""The settings of the table, with which the other tabs open; Linformer gets one row per so many tokens."""

NOTHING = 1e-9
"""Smaller errors are rounding."""

MODULE = "tfmviz.analysis.efficient.timing"

Row = tuple[str, Array, Array, Cost]


def _methods(head: Head) -> Iterator[Row]:
    (q_len, k_len), d = head.scores.shape, head.q.shape[1]
    yield "exact", head.pattern, head.pattern @ head.v, exact.cost(q_len, k_len, d)
    for kind in KINDS if head.q_tokens_are_keys else KINDS[-1:]:
        _, pattern, cost = sparsely(head, kind, SIZE)
        yield f"{kind}, {SIZE}", pattern, pattern @ head.v, cost
    if not head.is_causal:
        rows = max(1, k_len // SHARE)
        pattern = linformer.pattern(head.q, head.k, rows)
        yield f"Linformer, {rows} rows", pattern, pattern @ head.v, linformer.cost(q_len, k_len, d, rows)
    of_q, of_k = (reformer.buckets(x, BUCKETS, rounds=ROUNDS) for x in (head.q, head.k))
    _, pattern, cost = bucketed(head, of_q, of_k, BUCKETS)
    yield f"Reformer, {BUCKETS} buckets", pattern, pattern @ head.v, cost
    phi = feature(head.q), feature(head.k)
    pattern = features.pattern(*phi, head.allowed)
    yield "linear attention", pattern, pattern @ head.v, features.cost(q_len, k_len, d, d, drawn=False)
    phi = features.performer(head.q, head.k, features.random_directions(FEATURES, d, 0))
    pattern = features.pattern(*phi, head.allowed)
    cost = features.cost(q_len, k_len, d, FEATURES, drawn=True)
    yield f"Performer, {FEATURES} features", pattern, pattern @ head.v, cost
    tiled = tiles.attend(head.q, head.k, head.v, TILE, head.allowed, bias=head.bias)
    yield f"tiles of {TILE}", head.pattern, tiled, tiles.cost(q_len, k_len, d, TILE)


def table(ctx: PageContext) -> None:
    head = head_of(ctx)
    made = list(_methods(head))
    most = max(cost.multiplications for *_, cost in made)
    show_table(
        "together",
        caption=f"Layer {ctx.choice.layer_index}, head {ctx.choice.head}, on {counted(len(head.k), 'token')}.",
        columns=("method", "attention moved", "output change", "KL, nats", "memory", "multiplications"),
        rows=[_said(ctx, made[0], row) for row in made],
        shares=[cost.multiplications / most for *_, cost in made],
    )
    more = sum(cost.multiplications > made[0][3].multiplications for *_, cost in made)
    result(f"**{more} of {len(made) - 1}** methods need more multiplications than exact attention.")
    st.caption("The output changes by a share of its norm; KL is that of the chosen token.")
    no_bias(head)


def _said(ctx: PageContext, full: Row, row: Row) -> tuple[str, ...]:
    name, pattern, z, cost = row
    divergence, _ = (effect(ctx, z) if row is not full else None) or (None, "")
    return (
        name,
        _share(exact.pattern_error(full[1], pattern)),
        _share(exact.output_error(full[2], z)),
        "–" if divergence is None else "0" if divergence < NOTHING else rounded(divergence),
        in_bytes(BYTES * cost.numbers),
        in_words(cost.multiplications),
    )


def _share(error: float) -> str:
    return "0" if error < NOTHING else per_cent(error)


def times(ctx: PageContext) -> None:
    lesson.hide(*lesson.CHOICES)
    measured(MODULE, _draw, words="Measure on this server (about 10 s)")


def _draw(found: Sequence[Found]) -> None:
    x = np.array(timing.LENGTHS, float)
    counts = {name: (x, np.array([timing.counted(name, n) for n in timing.LENGTHS], float)) for name in timing.METHODS}
    points = by_name(found, "name", "n", "seconds")
    seen = {name: points[name] for name in timing.METHODS if name in points}
    if seen:
        _chart(seen, "measured: seconds")
    _chart(counts, "counted: multiplications")
    if seen:
        columns: dict[str, list[str]] = {
            "method": list(seen),
            "grows as n to the power": [decimal(slope(x, y)) for x, y in seen.values()],
            "faster than exact from": [],
            "at its longest text": [f"{in_seconds(float(y[-1]))} at {x[-1]:,.0f}" for x, y in seen.values()],
        }
        exactly = seen.get("exact")
        for name, (x, y) in seen.items():
            n = 0 if exactly is None else min(len(x), len(exactly[0]))
            at = crosses(x[:n], exactly[1][:n], y[:n]) if exactly is not None and name != "exact" and n else None
            always = exactly is not None and n and bool((y[:n] < exactly[1][:n]).all())
            columns["faster than exact from"].append(
                "–"
                if name == "exact"
                else f"n ≈ {at:,.0f}"
                if at
                else "all lengths"
                if always
                else "no length measured"
            )
        st.table(columns)
    st.caption(
        f"One head of width {timing.D} on random vectors, in NumPy on one thread. Reformer: one round, no sorting."
    )


def _chart(lines: dict[str, tuple[Array, Array]], title: str) -> None:
    write = in_seconds if title.startswith("measured") else in_words
    show(title.split(":")[0], growth(lines, Axes("tokens n", title, 360), write, theme=theme()))
