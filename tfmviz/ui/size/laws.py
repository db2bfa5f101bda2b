from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.parameters import PUBLISHED, counts
from tfmviz.analysis.scaling_laws import BESIROGLU, PUBLISHED_LAWS, AdditiveLaw, Law
from tfmviz.paths import PROJECT
from tfmviz.plots.lines import Axes, Stroke, line_chart, named_lines
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, lesson
from tfmviz.ui.figures import result, show, show_code, show_table, theme
from tfmviz.views.counts import Table
from tfmviz.words.numbers import decimal, in_words

UNLIMITED = "unlimited"

SIZES = {in_words(10.0**power): 10.0**power for power in range(6, 13)} | {UNLIMITED: math.inf}
AMOUNTS = {in_words(10.0**power): 10.0**power for power in range(8, 15)} | {UNLIMITED: math.inf}

AXES = {
    "N": ("parameters N", np.geomspace(1e5, 1e13, 97)),
    "D": ("tokens D", np.geomspace(1e7, 1e15, 97)),
    "C": ("operations C, optimally split", np.geomspace(1e15, 1e27, 97)),
}


def published() -> None:
    with lesson.control_row("laws"):
        against = inputs.segmented_control("Plot against", list(AXES), default="N", key="law_axis")
        n = SIZES[inputs.select_slider("N", list(SIZES), in_words(1e10), key="law_n")]
        d = AMOUNTS[inputs.select_slider("D", list(AMOUNTS), in_words(1e11), key="law_d")]
    title, x = AXES[against]
    curves = {name: (x, curve(known.law, against, x, n, d)) for name, known in PUBLISHED_LAWS.items()}
    yours = {"N": n, "D": d, "C": 6 * n * d}[against]
    lines = named_lines(curves, said_of_loss, theme=theme())
    # The last two nearly coincide: a thin line on a wide one.
    lines[-2] = replace(lines[-2], stroke=Stroke(theme().plain, width=9))
    lines[-1] = replace(lines[-1], stroke=Stroke(theme().text, width=2))
    marked = [(yours, f"your {against}")] if math.isfinite(yours) else []
    axes = Axes(title, LOSS, 340, power_law=True)
    show("laws", line_chart(lines, axes, theme=theme(), marked=marked, words=list(curves)))
    rows = []
    for name, known in PUBLISHED_LAWS.items():
        law, c = known.law, 6 * n * d
        parts = [law.of_size(n), law.of_text(d)] if isinstance(law, AdditiveLaw) else [math.nan, math.nan]
        *best, lowest = (*law.best(c), law.best_loss(c)) if math.isfinite(c) else (math.nan,) * 3
        losses = [decimal(float(loss)) for loss in (law.loss(n, d), *parts)]
        rows.append((name, known.counts, *losses, *(in_words(float(one)) for one in best), decimal(float(lowest))))
    show_table(
        "at",
        caption="At your N and D, and at the best split of 6 · N · D operations",
        columns=("law", "N counts", "loss", "of N", "of D", "best N", "best D", "loss there"),
        rows=rows,
    )
    result(_words(against, n, d))
    show_code(AdditiveLaw.loss, AdditiveLaw.best)


LOSS = "loss, nats per token"


def said_of_loss(name: str, x: float, loss: float) -> str:
    return f"{name}, {in_words(x)}: {decimal(loss, '.3f')} nats"


def curve(law: Law, against: str, x: Array, n: float, d: float) -> Array:
    if against == "C":
        return np.asarray(law.best_loss(x))
    return np.asarray(law.loss(x, d) if against == "N" else law.loss(n, x))


def _words(against: str, n: float, d: float) -> str:
    law = PUBLISHED_LAWS[BESIROGLU].law
    tenfold = [law.loss(n, d) - law.loss(10 * n, d), law.loss(n, d) - law.loss(n, 10 * d)]
    says = "\n".join(f"- {name}: {known.source}. Runs: {known.seen}." for name, known in PUBLISHED_LAWS.items())
    line = "A power law is a straight line here; it flattens where the other quantity limits it, or at a floor E. "
    if against == "C":
        line = "For every C the curves take the best N and D. "
    return (
        f"{line}According to {BESIROGLU}, ten times the parameters would lower the loss by "
        f"**{decimal(float(tenfold[0]))}**, ten times the text by **{decimal(float(tenfold[1]))}**. “of N” is A "
        f"/ N^α, “of D” B / D^β. Kaplan's exponents are α_N = 0.076, α_D = 0.095 and α_C = 0.050 (equations 1.1 "
        f"to 1.3).\n\n{says}\n\n**Do not compare Kaplan's heights with the others'**: its text "
        "and tokens are different."
    )


@cache
def _results() -> dict[str, dict[str, Any]]:
    return tomllib.loads((PROJECT / "assets" / "results.toml").read_text(encoding="utf-8"))


def tables() -> None:
    found = _results()
    with lesson.control_row("results"):
        name = inputs.segmented_control("Results", list(found), default="translation", key="results")
    table = dict(found[name])
    says = table.pop("says")
    show("result_table", Table(**table) if table else _sizes())
    st.markdown(says)


def _sizes() -> Table:
    return Table(
        caption="Parameters of known models",
        columns=("model", "d_model", "layers", "exact", "authors"),
        rows=[
            (
                name,
                f"{known.design.d_model:,}",
                str(known.design.n_layers),
                f"{sum(counts(known.design).values()):,}",
                f"{in_words(known.reported)} ({known.source})",
            )
            for name, known in PUBLISHED.items()
        ],
        sortable=True,
    )
