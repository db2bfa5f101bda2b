"""Colours with fixed meanings, from `tfmviz/colours.json`, light and dark, and letters large enough for a projector."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfmviz.constants import LETTER_SIZE

_TABLE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "colours.json").read_text(encoding="utf-8"))

SANS = '"Source Sans", "Source Sans Pro", "Helvetica Neue", sans-serif'

N_HEADS = 4
"""Heads that are drawn together, in different colours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """Colours of one mode; one quantity has one colour. Shares of attention in cells are cividis, in both modes.

    Attributes:
        ground: of the page.
        soft: of controls and boxes on it.
        text: of letters and axes; of A, and of the first of two series that are no parts of a model.
        faint: of notes, and of numbers below 0 where a tone has no second colour.
        plain: of B and the second of two series, and of marks whose quantity has no colour.
        grid: of lines behind charts.
        border: around what views draw.
        accent: of whatever the reader has chosen, and of nothing else.
        masked: of cells that a mask forbids: neutral, in the dark no brighter than a share of 0, apart from `signed` 0.
        hatch: of the lines across masked cells that are large enough for them.
        attention: of attention layers' writes; of lines of attention, and of queries.
        mlp: of feed-forward layers' writes.
        probability: of a word.
        key: of keys, and of a token that is looked at.
        value: of the vectors that are averaged.
        vector: of other vectors.
        norm: of normalisation.
        position: of positional terms.
        norms: colour scale of lengths, from faint to strong.
        signed: colour scale of values about 0, such as scores: purple below, near the ground at 0, orange above.
        letters: pixels of the smallest letters; more on a projector.
    """

    ground: str
    soft: str
    text: str
    faint: str
    plain: str
    grid: str
    border: str
    accent: str
    masked: str
    hatch: str
    attention: str
    mlp: str
    probability: str
    key: str
    value: str
    vector: str
    norm: str
    position: str
    norms: tuple[str, str, str]
    signed: tuple[str, str, str]
    letters: int = LETTER_SIZE

    @property
    def kinds(self) -> dict[str, str]:
        parts = {"embedding": self.vector, "position": self.position, "head": self.attention}
        return parts | {"bias": self.plain, "MLP": self.mlp, "norm": self.norm}


def _theme(mode: str) -> Theme:
    colours: dict[str, Any] = _TABLE[mode]
    scales: dict[str, Any] = {name: tuple(colours[name]) for name in ("norms", "signed")}
    return Theme(**colours | scales)


LIGHT, DARK = _theme("light"), _theme("dark")


def variables(theme: Theme) -> dict[str, str]:
    """The colours that views take from the page, as properties of CSS: `--q` and so on."""
    below, zero, above = theme.signed
    little, middling, much = theme.norms
    vectors = {"q": theme.attention, "k": theme.key, "v": theme.value, "x": theme.vector, "score": above}
    parts = {"mlp": theme.mlp, "norm": theme.norm, "position": theme.position}
    scales = {"below": below, "zero": zero, "above": above, "little": little, "middling": middling, "much": much}
    looks = {"looks": theme.attention, "looked": theme.key, "masked": theme.masked, "hatch": theme.hatch}
    heads = {f"head-{n}": colour for n, colour in enumerate(shades(N_HEADS, theme))}
    others = {"probability": theme.probability, "plain": theme.plain, "grid": theme.border, "faint": theme.faint}
    return vectors | parts | scales | looks | heads | others


def streamlit(theme: Theme) -> dict[str, str]:
    """Streamlit's own colours, by its CSS names."""
    names = {"background-color": theme.ground, "secondary-background-color": theme.soft}
    names |= {"text-color": theme.text, "primary-color": theme.accent}
    return {f"--st-{name}": colour for name, colour in names.items()}


def shades(n: int, theme: Theme) -> list[str]:
    """`n` colours from dark to bright (on a dark ground from bright to dark) for an order: those of viridis that differ
    from the ground by 3 : 1 at least.
    """
    low, high = (0.0, 0.58) if theme.ground == LIGHT.ground else (1.0, 0.45)
    known = np.array([channels(colour) for colour in _TABLE["viridis"]])
    at = np.linspace(low, high, max(n, 1)) * (len(known) - 1)
    mixed = np.stack([np.interp(at, np.arange(len(known)), channel) for channel in known.T], axis=-1)
    return ["#" + "".join(f"{round(value):02x}" for value in colour) for colour in mixed]


def channels(colour: str) -> list[int]:
    """0 to 255, of "#rrggbb"."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def luminance(colour: str) -> float:
    """Relative luminance of "#rrggbb", 0 to 1 (WCAG 2)."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in np.array(channels(colour)) / 255]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def ink_on(fill: str) -> str:
    """Black or white, whichever is readable on a colour: the contrast is 4.58 at least."""
    return "black" if luminance(fill) > 0.179 else "white"


ABOVE = {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleBaseline": "bottom"} | {
    "titleX": -40,
    "titleY": -10,
}
"""An upright axis has its title above it, where nobody has to tilt their head."""


def chart_config(theme: Theme) -> dict[str, Any]:
    words = {"labelColor": theme.text, "titleColor": theme.text, "labelFontSize": theme.letters}
    words["titleFontSize"] = theme.letters + 1
    calm = {"titleFontWeight": "normal", "labelLimit": 260, "titleLimit": 420}
    lines = {"domainColor": theme.grid, "tickColor": theme.grid, "gridColor": theme.grid}
    return {
        "font": SANS,
        "background": "transparent",
        "view": {"stroke": None},
        "axis": words | calm | lines | {"labelFlush": False, "titlePadding": 8},
        "axisX": {"grid": False},
        "axisY": {"tickCount": 5} | ABOVE,
        "legend": words
        | calm
        | {"orient": "top", "offset": theme.letters + 14, "symbolSize": 160, "symbolStrokeWidth": 3},
        "text": {"color": theme.text, "fontSize": theme.letters},
        "bar": {"color": theme.plain},
        "rule": {"strokeWidth": 2},
    }
