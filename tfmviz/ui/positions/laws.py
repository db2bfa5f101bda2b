"""The reader's sinusoids, and laws that hold at every position."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.analysis import sinusoids as laws
from tfmviz.plots.cells import Axis, Frame, amounts, written
from tfmviz.plots.dots import circle
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.positions.tables import between, lines, table
from tfmviz.words import markdown
from tfmviz.words.numbers import tiny

BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

SHOWN = 8
"""Rows and columns of a rotation matrix around those of the chosen pair."""


def shift(waves: Waves, line: DeltaGenerator) -> None:
    """PE(pos + k) as a rotation of PE(pos), built and checked."""
    k = inputs.slider("Shift k", 0, waves.length // 2, min(5, waves.length // 2), key="k", line=line)
    n_pairs = waves.d // 2
    i = 0
    if n_pairs > 1:
        i = inputs.slider("Pair i", 0, n_pairs - 1, n_pairs // 8, key="i", help="Dimensions 2i and 2i + 1.", line=line)
    matrix, name = laws.shift_matrix(waves.wavelengths, k), f"R{str(k).translate(BELOW)}"
    error = laws.shift_error(waves.table, matrix, k)
    start = min(4, waves.length - 1 - k)
    turn = 2 * np.pi * k / waves.wavelengths[i]
    left, right = st.columns(2)
    with left:
        title = f"Pair {i} from position {start} to {start + k}: rotated by {turn:.4g} radians"
        pair = waves.table[:, 2 * i : 2 * i + 2]
        show("circle", circle(pair, start=start, shift=k, theme=theme()), title=title)
    with right:
        _matrix(matrix, i, name)
    result(
        f"**PE(pos + {k}) = {name} PE(pos), with one matrix for every pos** (largest error over all "
        f"{waves.length - k} positions: **{tiny(error)}**), so a head can look a fixed distance back."
    )


def _matrix(matrix: Array, i: int, name: str) -> None:
    first = max(0, min(2 * i - SHOWN // 2 + 2, len(matrix) - SHOWN))
    shown = slice(first, first + SHOWN)
    title = name + (f", rows and columns {first} to {first + SHOWN - 1}" if len(matrix) > SHOWN else "")
    values, names = matrix[shown, shown], [str(n) for n in range(len(matrix))[shown]]
    rows, columns = (Axis(what, names, [f"{what} {n}" for n in names]) for what in ("row", "column"))
    at = 2 * i - first
    frame = Frame(top=at, left=at, bottom=at + 2, right=at + 2)
    picture = table(values, title, limit=1.0, texts=written(values, ".3f"))
    show("rotation", replace(picture, rows=rows, columns=columns, frames=(frame,)))


def near_and_far(waves: Waves, _line: DeltaGenerator) -> None:
    left, right = st.columns(2)
    line = lesson.control_row("near_and_far")
    asked = [
        int(inputs.number_box(label, key=key, line=line, value=min(first, waves.length - 1)))
        for label, first, key in (("Is", 4, "at_p"), ("closer to", 7, "near"), ("or to", 17, "far"))
    ]
    if outside := [p for p in asked if not 0 <= p < waves.length]:
        st.warning(f"There is no position {outside[0]}. Choose 0 to {waves.length - 1}.", icon=icons.WARNING)
        return
    p, *others = asked
    names = {"product": f"PE({p}) · PE(q)", "distance": f"‖PE({p}) − PE(q)‖"}
    measure = inputs.segmented_control(
        "Measure", list(names), default="product", key="measure", label_visibility="collapsed", line=line
    )
    dot, distance = laws.products(waves.table), laws.distances(waves.table)
    with left:
        name, values = names[measure or "product"], (distance if measure == "distance" else dot)
        marked = [(q, str(q)) for q in sorted({p, *others})]
        low, high = float(values[p].min()), float(values[p].max())
        y_range = low - 0.05 * (high - low), high + 0.15 * (high - low)  # the marks' names stand above the curve
        show("near_and_far", lines({name: values[p]}, name, x="position q", marked=marked, y_range=y_range))
    with right:
        title = name.replace(str(p), "p")
        picture = between(values, title, limit=float(np.abs(values).max()))
        show("products", picture if values.min() < 0 else replace(picture, scale=amounts(values, title)))
    a, b = sorted(others, key=lambda q: distance[p, q])
    closer = "as close to" if np.isclose(distance[p, a], distance[p, b]) else "closer to"
    result(
        f"**Position {p} is {closer} {a} {'as to' if closer != 'closer to' else 'than to'} {b}:** product "
        f"{dot[p, a]:.2f} and {dot[p, b]:.2f}, distance {distance[p, a]:.2f} and {distance[p, b]:.2f}. Only |p − q| "
        "matters."
    )


LARGEST = 512
"""The most positions and dimensions that are drawn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waves:
    d: int
    length: int
    base: float

    @property
    @cached_for_all
    def table(self) -> Array:
        """(length, d), as a model would add it."""
        from tfmviz.positions.sinusoidal import sinusoids

        return sinusoids(self.length, self.d, base=self.base).numpy()

    @property
    @cached_for_all
    def wavelengths(self) -> Array:
        """(d / 2,). Raises: ValueError, if there are none."""
        from tfmviz.positions.sinusoidal import wavelengths

        return wavelengths(self.d, base=self.base).numpy()


BASES = (1, 2, 10, 100, 1_000, 10_000, 100_000, 500_000, 1_000_000)


def base_box() -> float:
    return float(inputs.select_slider("Base", BASES, 10_000, key="base"))


def settings() -> Waves | None:
    """Draws the choice of size and base; a note and None if they make no table."""
    d = inputs.number_box("d", key="width", value=512, step=2, help="Dimensions per position.")
    length = inputs.number_box("Positions", key="places", value=50)
    base = base_box()
    if not 2 <= length <= LARGEST:
        problem = f"Choose 2 to {LARGEST} positions; {length:,} cannot be drawn here."
    elif d > LARGEST:
        problem = f"Choose at most {LARGEST} dimensions; {d:,} cannot be drawn here."
    else:
        waves = Waves(d=int(d), length=int(length), base=base)
        try:
            assert len(waves.wavelengths)  # raises where there are none
            return waves
        except ValueError as error:
            problem = markdown.plain(str(error))
    st.warning(problem, icon=icons.WARNING)
    return None
