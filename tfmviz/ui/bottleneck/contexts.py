from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import alignment, recurrence
from tfmviz.plots.cells import Axis, Cells, ValueFormat, chosen_cell, largest, signed
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import inputs, lesson, translators, url
from tfmviz.ui.bottleneck.choices import Translating
from tfmviz.ui.figures import show, show_table
from tfmviz.ui.translators import SAID, source_of, written, written_rows
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal

INPUTS = ("yᵢ₋₁", "cᵢ", "hᵢ₋₁")
"""The inputs of the decoder's state; yᵢ₋₁ is the embedding of the token written before."""

GATES = ("r = σ(sum)", "z = σ(sum)", "n = tanh(sum)")
CANDIDATE = 2

PRODUCTS = 6
"""A gate's largest products that are listed."""


def contexts(at: Translating) -> None:
    with_attention = at.kind if at.kind != "none" else next((kind for kind in at.recurrent if kind != "none"), "none")
    shown = [kind for kind in dict.fromkeys(("none", with_attention)) if kind in at.recurrent]
    traces = {kind: translators.trace(at.recurrent[kind], at.ctx.text) for kind in shown}
    end = max(largest(trace[alignment.CONTEXT]) for trace in traces.values())
    for (kind, trace), column in zip(traces.items(), st.columns(len(traces)), strict=True):
        title, values, names = "cᵢ = Σⱼ αᵢⱼ hⱼ, ", trace[alignment.CONTEXT], written(trace)
        if kind == "none":
            title, values = "c = hₙ, ", values[:1].repeat(len(names), axis=0)
        drawn = picture(values, title + SAID[kind], names, at.shown(len(names)), limit=end)
        with column:
            show(f"contexts_{kind}", drawn, follows=kind != shown[0])
    state_step(at, traces[with_attention], with_attention)


def context_sum(at: Translating) -> None:
    """Σ_j α_j h_j of the chosen row, for one coordinate of the context."""
    word, _ = picked(at)
    width = at.trace[alignment.CONTEXT].shape[1]
    with lesson.control_row("sum"):
        asked = inputs.number_box(
            "Coordinate of c",
            key="coordinate",
            min_value=0,
            max_value=width - 1,
            value=None,
            placeholder="the largest",
            width=280,
        )
    k = alignment.largest_number(at.trace, word=word) if asked is None else int(asked)
    found = alignment.context_sum(at.trace, word=word, coordinate=k)
    total = decimal(float(found.exponentials.sum()), ".4f")
    name = quoted(written(at.trace), first=1)[word]
    columns = (
        (found.scores, ".2f"),
        (found.exponentials, ".4f"),
        (found.alpha, ".4f"),
        (found.states, "+.4f"),
        (found.terms, "+.4f"),
    )
    show_table(
        "sum",
        caption=f"The context c of {name} is Σⱼ αⱼ hⱼ; this is its coordinate {k} of {width}. "
        f"αⱼ is exp(scoreⱼ) over the column's sum, {total} (all divided by the largest).",
        columns=("source", "score", "exp", "α", f"h[{k}]", f"α · h[{k}]"),
        rows=[
            (f"{j} {token}", *(decimal(float(column[j]), form) for column, form in columns))
            for j, token in enumerate(map(visible, source_of(at.trace)))
        ],
        about=f"The last column adds up to {decimal(float(found.terms.sum()), '+.4f')}; the model's own c[{k}] is "
        f"{decimal(found.total, '+.4f')}.",
    )


