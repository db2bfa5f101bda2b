from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import numpy as np
import streamlit as st

from tfmviz.analysis import normalisation
from tfmviz.analysis.attention_layer import is_pre_norm, read_by
from tfmviz.analysis.contributions import PARTS
from tfmviz.plots import columns, dots
from tfmviz.plots.lines import DASHES, Axes, Stroke, line_chart, named_lines
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.record.weights import Norm, StackWeights
from tfmviz.ui import head_comparison, icons, inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_code, show_columns, theme
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.numbers import counted, decimal, per_cent, tiny

COLUMNS = ("age", "tuition")
AGES, FEES = "18, 19, 45, 22, 30", "5000, 5600, 5010, 9800, 7000"

WHEN = {"pre": "Before", "post": "After", "both": "Before and after", "out": "At the end of"}

SCALES = {
    "as they are": lambda column: column,
    "standardised": normalisation.standardised,
    "min–max": normalisation.min_max,
}

NUMBER = re.compile(r"[+-]?\d{1,12}(\.\d{1,6})?")


def scaling() -> None:
    line = lesson.control_row("scaling")
    with line:
        ages = inputs.text_input("Age, in years", AGES, key="ages", max_chars=200)
        fees = inputs.text_input("Tuition, per year", FEES, key="fees", max_chars=200)
    try:
        raw = table(ages, fees)
    except ValueError as error:
        st.warning(markdown.plain(str(error)), icon=icons.WARNING)
        return
    scale = inputs.segmented_control("Scale", list(SCALES), key="scale", line=line)
    scaled = {name: np.stack([scale_of(column) for column in raw.T], axis=1) for name, scale_of in SCALES.items()}
    shown, names = scaled[scale], [f"student {i + 1}" for i in range(len(raw))]
    numbers = [str(i + 1) for i in range(len(raw))]
    tooltips = [f"{n}: {decimal(x, '.3f')} and {decimal(y, '.3f')}" for n, (x, y) in zip(numbers, shown, strict=True)]
    show(
        "points",
        dots.on_one_scale(
            shown, names=numbers, tooltips=tooltips, link=(0, nearest(shown)[0]), titles=COLUMNS, theme=theme()
        ),
        title="One year counts as much as one unit of money" if shown is scaled["as they are"] else "",
    )
    result(
        f"Who is most like student 1? {_most_alike(shown)} By scale: "
        + "; ".join(f"{name}: {_students(nearest(values))}" for name, values in scaled.items())
        + "."
    )
    show_columns(
        "students",
        {"": names}
        | {part: [f"{value:g}" for value in raw[:, i]] for i, part in enumerate(COLUMNS)}
        | {
            f"{part}, {name}": [decimal(value, ".3f") for value in scaled[name][:, i]]
            for name in ("standardised", "min–max")
            for i, part in enumerate(COLUMNS)
        },
        caption="All values of the example.",
    )
    alike = [name for name, column in zip(COLUMNS, raw.T, strict=True) if not np.ptp(column)]
    undefined = f" Where all have the same {' or '.join(alike)} both are 0/0; the page takes 0." if alike else ""
    st.markdown(f"Standardised: (x − mean) / standard deviation. Min–max: (x − min) / (max − min).{undefined}")


def nearest(points: Array) -> list[int]:
    """The points nearest to the first: one, or all at equal distance."""
    distances = ((points - points[0]) ** 2).sum(axis=-1)[1:]
    return (1 + np.flatnonzero(np.isclose(distances, distances.min(), rtol=1e-9, atol=0))).tolist()


def _students(which: list[int]) -> str:
    *others, last = (str(i + 1) for i in which)
    return f"students {', '.join(others)} and {last}" if others else f"student {last}"


def _most_alike(points: Array) -> str:
    which = nearest(points)
    found = f"Here it is **{_students(which)}**"
    squares = ((points - points[0]) ** 2).sum(axis=0)  # (column,)
    if not squares.any():
        return f"{found}: all have the same age and the same tuition."
    share = per_cent(float(squares[1] / squares.sum()))
    return f"{found}. Tuition accounts for {share} of the squared distances from student 1."


def table(ages: str, fees: str) -> Array:
    """(student, 2) from two lists of numbers with commas.

    Raises:
        ValueError: with a sentence for the reader.
    """
    columns = []
    for text in (ages, fees):
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        if wrong := [entry for entry in entries if not NUMBER.fullmatch(entry)]:
            raise ValueError(f"“{wrong[0][:20]}” is not a number. Separate numbers by commas, as in {AGES}.")
        columns.append([float(entry) for entry in entries])
    if len(columns[0]) != len(columns[1]):
        ages_and_fees = f"{counted(len(columns[0]), 'age')} but {counted(len(columns[1]), 'fee')}"
        raise ValueError(f"You typed {ages_and_fees}. Every student needs both.")
    if len(columns[0]) < 2:
        raise ValueError("One student alone cannot be compared. Write at least two numbers.")
    return np.array(columns).T


