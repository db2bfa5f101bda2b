"""One coordinate of one context as a sum over the source, term by term."""

from __future__ import annotations

import numpy as np

from tfmviz.analysis import alignment
from tfmviz.analysis.alignment import Sum
from tfmviz.record.trace import Trace
from tfmviz.ui import inputs, lesson
from tfmviz.ui.bottleneck.choices import Translating
from tfmviz.ui.figures import show
from tfmviz.ui.translators import SAID, written
from tfmviz.views.counts import Table
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal


def context_sum(at: Translating) -> None:
    """Σ_j α_j h_j of the chosen row, for one of the context's coordinates."""
    word, _ = picked(at)
    width = at.trace[alignment.CONTEXT].shape[1]
    with lesson.line("sum"):
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
    source, name = [visible(token) for token in at.source], quoted(at.written, first=1)[word]
    show(
        "sum",
        Table(
            caption=f"The context c of {name} is Σⱼ αⱼ hⱼ; this is its coordinate {k} of {width}. "
            f"αⱼ is exp(scoreⱼ) over the column's sum, {total} (all divided by the largest).",
            columns=("source", "score", "exp", "α", f"h[{k}]", f"α · h[{k}]"),
            rows=_rows(source, found),
            about=f"The last column adds up to {decimal(float(found.terms.sum()), '+.4f')}; the model's own c[{k}] is "
            f"{decimal(found.total, '+.4f')}.",
        ),
    )


def _rows(source: list[str], found: Sum) -> list[tuple[str, ...]]:
    columns = (found.scores, found.exponentials, found.alpha, found.states, found.terms)
    forms = (".2f", ".4f", ".4f", "+.4f", "+.4f")
    return [
        (f"{j} {token}", *(decimal(float(column[j]), form) for column, form in zip(columns, forms, strict=True)))
        for j, token in enumerate(source)
    ]


def state_step(at: Translating, trace: Trace, kind: str) -> None:
    """h_i = g(y_{i-1}, h_{i-1}, c_i) in numbers: one coordinate of the decoder's state at every token."""
    before = np.concatenate((trace["encoder.hidden"][-1:], trace["decoder.hidden"][:-1]))
    z, n, h = (trace[f"decoder.{site}"] for site in ("update", "candidate", "hidden"))
    with lesson.line("state_step"):
        asked = inputs.number_box(
            "Coordinate of h",
            key="unit",
            min_value=0,
            max_value=h.shape[1] - 1,
            value=None,
            placeholder="the most variable",
            width=280,
        )
    k = int(np.ptp(h, axis=0).argmax()) if asked is None else int(asked)
    names = written(trace)[: at.shown(len(h))]
    rows = [
        (
            f"{i + 1} {visible(name)}",
            *(decimal(float(value), "+.3f") for value in (z[i, k], n[i, k], before[i, k])),
            decimal(float(h[i, k]), "+.3f"),
        )
        for i, name in enumerate(names)
    ]
    show(
        "state_step",
        Table(
            caption=f"h = g(y, h, c), coordinate {k} of {h.shape[1]}, {SAID[kind]}",
            columns=("i, writes", "z", "n", "hᵢ₋₁", "(1 − z) · n + z · hᵢ₋₁"),
            rows=rows,
            about="The gate z and the candidate n depend on yᵢ₋₁ (the token written before), hᵢ₋₁ and cᵢ; h₀ is the "
            "encoder's last state.",
        ),
    )


def picked(at: Translating) -> tuple[int, int]:
    """The chosen cell: a token that is written, and one of the source. At first the largest share of a middle row."""
    n_rows, n_columns = at.trace["decoder.alpha"].shape
    last = max(at.shown(n_rows) - 1, 0)
    asked = inputs.asked_number("word")
    word = (last + 1) // 2 if asked is None else min(asked, last)
    state = inputs.asked_number("state")
    return word, int(at.trace["decoder.alpha"][word].argmax()) if state is None else min(state, n_columns - 1)