def state_step(at: Translating, trace: Trace, kind: str) -> None:
    """h_i = g(y_{i-1}, h_{i-1}, c_i): all states, the gates behind a chosen coordinate, and a gate's products."""
    h, names = trace["decoder.hidden"], written(trace)
    shown = at.shown(len(h))
    word = url.place("word", max(shown - 1, 0), shown // 2)
    unit = url.place("unit", h.shape[1] - 1, int(np.ptp(h, axis=0).argmax()))
    gate = url.place("gate", CANDIDATE, CANDIDATE)
    show(
        "states",
        picture(h, f"hᵢ = g(yᵢ₋₁, hᵢ₋₁, cᵢ), {SAID[kind]}", names, shown, limit=1.0, chosen=(word, unit)),
        click="show its arithmetic",
        on_pick=lambda row, column: url.put({"word": str(row), "unit": str(column)}),
    )
    y, c = (trace[site][word] for site in ("decoder.embed", alignment.CONTEXT))
    before = trace["encoder.hidden"][-1] if word == 0 else h[word - 1]
    weights = zoo.experiments.recurrent_weights(at.recurrent[kind], "decoder")
    terms, biases = recurrence.products(weights, np.concatenate((y, c)), before, unit)
    sums = terms.sum(axis=1) + biases
    values = (*(1 / (1 + np.exp(-sums[:CANDIDATE]))), np.tanh(sums[CANDIDATE]))
    parts = terms.reshape(len(terms), len(INPUTS), -1).sum(axis=2)
    left, right = st.columns([3, 2])
    with left:
        z, n = (float(trace[f"decoder.{site}"][word, unit]) for site in ("update", "candidate"))
        show_table(
            "state_step",
            caption=f"hᵢ[{unit}] at {quoted(names, first=1)[word]} is (1 − z) · n + z · hᵢ₋₁[{unit}] = "
            f"(1 − {decimal(z, '.3f')}) · {decimal(n, '.3f')} + {decimal(z, '.3f')} · "
            f"{decimal(float(before[unit]), '.3f')} = {decimal(float(h[word, unit]), '+.3f')}",
            columns=("", *(f"{name} · W" for name in INPUTS), "b", "sum", "value"),
            rows=[
                (
                    name,
                    *(decimal(float(part), "+.2f") for part in (*own, bias, total)),
                    decimal(float(value), ".3f"),
                )
                for name, own, bias, total, value in zip(GATES, parts, biases, sums, values, strict=True)
            ],
            picked=gate,
            on_pick=lambda row: url.put({"gate": str(row)}),
        )
    own, numbers = terms[gate], np.concatenate((y, c, before))
    best = np.argsort(-np.abs(own), kind="stable")[:PRODUCTS]
    rest, d = float(own.sum() - own[best].sum()), len(own) // len(INPUTS)
    rows = []
    for k in best.tolist():
        weight = own[k] / numbers[k] if numbers[k] else 0
        row = (decimal(float(x), "+.2f") for x in (numbers[k], weight, own[k]))
        rows.append((f"{INPUTS[k // d]}[{k % d}]", *row))
    with right:
        show_table(
            "products",
            caption=f"The largest products in {GATES[gate]}",
            columns=("number", "value", "weight", "product"),
            rows=rows,
            about=(
                f"The other {len(own) - len(best)} add up to {decimal(rest, '+.2f')}."
                + (" Weights of hᵢ₋₁ are times r." if gate == CANDIDATE else "")
            ),
        )


def picture(
    values: Array, title: str, names: Sequence[str], shown: int, *, limit: float, chosen: tuple[int, int] | None = None
) -> Cells:
    """c_i or h_i, (written, d_model): a column for each coordinate; rows to come are grey. Colours end at `limit`."""
    found = np.where(np.arange(len(values))[:, None] < shown, values, np.nan)
    rows, scale, form = written_rows(names, shown), signed(found, title, limit=limit), ValueFormat(sign=True)
    return Cells(found[None], rows, Axis("coordinate"), scale, form=form, frames=chosen_cell(chosen), row_height=30)


def picked(at: Translating) -> tuple[int, int]:
    """The chosen cell: a written token and a source token. At first, the largest weight of a middle row."""
    n_rows, n_columns = at.trace["decoder.alpha"].shape
    last = max(at.shown(n_rows) - 1, 0)
    word = url.place("word", last, (last + 1) // 2)
    return word, url.place("state", n_columns - 1, int(at.trace["decoder.alpha"][word].argmax()))
