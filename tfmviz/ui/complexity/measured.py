from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz.analysis.complexity import FUSED, MEASURED, Sizes, continued, crosses, slope
from tfmviz.plots.lines import Axes, growth
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, lesson
from tfmviz.ui.background import Found, by_name, measured
from tfmviz.ui.figures import result, show, theme
from tfmviz.words.numbers import decimal, in_bytes, in_seconds, in_words

MODULE = "tfmviz.model.layer_costs"

FAR = 32_768
"""Too long to be measured here: the fitted line is extrapolated to it."""

CLAIMED_BYTES = {
    "self-attention": (2, 0),
    FUSED.name: (1, 1),
    "recurrent": (1, 1),
    "convolution": (1, 1),
    "restricted attention": (1, None),
}
"""The growth of memory with n and with d: two n × n matrices, or vectors for every token."""

COLUMN = {"time": "seconds", "memory": "bytes"}

SAID = {"time": in_seconds, "memory": in_bytes}

Curves = dict[str, tuple[Array, Array]]


def layers() -> None:
    with lesson.control_row("measured"):
        against = inputs.segmented_control("Plot against", ["n", "d"], default="n", key="against")
        what = inputs.segmented_control("Quantity", ["time", "memory"], default="time", key="what", required=True)
    measured(MODULE, lambda found: _draw(found, against, what), words="Measure on this server (about 10 s)")


def _draw(found: Sequence[Found], against: str, what: str) -> None:
    from tfmviz.model.layer_costs import D_FIXED, KERNEL, N_FIXED, NEIGHBOURS

    places = [on for on in ("cpu", "cuda") if any(record["on"] == on for record in found)]
    on = inputs.segmented_control("Device", places, default="cpu", key="on") if len(places) > 1 else "cpu"
    seen = curves(found, against, what, on)
    fixed = f"d = {D_FIXED}" if against == "n" else f"n = {N_FIXED}"
    axis = f"{against}, with {fixed}, k = {KERNEL}, r = {NEIGHBOURS}"
    units = ("multiplications", "seconds") if what == "time" else ("bytes", "bytes")
    on_paper = in_words if what == "time" else in_bytes
    for key, lines, unit, write in (
        ("measured", seen, units[1], SAID[what]),
        ("counted", counted(against, what), units[0], on_paper),
    ):
        if lines:
            show(key, growth(lines, Axes(axis, f"{key}: {unit}", 250), write, theme=theme()))
    if seen:
        result(verdict(seen, against, what))
        st.table(table(seen, against, what))
        st.caption(
            "Time is the fastest of a few runs of one head on one thread; memory is the peak. Exponents are fitted to "
            "the four largest sizes."
        )
    else:
        result("Counted; the button adds the times of this server.")


def counted(against: str, what: str) -> Curves:
    """Multiplications of each kind of layer, or bytes of the numbers it keeps, against n or d."""
    from tfmviz.model.layer_costs import D_FIXED, KERNEL, LENGTHS, N_FIXED, NEIGHBOURS, WIDTHS

    sizes = LENGTHS if against == "n" else WIDTHS
    found = {}
    for kind in MEASURED:
        at = [
            Sizes(n=size if against == "n" else N_FIXED, d=size if against == "d" else D_FIXED, k=KERNEL, r=NEIGHBOURS)
            for size in sizes
        ]
        values = [kind.multiplications(s) if what == "time" else 4 * kind.numbers(s) for s in at]
        found[kind.name] = (np.array(sizes, float), np.array(values, float))
    return found


def curves(found: Sequence[Found], against: str, what: str, on: str) -> Curves:
    some = [record for record in found if record["against"] == against and record["on"] == on]
    points = by_name(some, "name", against, COLUMN[what])
    return {kind.name: points[kind.name] for kind in MEASURED if kind.name in points}  # in the counts' colours


def claimed(name: str, against: str, what: str) -> str:
    axis = "nd".index(against)
    if what == "memory":
        exponent = CLAIMED_BYTES[name][axis]
        return "0 to 1" if exponent is None else str(exponent)
    return str(next(kind for kind in MEASURED if kind.name == name).exponents[axis])


def table(seen: Curves, against: str, what: str) -> dict[str, list[str]]:
    """The columns of a table: exponents on paper and fitted, and the measurements at some sizes."""
    write = SAID[what]
    columns = {
        "layer": list(seen),
        f"grows as {against} to the power": [claimed(name, against, what) for name in seen],
        "measured": [decimal(slope(x, y)) for x, y in seen.values()],
    }
    for size in (512, 4096) if against == "n" else (128, 1024):
        columns[f"at {size:,}"] = [
            write(float(y[x == size][0])) if (x == size).any() else "–" for x, y in seen.values()
        ]
    if against == "n":
        columns[f"extrapolated to {FAR:,}"] = [write(continued(x, y, FAR)) for x, y in seen.values()]
    return columns


def verdict(seen: Curves, against: str, what: str) -> str:
    """The crossings of measured lines and the savings of the fused kernel, in words."""
    parts = []
    plain = seen.get("self-attention")
    for name, faster in (
        ("recurrent", "a recurrent layer"),
        ("convolution", "a convolution"),
        ("restricted attention", "restricted attention"),
    ):
        if plain is None or name not in seen or against != "n":
            continue
        size = min(len(plain[0]), len(seen[name][0]))
        at = crosses(plain[0][:size], plain[1][:size], seen[name][1][:size])
        if at is not None:
            parts.append(f"than {faster} from n ≈ {at:,.0f}")
    words = f"Measured: self-attention takes more {what} {', '.join(parts)}. " if parts else ""
    if plain is not None and FUSED.name in seen:
        size = min(len(plain[1]), len(seen[FUSED.name][1]))
        share = plain[1][size - 1] / seen[FUSED.name][1][size - 1]
        words += (
            f"At {against} = {plain[0][size - 1]:,.0f} the fused kernel needs as many multiplications as plain "
            f"self-attention, but takes {decimal(share, '.1f')} times less {what}: it never stores the pattern."
            if share > 1
            else f"At {against} = {plain[0][size - 1]:,.0f} the fused kernel saves no {what} here."
        )
    return words
