from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.law_fits import Fit, fit_additive, fit_power, interval
from tfmviz.analysis.scaling_laws import KAPLAN, PUBLISHED_LAWS, AdditiveLaw, KaplanLaw, Number
from tfmviz.constants import NO_NUMBER
from tfmviz.paths import PROJECT
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, Line, Stroke, line_chart, named_lines
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_code, show_table, theme
from tfmviz.ui.size.laws import LOSS, said_of_loss
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal, in_words, rounded, tiny

TITLES = {"N": "parameters N", "D": "tokens D", "C": "operations C = 6 · N · D"}

FRONTIER = "best N for each C"

DOT = 70
"""Area of a run's point, in square pixels."""

FEW_TENS = 200
"""An axis shorter than so many times its beginning is labelled between powers of ten too."""

OVER = 1.3
"""The fitted curves extend beyond the runs by this factor."""


def own() -> None:
    """Points, the fit through them, its constants with intervals, and its prediction for a larger model."""
    about, runs, larger = read_grid()
    with lesson.control_row("own"):
        against = inputs.segmented_control("Plot against", list(TITLES), default="N", key="own_axis")
        counted = inputs.segmented_control("N counts", [ALL, WITHOUT], default=ALL, key="n_counts")
    show("own_runs", _runs(runs, larger, against, counted))
    result(prediction(larger, counted))
    if against == "C":
        law, n = fitted(counted).law, runs.n(counted)
        c = float((6 * n * runs.d).max())
        best = float(law.best(c)[0])
        where = "below every model here" if best < n.min() else "above every model here"
        beyond = f", {where}: an extrapolation" if not n.min() <= best <= n.max() else ""
        st.markdown(
            f"The thick line is the law's lowest loss for C operations. At our largest C, {tiny(c)}, the best N is "
            f"{in_words(best)}{beyond}."
        )
    _constants()
    st.markdown(_alone(runs, counted))
    st.markdown(limits(runs))
    n = runs.n_parameters
    st.caption(
        f"{len(runs.loss)} runs, {in_words(n.min())} to {in_words(n.max())} parameters, "
        f"{in_words(runs.d.min())} to {in_words(runs.d.max())} tokens read once; context {about['context']}, batch "
        f"{about['batch']}, AdamW, cosine from {about['learning_rate']}. The loss is on {about['held_out_tokens']:,} "
        f"held-out tokens (token frequencies alone: {decimal(about['unigram_loss'])}). Reproduce with "
        f"{markdown.code(about['command'])}."
    )
    show_code(fit_additive)


def _runs(runs: Runs, larger: Runs, against: str, counted: str) -> Chart:
    """Runs as points, with the fitted law through those that share an amount of text or, against D and C, a size.

    Against C, the chart also has the lowest loss that the law predicts for any split.
    """
    law, n = fitted(counted).law, runs.n(counted)
    points: dict[str, tuple[Array, Array]] = {}
    smooth: dict[str, tuple[Array, Array]] = {}
    if against == "N":
        span = np.geomspace(n.min() / OVER, n.max() * OVER**2, 60)
        for d in np.unique(runs.d):
            name, at = f"{in_words(d)} tokens", runs.d == d
            points[name], smooth[name] = (n[at], runs.loss[at]), (span, np.asarray(law.loss(span, d)))
    else:
        span = np.geomspace(runs.d.min() / OVER, runs.d.max() * OVER, 60)
        for size in np.unique(n):
            name, at, scale = in_words(size), n == size, 6 * size if against == "C" else 1.0
            points[name] = runs.d[at] * scale, runs.loss[at]
            smooth[name] = span * scale, np.asarray(law.loss(size, span))
    n = larger.n(counted)
    x = {"N": n, "D": larger.d, "C": 6 * n * larger.d}[against]
    for size in np.unique(n):
        points[f"{in_words(size)}, not fitted"] = x[n == size], larger.loss[n == size]
    drawn = [
        replace(line, smooth=smooth[line.name])
        if line.name in smooth
        else replace(line, stroke=replace(line.stroke, width=0, dot=3 * DOT))
        for line in named_lines(points, said_of_loss, theme=theme(), dot=DOT)
    ]
    if against == "C":
        c = 6 * runs.n(counted) * runs.d
        span = np.geomspace(c.min(), c.max(), 40)
        best = np.asarray(law.best_loss(span))
        drawn.append(Line(FRONTIER, span, best, Stroke(theme().text, width=4), partial(said_of_loss, FRONTIER)))
    ends = np.concatenate([x for x, _ in points.values()])
    axes = Axes(TITLES[against], LOSS, power_law=True, fives=float(ends.max() / ends.min()) < FEW_TENS)
    # Against C the lines end one after the other, so labels at their ends would cover other lines.
    words = () if against == "C" else [line.name for line in drawn]
    return line_chart(drawn, axes, theme=theme(), words=words)


def prediction(larger: Runs, counted: str) -> str:
    """The fit's prediction for the larger model, and its measured loss."""
    fit = fitted(counted)
    law, parts = fit.law, []
    for n, d, loss in zip(larger.n(counted), larger.d, larger.loss, strict=True):
        low, high = interval(fit.draws.loss(n, d))
        parts.append(
            f"on {in_words(d)} tokens **{decimal(float(law.loss(n, d)), '.3f')}** ({decimal(low, '.3f')} to "
            f"{decimal(high, '.3f')}), and it reached **{decimal(loss, '.3f')}**"
        )
    written = (
        rf"The lines are the fitted law $L(N, D) = E + A / N^{{\alpha}} + B / D^{{\beta}} = {decimal(float(law.E))} + "
        rf"{rounded(float(law.A))} / N^{{{decimal(float(law.alpha))}}} + {rounded(float(law.B))} / "
        rf"D^{{{decimal(float(law.beta))}}}$."
    )
    (size,) = set(larger.n(counted))
    return (
        f"{written} For a larger model ({in_words(size)} parameters), not in the fit, it predicts {'; '.join(parts)}."
    )


