from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.analysis import sinusoids as laws
from tfmviz.analysis.sinusoids import cosines
from tfmviz.plots import paths
from tfmviz.plots.cells import of_tokens, written
from tfmviz.plots.lines import Axes, Line, Stroke, line_chart
from tfmviz.ui import controls, icons, inputs, lesson, models
from tfmviz.ui.figures import result, show, show_code, show_pairs, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.positions.laws import Waves, base_box, near_and_far, settings, shift
from tfmviz.ui.positions.order_blind import SIGHTED
from tfmviz.ui.positions.tables import between, lines, table
from tfmviz.ui.tabs import Tab, parts
from tfmviz.words import markdown
from tfmviz.words.labels import visible


def sinusoids_in_parts(ctx: PageContext) -> None:
    parts(
        "wave",
        ctx,
        Tab("Curves", of_waves(curves), "Each pair of dimensions turns like a clock hand."),
        Tab("By hand", by_hand),
        Tab("Why many waves", of_waves(repeats)),
        Tab("Heat map", of_waves(heat_map)),
        Tab("A shift is a rotation", of_waves(shift)),
        Tab("Near and far", of_waves(near_and_far)),
        Tab("On real words", on_words, inputs=("text",)),
        inputs=(),
    )


def of_waves(part: Callable[[Waves, DeltaGenerator], None]) -> Callable[[PageContext], None]:
    """A part of this tab, with the settings that all parts share in one line with its own."""

    def draw(_: PageContext) -> None:
        line = lesson.control_row("waves")
        with line:
            waves = settings()
        if waves is not None:
            part(waves, line)

    return draw


