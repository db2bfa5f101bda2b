"""The page on positions: sinusoids, from one curve to what they do to the words of a real model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.analysis import sinusoids as laws
from tfmviz.plots import paths
from tfmviz.plots.cells import written
from tfmviz.plots.lines import Axes, Line, Stroke, line_chart
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show, show_code, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.positions.laws import Waves, base_box, near_and_far, settings, shift
from tfmviz.ui.positions.on_words import on_words
from tfmviz.ui.positions.tables import lines, table
from tfmviz.ui.tabs import Tab, parts
from tfmviz.words import markdown


def sinusoids_in_parts(here: Lesson) -> None:
    """The parts of this tab; only the open one is computed."""
    parts(
        "wave",
        here,
        Tab("Curves", of_waves(curves), "Each pair of dimensions turns like a clock hand."),
        Tab("By hand", by_hand),
        Tab("Why many waves", of_waves(repeats)),
        Tab("Heat map", of_waves(heat_map)),
        Tab("A shift is a rotation", of_waves(shift)),
        Tab("Near and far", of_waves(near_and_far)),
        Tab("On real words", on_words, needs=("text",)),
        needs=(),
    )


def of_waves(part: Callable[[Waves, DeltaGenerator], None]) -> Callable[[Lesson], None]:
    """A part of this tab: the settings that all parts share, in one line with its own, and what it draws."""

    def draw(_: Lesson) -> None:
        line = lesson.line("waves")
        with line:
            waves = settings()
        if waves is not None:
            part(waves, line)

    return draw


def curves(waves: Waves, _line: DeltaGenerator) -> None:
    """Chosen dimensions over position, with frequency and wavelength."""
    figure, line = st.container(), lesson.line("dimensions")
    at = [
        inputs.slider(f"Position {key[-1]}", 0, waves.length - 1, min(first, waves.length - 1), key=key, line=line)
        for key, first in (("at_a", 3), ("at_b", 20))
    ]
    chosen = inputs.multiselect(
        "Dimensions",
        range(waves.d),
        default=sorted({0, 1, *(part * waves.d // 16 // 2 * 2 for part in (1, 2, 4, 8))} & set(range(waves.d))),
        key=f"dims{waves.d}",
        max_selections=10,
        line=line,
    )
    if chosen:
        with figure:
            _chosen_curves(waves, sorted({j // 2 for j in chosen}), at)
        _frequencies(waves, sorted(chosen))
    else:
        figure.info("Choose at least one dimension.", icon=icons.INFO)
    _wavelengths(waves)


def _chosen_curves(waves: Waves, pairs: list[int], at: list[int]) -> None:
    angle = rf"\left(pos / {waves.base:.0f}^{{2i/{waves.d}}}\right)"
    for column, formula in zip(st.columns(2), (rf"2i) = \sin{angle}", rf"2i + 1) = \cos{angle}"), strict=True):
        column.latex(f"PE(pos, {formula}")
    show(
        "curves",
        paths.waves(waves.table, pairs, waves.wavelengths, at=at, theme=theme()),
        hint="Sines are solid, cosines dashed. The cursors and the clock hands are positions a and b.",
    )


def _wavelengths(waves: Waves) -> None:
    lengths = waves.wavelengths
    show("wavelengths", lines({"wavelength": lengths}, "wavelength", x="pair i", log=True))
    n_turns = int((lengths <= waves.length).sum())
    result(
        f"Wavelengths grow from 2π to **{lengths[-1]:,.0f}**. Within {waves.length} positions {n_turns} of "
        f"{len(lengths)} pairs complete a turn."
    )


def _frequencies(waves: Waves, chosen: list[int]) -> None:
    lengths = waves.wavelengths[[j // 2 for j in chosen]]
    st.table(
        {
            "dimension": chosen,
            "term": [f"{'cos' if j % 2 else 'sin'}(pos / {waves.base:,.0f}^({j - j % 2}/{waves.d}))" for j in chosen],
            "frequency": [f"{2 * np.pi / length:.4g}" for length in lengths],
            "wavelength, positions": [f"{length:,.4g}" for length in lengths],
        }
    )


AS_PRINTED = ("as in the paper", "i from 1", "without the power")
"""Formulas of the angle; some slides print the second or the third."""


def by_hand(_: Lesson) -> None:
    """Four dimensions, number by number, with the angle as the paper and as some slides print it."""
    import torch

    from tfmviz.positions.sinusoidal import sinusoids_at
    from tfmviz.positions.sinusoidal import waves as waves_at

    with lesson.line("waves"):
        printed = inputs.segmented_control("Formula", AS_PRINTED, key="as_printed", required=True)
        position = int(inputs.number_box("Position", key="by_hand", value=3))
        base = base_box()
    try:
        sinusoids_at(torch.tensor([position]), 4, base=base)
    except ValueError as error:
        st.warning(markdown.plain(str(error)), icon=icons.WARNING)
        return
    divisors = [_divisor(i, base, printed) for i in (0, 1)]
    said = []
    for j in range(4):
        name, (divisor, formula) = "cos" if j % 2 else "sin", divisors[j // 2]
        value = _value(position, j, divisor)
        ends = f"{name}({position / divisor:.6g}) = {value:.5f}" if divisor else "undefined: division by 0"
        said.append(f"PE({position}, {j}) = {name}({position} / {formula}) = {ends}")
    st.code("\n".join(said), language=None, wrap_lines=True)
    values = np.array([[_value(row, j, divisors[j // 2][0]) for j in range(4)] for row in range(4)])
    show("worked", table(values, "PE(position, dimension), d = 4", limit=1.0, texts=written(values, ".3f")))
    show_code(waves_at)


def _divisor(i: int, base: float, printed: str) -> tuple[float, str]:
    """What a position is divided by in pair i of 4 dimensions, and how it is written."""
    i += printed == AS_PRINTED[1]
    if printed == AS_PRINTED[2]:
        return base * 2 * i / 4, f"({base:g} · {2 * i}/4)"
    return base ** (2 * i / 4), f"{base:g}^({2 * i}/4)"


def _value(position: int, j: int, divisor: float) -> float:
    return float((np.cos if j % 2 else np.sin)(position / divisor)) if divisor else np.nan


def repeats(waves: Waves, line: DeltaGenerator) -> None:
    """One wave repeats itself; many of different length do not."""
    wavelength = inputs.slider("Single wavelength", 2, 24, 6, key="wave_length", line=line)
    length = waves.length
    single = np.stack([laws.wave(np.arange(length), wavelength, quarter=part) for part in (0, 1)], axis=1)
    many = waves.table[:length]
    left, right = st.columns(2)
    with left:
        _single_wave(wavelength)
    away = [laws.far_from_first(table) for table in (single, many)]
    with right:
        show("far_from_first", lines({"one wave": away[0], f"all {waves.d} dimensions": away[1]}, "distance from P0"))
    result(
        f"P0 = P{wavelength}. With many waves, none of {length} positions comes closer to P0 than "
        f"**{away[1][1:].min():.2f}**."
    )


def _single_wave(wavelength: int) -> None:
    """Three turns of one sine and its cosine, with the positions at which both repeat themselves."""
    x, at = np.linspace(0, 3 * wavelength, 30 * wavelength + 1), np.arange(3 * wavelength + 1)
    parts = []
    for part, (name, colour) in enumerate((("sin", theme().text), ("cos", theme().plain))):
        said, y, curve = f"{name}(2π pos / {wavelength})", *(laws.wave(n, wavelength, quarter=part) for n in (at, x))
        parts.append(Line(said, at, y, Stroke(colour, dot=40), f"{said} at {{:g}}: {{:.4g}}".format, (x, curve)))
    axes, marked = Axes("position", "one wave"), [(p, f"P{p}") for p in at[::wavelength].tolist()]
    show("one_wave", line_chart(parts, axes, theme=theme(), y_range=(-1.15, 1.15), marked=marked))


def heat_map(waves: Waves, _line: DeltaGenerator) -> None:
    layouts = {"sine, cosine, sine, cosine …": "paper", "all sines | all cosines": "halves"}
    figure = st.container()
    stored = inputs.segmented_control(
        "Stored as", list(layouts), default=next(iter(layouts)), key="stored", line=lesson.line("stored")
    )
    halves = layouts.get(stored or "") == "halves"
    order = _sines_first(waves)
    values = waves.table[:, order] if halves else waves.table
    with figure:
        title = f"PE(position, dimension), {waves.length} positions, {waves.d} dimensions"
        show("heat_map", table(values, title, limit=1.0))
    first = ", ".join(map(str, order[:4])) + (", …" if waves.d > 4 else "")
    st.markdown(f"The paper alternates sines and cosines; Marian stores all sines first ({first}).")


@shared
def _sines_first(waves: Waves) -> Array:
    from tfmviz.positions.sinusoidal import sines_first

    return sines_first(waves.d).numpy()