def _constants() -> None:
    def with_interval(value: Number, draws: Number) -> str:
        low, high = interval(draws)
        return f"{decimal(float(value))} ({decimal(low)}–{decimal(high)})"

    names, rows = ("alpha", "beta", "share_for_size", "E"), []
    for name, counted in (("ours, all", ALL), ("ours, no embeddings", WITHOUT)):
        fit = fitted(counted)
        rows.append((name, *(with_interval(getattr(fit.law, one), getattr(fit.draws, one)) for one in names)))
    for name, known in PUBLISHED_LAWS.items():
        law = known.law
        if isinstance(law, AdditiveLaw):
            rows.append((name, *(f"{float(getattr(law, one)):.3g}" for one in names)))
        elif isinstance(law, KaplanLaw):
            shares = (law.alpha_n, law.alpha_d, law.share_for_size)
            rows.append((name, *(f"{value:.3g}" for value in shares), NO_NUMBER))
    show_table(
        "constants",
        caption="Constants of the laws, with 95% intervals from resampled runs",
        columns=("law", "α", "β", "N ∝ C to the power", "E"),
        rows=rows,
        about=f"{KAPLAN} has no E, and its N excludes embeddings. N ∝ C: how the best N grows with C.",
    )


@cached_for_all
def _alone(runs: Runs, counted: str) -> str:
    """Power laws of one variable, as Kaplan et al. fitted them, where the other is fixed."""
    n = runs.n(counted)
    most = max(np.unique(runs.d), key=lambda d: (len(set(n[runs.d == d])), d))
    widest = max(np.unique(n), key=lambda size: (len(set(runs.d[n == size])), size))
    of_n, of_d = runs.d == most, n == widest
    return (
        f"**With one variable**, at {in_words(most)} tokens the loss falls as N to the "
        f"{_power(n[of_n], runs.loss[of_n])}; with {in_words(widest)} parameters as D to the "
        f"{_power(runs.d[of_d], runs.loss[of_d])}. Kaplan et al. found −0.076 and −0.095."
    )


def _power(x: Array, loss: Array) -> str:
    alpha, draws = fit_power(x, loss, draws=DRAWS)
    low, high = interval(-draws)
    return f"{decimal(-alpha, '.3f')} ({decimal(low, '.3f')} to {decimal(high, '.3f')}, {len(x)} runs)"


def limits(runs: Runs) -> str:
    both, without = fitted(ALL), fitted(WITHOUT)
    low, high = interval(without.draws.share_for_size - both.draws.share_for_size)
    change = float(without.law.share_for_size) - float(both.law.share_for_size)
    seen = "is larger than chance here" if low > 0 or high < 0 else "may be chance here"
    floor = interval(both.draws.E)
    cells: dict[tuple[float, float], list[float]] = {}
    for n, d, loss in zip(runs.n_parameters, runs.d, runs.loss, strict=True):
        cells.setdefault((n, d), []).append(loss)
    apart = [max(losses) - min(losses) for losses in cells.values() if len(losses) > 1]
    return (
        f"**What this does not say.** E lies between {decimal(floor[0])} and {decimal(floor[1])}, the best run "
        f"at {decimal(runs.loss.min())}: E, α and β are poorly determined.\n\n**How to count N.** Without "
        f"embeddings the exponent of the best N changes by {decimal(change, '+.2f')} ({decimal(low, '+.2f')} to "
        f"{decimal(high, '+.2f')}), which {seen}. So Pearce & Song 2024 explain most of the gap "
        "between Chinchilla's 0.50 and Kaplan's 0.73.\n\n**Do not compare E, A and B with the papers'**: our tokens "
        f"are shorter. Two seeds of the same run differ by {decimal(float(np.mean(apart)), '.3f')} nats on average."
    )


FILE = PROJECT / "assets" / "scaling" / "runs.json"

ALL, WITHOUT = "all", "without embeddings"

DRAWS = 400


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Runs:
    """Runs, as columns.

    Attributes:
        n_parameters, n_embeddings: of the model, (run,).
        d: tokens that it was trained on, (run,).
        loss: on the held-out windows, nats per token, (run,).
    """

    n_parameters: Array
    n_embeddings: Array
    d: Array
    loss: Array

    def n(self, counted: str) -> Array:
        return self.n_parameters if counted == ALL else self.n_parameters - self.n_embeddings


@cached_for_all
def read_grid() -> tuple[dict[str, Any], Runs, Runs]:
    """The shipped runs' settings, the runs that laws are fitted to, and the largest model's, which no fit sees."""
    about = json.loads(FILE.read_text(encoding="utf-8"))
    rows = about.pop("runs")
    is_largest = np.array([[row["width"], row["depth"]] == about["largest"] for row in rows])
    names = {"n_parameters": "parameters", "n_embeddings": "embeddings", "d": "tokens", "loss": "loss"}
    columns = {field: np.array([row[name] for row in rows], dtype=float) for field, name in names.items()}
    small, large = (
        Runs(**{field: values[some] for field, values in columns.items()}) for some in (~is_largest, is_largest)
    )
    return about, small, large


@cached_for_all
def fitted(counted: str) -> Fit:
    """L(N, D). Both ways to count N have the same resamples."""
    runs = read_grid()[1]
    return fit_additive(runs.n(counted), runs.d, runs.loss, draws=DRAWS)