def learned(ctx: PageContext) -> None:
    norms = norms_of(ctx.model)
    gains = {name: norm.gain for name, norm in norms.items()}
    biases = {name: norm.bias for name, norm in norms.items() if norm.kind == "layer"}
    left, right = st.columns(2)
    for column, given, letter, usual in ((left, gains, "γ", 1.0), (right, biases, "β", 0.0)):
        if not given:
            column.info("RMSNorm has no β.", icon=icons.INFO)
            continue
        names = list(given)
        quartiles = np.stack([np.quantile(value, [0, 0.25, 0.5, 0.75, 1]) for value in given.values()])
        with column:
            show(
                f"spread_{'gain' if letter == 'γ' else 'bias'}",
                columns.boxes(quartiles, names=names, title=letter, usual=usual, theme=theme()),
            )
    widest = max(gains, key=lambda name: float(np.ptp(gains[name])))
    least, most = gains[widest].min(), gains[widest].max()
    learns = "multiplies by a learned γ, which starts at 1 (dotted)."
    if biases:
        learns = "multiplies by a learned γ and adds β, which start at 1 and 0 (dotted)."
    result(
        f"The norm then {learns} The γ of “{widest}” vary most: **{decimal(least, '.3f')}** to "
        f"**{decimal(most, '.3f')}**."
    )
    layer, x = ctx.choice.layer, normed(ctx)
    norm = ctx.model.weights.stacks[layer.split(".")[0]].norms[layer]
    residue = float(np.abs(norm(x) - ctx.trace[f"{layer}.norm"]).max())
    formula = "(x − μ) / σ · γ + β" if ctx.model.config.norm.kind == "layer" else "x / √(mean x²) · γ"
    st.markdown(
        f"For the attention of layer {ctx.choice.layer_index}, {formula} gives the model's own values to within "
        f"**{tiny(residue)}**."
    )


def norms_of(model: Model) -> dict[str, Norm]:
    """Norms by name, in the order of application, but a layer's before those inside it."""
    found: dict[str, Norm | None] = {}
    for stack, weights in model.weights.stacks.items():
        before = f"{stack} " if len(model.weights.stacks) > 1 else ""
        found[f"{before}embedding"] = weights.embed_norm
        for site, norm in weights.norms.items():
            _, layer, part = site.split(".")
            name = f"{before}{layer} {PARTS[part]}"
            found[name] = norm
            found |= {f"{name}, {step}": inner for step, inner in _inside(weights, site)}
        found[f"{before}last"] = weights.readout.norm
    return {name: norm for name, norm in found.items() if norm is not None and norm.kind != "none"}


def _inside(weights: StackWeights, site: str) -> Iterator[tuple[str, Norm | None]]:
    if (attention := weights.attention.get(site)) is not None:
        yield from (("q", attention.q_norm), ("k", attention.k_norm), ("written", attention.out_norm))
    if (mlp := weights.feed_forward.get(site)) is not None:
        yield "written", mlp.out_norm
    if (mixture := weights.experts.get(site)) is not None:
        yield from ((f"expert {i} written", expert.out_norm) for i, expert in enumerate(mixture.experts))


def normed(ctx: PageContext) -> Array:
    """(len, d_model), float64: the input of the chosen layer's norm."""
    layer, trace = ctx.choice.layer, ctx.trace
    x = read_by(trace, layer).astype(np.float64)
    return x if is_pre_norm(trace) else x + trace[f"{layer}.out"]


def gradients() -> None:
    from tfmviz.model.gradients import config, gradients_at_start

    with lesson.control_row("gradients"):
        n_layers = inputs.slider("Layers", 2, 16, 12, key="untrained_layers")
        seed = inputs.slider("Seed of the random weights", 0, 20, 0, key="weights_seed")
    with st.spinner("Computing the gradients of both models…"):
        post, pre = _gradients(n_layers, seed, "post"), _gradients(n_layers, seed, "pre")
    points = {name: (np.arange(len(y)), np.array(y)) for name, y in (("post-norm (2017)", post), ("pre-norm", pre))}
    strokes = Stroke(theme().text, width=3, dot=80), Stroke(theme().plain, DASHES[2], 3, 80)
    lines = named_lines(points, "{}, layer {:g}: {:.3f}".format, theme=theme(), strokes=strokes)
    axes = Axes("layer, counted from the input", "norm of the gradient of W_out")
    show("gradients", line_chart(lines, axes, theme=theme(), y_range=(0.0, 1.08 * max(*post, *pre, 1e-9))))
    shape = config(n_layers=n_layers, norm_position="pre")
    result(
        f"In the last layer the gradient is **{post[-1] / pre[-1]:.1f} times** as large with post-norm "
        f"({post[-1]:.2f} against {pre[-1]:.2f}); in theory it is about √layers (Xiong et al. 2020)."
    )
    st.markdown(
        "A growing pre-norm stream changes less with each layer; post-norm rescales it each time. Hence the "
        "warm-up (Xiong et al.; Liu et al. 2020 dispute it)."
    )
    st.caption(f"Random weights and tokens: {n_layers} layers, {shape.d_model} wide, {shape.attention.n_heads} heads.")
    show_code(gradients_at_start)


@cached_for_all
def _gradients(n_layers: int, seed: int, norm_position: Literal["pre", "post"]) -> list[float]:
    from tfmviz.model.gradients import gradients_at_start

    return gradients_at_start(n_layers=n_layers, norm_position=norm_position, seed=seed)


def apart(both: HeadComparison) -> None:
    if (at := both.queries.partner(both.query)) is None:
        return
    vectors = [
        (normed(lesson)[position], lesson.trace[f"{lesson.choice.layer}.norm"][position])
        for lesson, position in zip(both.lessons, (both.query, at), strict=True)
    ]
    (a, a_after), (b, b_after) = vectors
    st.markdown(
        f"The norm takes the standard deviation of {markdown.plain(head_comparison.query_name(both))} from "
        f"{decimal(a.std())} to {decimal(a_after.std())} in A, from {decimal(b.std())} to {decimal(b_after.std())} "
        "in B."
    )
    rows = [f"{what} {when}" for when in ("before", "after") for what in ("mean", "standard deviation")]
    columns = {"statistic": rows}
    for title, pair in zip(both.titles, vectors, strict=True):
        columns[title] = [decimal(float(value), ".3f") for x in pair for value in (x.mean(), x.std())]
    show_columns("norms_apart", columns, caption="Before the norm and after")
