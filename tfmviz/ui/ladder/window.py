from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.predictions import softmax
from tfmviz.analysis.window_network import Network, n_numbers, network
from tfmviz.plots.cells import Axis, Cells, ValueFormat, chosen_cell, chosen_row, signed
from tfmviz.record.model import AnyModel
from tfmviz.record.trace import Array
from tfmviz.ui import controls, inputs, lesson, side, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show, show_columns, show_table
from tfmviz.ui.ladder import rungs
from tfmviz.ui.lesson import PageContext
from tfmviz.views.bars import Bars
from tfmviz.words.labels import visible, whole
from tfmviz.words.numbers import decimal

IN_A_ROW = 32
"""Hidden units side by side."""

BARS = 6

WINDOWS = (1, 2, 4, 8, 16, 32)
"""Lengths of windows whose W is counted."""


def window(ctx: PageContext) -> None:
    model = rungs.ladder().window
    text = model.encode(ctx.text)
    controls.say_what_was_cut(text, "This network reads")
    n = model.config.to_dict()["n_window"]
    chosen = controls.pinned()
    end = min(chosen or len(text), len(text))
    if not side.is_b():
        st.session_state["window_end"] = end
    end = inputs.selectbox(
        "Last token in the window",
        range(1, len(text) + 1),
        format_func=lambda n: f"{n - 1}  {visible(text.tokens[n - 1])}",
        key="window_end",
        on_change=_take_end,
        width=200,
        bind=None,
        line=lesson.control_row("window"),
    )
    found = _read(model, ctx.text, end)
    tokens = ([""] * n + list(text.tokens[:end]))[-n:]
    p = softmax(found.logits)
    best = np.argsort(-p, kind="stable")[:BARS]
    unit = url.place("unit", len(found.h) - 1, int(np.argmax(np.abs(found.U[best[0]] * found.h))))
    place = url.place("place", n - 1, int(np.argmax(np.abs(found.added()[:, unit]))))
    vocabulary = rungs.ladder().transformer.vocabulary
    names = [visible(vocabulary[token]) for token in best.tolist()]
    left, right = st.columns((3, 2))
    with left:
        show("window_next", Bars(labels=names, shares=[p[best].tolist()]), title="y = softmax(U h + b₂)")
        h = found.h
        width = min(IN_A_ROW, len(h))
        rows = -(-len(h) // width)
        values = np.full(rows * width, np.nan)
        values[: len(h)] = h
        show(
            "window_hidden",
            Cells(
                values.reshape(1, rows, width),
                Axis("", (), [f"unit {width * row} + …" for row in range(rows)]),
                Axis("", (), [str(column) for column in range(width)]),
                signed(h, "h = tanh(W e + b₁)", limit=1.0),
                form=ValueFormat(digits=2, sign=True),
                notes=[[f"unit {width * row + column}" for column in range(width)] for row in range(rows)],
                frames=chosen_cell((unit // width, unit % width)),
                row_height=18,
            ),
            click="see how the unit was computed",
            on_pick=lambda row, column: url.put({"unit": str(IN_A_ROW * row + column)}),
        )
        words = [f"{place}  {visible(token)}" if token else f"{place}  –" for place, token in enumerate(tokens, 1)]
        sentences = [
            f"place {n} “{whole(token)}”" if token else f"place {n}, empty" for n, token in enumerate(tokens, 1)
        ]
        show(
            "window_joined",
            _numbers(found.e, Axis("", words, sentences), "e = [e₁; …; eₙ]", place, row_height=22),
            click="show its position's block of W",
            on_pick=lambda row, _: url.put({"place": str(row)}),
        )
    with right:
        _unit(found, tokens, unit=unit, place=place)
        show_table(
            "window_words",
            caption=f"U h: what unit {unit} adds to each word",
            columns=("next word", "U", "U h", "logit"),
            rows=[
                (name, *(decimal(value, "+.2f") for value in (found.U[token, unit], part, found.logits[token])))
                for name, token, part in zip(names, best, found.of_words(unit)[best], strict=True)
            ],
        )
        show(
            "window_block",
            _numbers(found.W[place], Axis("unit", ()), f"W of place {place + 1}", unit, root=True, row_height=1),
            click="show that row's unit",
            on_pick=lambda row, _: url.put({"unit": str(row)}),
        )
    shape = model.config.to_dict()
    n, d_model, d_hidden = (shape[key] for key in ("n_window", "d_model", "d_hidden"))
    st.markdown("**Each position has its own W**: what is learned about a word in one position is unknown in the next.")
    show_columns(
        "window_sizes",
        {
            "tokens in the window": list(map(str, WINDOWS)),
            "parameters in W": [f"{n_numbers(one, d_model, d_hidden):,}" for one in WINDOWS],
        },
        caption=f"{d_model} coordinates per token, {d_hidden} units; here, {n} tokens",
    )


def _take_end() -> None:
    if isinstance(end := st.session_state["window_end"], int):  # else a label of the previous text
        controls.pin(end)


@cached_for_all
def _read(model: AnyModel, text: str, end: int) -> Network:
    joined = model.trace(text, sites=("window",))["window"][end - 1]
    return network(zoo.experiments.window_weights(model), joined.reshape(model.config.to_dict()["n_window"], -1))


def _numbers(values: Array, rows: Axis, title: str, chosen: int, *, root: bool = False, row_height: int) -> Cells:
    columns, scale = Axis("coordinate of the vector", ()), signed(values, title, root=root)
    look: dict[str, Any] = {"form": ValueFormat(digits=2, sign=True), "frames": chosen_row(chosen, values.shape[1])}
    return Cells(values[None], rows, columns, scale, row_height=row_height, **look)


def _unit(found: Network, tokens: list[str], *, unit: int, place: int) -> None:
    added, elsewhere = found.added()[:, unit], found.elsewhere(place)[:, unit]
    name = f"“{whole(tokens[place])}” (place {place + 1})" if tokens[place] else "“–”"
    show_table(
        "window_unit",
        caption=f"Unit {unit}: what each place adds and what {name} would add there",
        columns=("place", "W e", f"{name} there"),
        rows=[
            (f"{n}  {visible(token) if token else '–'}", decimal(own, "+.3f"), decimal(other, "+.3f"))
            for n, (token, own, other) in enumerate(zip(tokens, added.tolist(), elsewhere.tolist(), strict=True), 1)
        ],
        picked=place,
        about=f"Sum {decimal(added.sum(), '+.3f')}, b₁ {decimal(found.b_1[unit], '+.3f')}; tanh: h = "
        f"{decimal(found.h[unit], '+.3f')}.",
        on_pick=lambda row: url.put({"place": str(row)}),
    )
