"""How all figures look: colours with fixed meanings, light and dark, and letters large enough for a projector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmviz.constants import LETTER_SIZE

SANS = '"Source Sans", "Source Sans Pro", "Helvetica Neue", sans-serif'


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """Colours of one mode. Fixed meanings: cividis is a share of attention, grey is masked.

    Attributes:
        text: of letters and axes.
        masked: of cells that a mask forbids: neutral, never the colour of 0.
        attention: of what attention layers write.
        mlp: of what feed-forward layers write.
        norms: colour scale of lengths, from faint on the ground to strong.
        signed: colour scale of values about 0: purple below, the ground at 0, orange above; as scores are coloured.
        accent: of whatever the reader has chosen.
        key: of keys, as `attention` is of queries.
        value: of the vectors that are averaged.
        vector: of other vectors, and of attention to another text.
        norm: of normalisation.
        position: of what positions add.
        looked: of a key that is looked at.
        border: around what views draw.
        faint: of notes, and of numbers below 0 where a tone has no second colour.
        letters: pixels of the smallest letters; more on a projector.
    """

    text: str
    masked: str
    grid: str
    attention: str
    mlp: str
    norms: tuple[tuple[float, str], ...]
    signed: tuple[tuple[float, str], ...]
    accent: str
    key: str
    value: str
    vector: str
    norm: str
    position: str
    looked: str
    border: str
    faint: str
    letters: int = LETTER_SIZE


LIGHT = Theme(
    text="#1f2430",
    masked="#d9dbe0",
    grid="#e3e5ea",
    attention="#1f6fb4",
    mlp="#b3620b",
    norms=((0.0, "#ffffff"), (0.5, "#9e8ac8"), (1.0, "#3f007d")),
    signed=((0.0, "#6a3d9a"), (0.5, "#ffffff"), (1.0, "#c2650a")),
    accent="#b01450",
    key="#c8323f",
    value="#1d7f4b",
    vector="#0f7f86",
    norm="#6b7280",
    position="#8a6d00",
    looked="#c2410c",
    border="#c4c8d0",
    faint="#4d5463",
)

DARK = Theme(
    text="#f0f2f6",
    masked="#4a4a4a",
    grid="#3a3f4b",
    attention="#6bb3f0",
    mlp="#f0a94f",
    norms=((0.0, "#14171f"), (0.5, "#7a5fb0"), (1.0, "#efe6ff")),
    signed=((0.0, "#b794f4"), (0.5, "#14171f"), (1.0, "#ffb057")),
    accent="#ff6fae",
    key="#ff7b85",
    value="#5cc79a",
    vector="#4fc4cc",
    norm="#a3abb8",
    position="#d9b93b",
    looked="#ff9e6b",
    border="#565c68",
    faint="#b4bac6",
)


def variables(theme: Theme) -> dict[str, str]:
    """The colours that views take from the page, as properties of CSS: `--q` and so on."""
    below, zero, above = (colour for _, colour in theme.signed)
    little, middling, much = (colour for _, colour in theme.norms)
    vectors = {"q": theme.attention, "k": theme.key, "v": theme.value, "x": theme.vector, "score": above}
    parts = {"mlp": theme.mlp, "norm": theme.norm, "position": theme.position}
    scales = {"below": below, "zero": zero, "above": above, "little": little, "middling": middling, "much": much}
    looks = {"looks": theme.attention, "looked": theme.looked, "masked": theme.masked}
    return vectors | parts | scales | looks | {"grid": theme.border, "faint": theme.faint}


VIRIDIS = ("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725")


def shades(n: int, theme: Theme) -> list[str]:
    """`n` colours from dark to bright (on a dark ground from bright to dark), all of them readable on the ground."""
    low, high = (0.05, 0.82) if theme.text == LIGHT.text else (1.0, 0.32)
    known = np.array([[int(colour[i : i + 2], 16) for i in (0, 2, 4)] for colour in VIRIDIS])
    at = np.linspace(low, high, max(n, 1)) * (len(VIRIDIS) - 1)
    channels = np.stack([np.interp(at, np.arange(len(VIRIDIS)), channel) for channel in known.T], axis=-1)
    return ["#" + "".join(f"{round(value):02x}" for value in colour) for colour in channels]


ABOVE = {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleBaseline": "bottom"} | {
    "titleX": -40,
    "titleY": -10,
}
"""An upright axis has its title above it, where it is read without turning the head."""


def chart_config(theme: Theme) -> dict[str, Any]:
    """The same look for charts in Vega-Lite: its `config`."""
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
        "legend": words | calm | {"orient": "top", "offset": 26, "symbolSize": 160, "symbolStrokeWidth": 3},
        "text": {"color": theme.text, "fontSize": theme.letters},
        "bar": {"color": theme.attention},
        "rule": {"strokeWidth": 2},
    }