def curves(waves: Waves, _line: DeltaGenerator) -> None:
    figure, line = st.container(), lesson.control_row("dimensions")
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
    lengths, chosen = waves.wavelengths, sorted(chosen)
    if chosen:
        angle = rf"\left(pos / {waves.base:.0f}^{{2i/{waves.d}}}\right)"
        with figure:
            for column, formula in zip(st.columns(2), (rf"2i) = \sin{angle}", rf"2i + 1) = \cos{angle}"), strict=True):
                column.latex(f"PE(pos, {formula}")
            show(
                "curves",
                paths.waves(waves.table, sorted({j // 2 for j in chosen}), lengths, at=at, theme=theme()),
                hint="Sines are solid, cosines dashed. The cursors and the clock hands are positions a and b.",
            )
        terms = [f"{'cos' if j % 2 else 'sin'}(pos / {waves.base:,.0f}^({j - j % 2}/{waves.d}))" for j in chosen]
        st.table(
            {
                "dimension": chosen,
                "term": terms,
                "frequency": [f"{2 * np.pi / length:.4g}" for length in lengths[np.array(chosen) // 2]],
                "wavelength, positions": [f"{length:,.4g}" for length in lengths[np.array(chosen) // 2]],
            }
        )
    else:
        figure.info("Choose at least one dimension.", icon=icons.INFO)
    show("wavelengths", lines({"wavelength": lengths}, "wavelength", x="pair i", log=True))
    n_turns = int((lengths <= waves.length).sum())
    result(
        f"Wavelengths grow from 2π to **{lengths[-1]:,.0f}**. Within {waves.length} positions {n_turns} of "
        f"{len(lengths)} pairs complete a turn."
    )


AS_PRINTED = ("as in the paper", "i from 1", "without the power")
"""Formulas of the angle; some slides print the second or the third."""


def by_hand(_: PageContext) -> None:
    """Four dimensions, number by number, with the angle as in the paper and on some slides."""
    import torch

    from tfmviz.positions.sinusoidal import sinusoids_at
    from tfmviz.positions.sinusoidal import waves as waves_at

    with lesson.control_row("waves"):
        printed = inputs.segmented_control("Formula", AS_PRINTED, key="as_printed", required=True)
        position = int(inputs.number_box("Position", key="by_hand", value=3))
        base = base_box()
    try:
        sinusoids_at(torch.tensor([position]), 4, base=base)
    except ValueError as error:
        st.warning(markdown.plain(str(error)), icon=icons.WARNING)
        return
    divisors = [_divisor(i, base, printed) for i in (0, 1)]

    def value(row: int, j: int) -> float:
        divisor, _ = divisors[j // 2]
        return float((np.cos if j % 2 else np.sin)(row / divisor)) if divisor else np.nan

    sentences = []
    for j in range(4):
        name, (divisor, formula) = "cos" if j % 2 else "sin", divisors[j // 2]
        ends = "undefined: division by 0"
        if divisor:
            ends = f"{name}({position / divisor:.6g}) = {value(position, j):.5f}"
        sentences.append(f"PE({position}, {j}) = {name}({position} / {formula}) = {ends}")
    st.code("\n".join(sentences), language=None, wrap_lines=True)
    values = np.array([[value(row, j) for j in range(4)] for row in range(4)])
    show("worked", table(values, "PE(position, dimension), d = 4", limit=1.0, texts=written(values, ".3f")))
    show_code(waves_at)


def _divisor(i: int, base: float, printed: str) -> tuple[float, str]:
    i += printed == AS_PRINTED[1]
    if printed == AS_PRINTED[2]:
        return base * 2 * i / 4, f"({base:g} · {2 * i}/4)"
    return base ** (2 * i / 4), f"{base:g}^({2 * i}/4)"


def repeats(waves: Waves, line: DeltaGenerator) -> None:
    """One wave repeats itself; many of different length do not."""
    wavelength = inputs.slider("Single wavelength", 2, 24, 6, key="wave_length", line=line)
    length = waves.length
    single = np.stack([laws.wave(np.arange(length), wavelength, quarter=part) for part in (0, 1)], axis=1)
    many = waves.table[:length]
    left, right = st.columns(2)
    with left:  # three turns, with the positions at which both repeat themselves
        x, at = np.linspace(0, 3 * wavelength, 30 * wavelength + 1), np.arange(3 * wavelength + 1)
        parts = []
        for part, (name, colour) in enumerate((("sin", theme().text), ("cos", theme().plain))):
            y, curve = (laws.wave(n, wavelength, quarter=part) for n in (at, x))
            sentence, stroke = f"{name}(2π pos / {wavelength})", Stroke(colour, dot=40)
            parts.append(Line(sentence, at, y, stroke, f"{sentence} at {{:g}}: {{:.4g}}".format, (x, curve)))
        axes, marked = Axes("position", "one wave"), [(p, f"P{p}") for p in at[::wavelength].tolist()]
        show("one_wave", line_chart(parts, axes, theme=theme(), y_range=(-1.15, 1.15), marked=marked))
    away = [laws.far_from_first(table) for table in (single, many)]
    with right:
        show("far_from_first", lines({"one wave": away[0], f"all {waves.d} dimensions": away[1]}, "distance from P0"))
    result(
        f"With one wave P0 = P{wavelength}; with many, none of {length} positions comes closer to P0 than "
        f"**{away[1][1:].min():.2f}**."
    )


def heat_map(waves: Waves, _line: DeltaGenerator) -> None:
    from tfmviz.positions.sinusoidal import sines_first

    layouts = {"sine, cosine, sine, cosine …": "paper", "all sines | all cosines": "halves"}
    figure = st.container()
    stored = inputs.segmented_control(
        "Stored as", list(layouts), default=next(iter(layouts)), key="stored", line=lesson.control_row("stored")
    )
    halves = layouts.get(stored or "") == "halves"
    order = sines_first(waves.d).numpy()
    values = waves.table[:, order] if halves else waves.table
    with figure:
        title = f"PE(position, dimension), {waves.length} positions, {waves.d} dimensions"
        show("heat_map", table(values, title, limit=1.0))
    first = ", ".join(map(str, order[:4])) + (", …" if waves.d > 4 else "")
    st.markdown(f"The paper alternates sines and cosines; Marian stores all sines first ({first}).")


def on_words(ctx: PageContext) -> None:
    model = models.needed(SIGHTED)
    if model is None:
        return
    trace = models.trace_at(model, ctx.text, "embed", "decoder.pos_embed")
    controls.say_what_was_cut(trace.target, f"{markdown.code(SIGHTED)} reads")
    words, added = trace["embed"], trace["decoder.pos_embed"]
    scale = float(np.sqrt(model.config.d_model))
    label = f"× √d_model = {scale:.2f}, as in the model"
    line = lesson.control_row("scaled")
    scaled = inputs.toggle(label, value=True, key="scaled", line=line)
    joined = inputs.toggle("Concatenate, do not add", key="joined", line=line)
    words = words if scaled else words / scale
    of_words, of_positions = (np.linalg.norm(vectors, axis=-1) for vectors in (words, added))
    show_pairs(
        "added_lengths",
        trace.tokens,
        of_words,
        of_positions,
        series=("word", "position"),
        title="norm",
        token_title="token",
    )
    before = np.pad(words, ((0, 0), (0, words.shape[1]))) if joined else words
    after = np.concatenate([words, added], axis=1) if joined else words + added
    kept = [cosines(np.stack(both))[0, 1] for both in zip(before, after, strict=True)]
    drowned = of_positions.mean() > of_words.mean()
    result(
        f"Position vectors have norm {of_positions.mean():.2f}, words {of_words.mean():.2f}; the cosine between "
        f"{'both together' if joined else 'sum'} and word is **{np.mean(kept):.2f}** on average. "
        + ("Without √d_model the position drowns out the word." if not scaled and drowned else "")
    )
    how, found = "concatenating" if joined else "adding", (cosines(before), cosines(after))
    for column, when, values in zip(st.columns(2), ("before", "after"), found, strict=True):
        with column:
            picture = between(values, f"cosine, {when} {how}", of_tokens("token", trace.tokens))
            show(f"cosines_{when}", picture, follows=when == "after")
    ids = trace.target.ids
    twice = next(((ids.index(t), n) for n, t in enumerate(ids) if ids.index(t) < n), None)
    if twice is None:
        st.markdown("Type a token twice to see its two vectors.")
    else:
        word = markdown.plain(visible(trace.tokens[twice[0]]))
        st.markdown(
            f"“{word}” at {twice[0]} and {twice[1]}: one vector before (cosine {found[0][twice]:.2f}), two "
            f"after (**{found[1][twice]:.2f}**)."
        )
    st.markdown(
        "⚠ Some slides add p to q, k and v. The paper adds it to x: $q = x W_Q + p W_Q$, so each head can ignore p."
    )
