"""Upright bars: for every token, layer, bin or norm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import (
    FEW,
    Chart,
    Columns,
    Spec,
    colour,
    hover,
    name,
    number,
    numbered,
    of_rows,
    role,
    rows,
    rule,
    slanted,
    specification,
    words,
)
from tfmviz.plots.theme import Theme, ink_on, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted, visible, whole
from tfmviz.words.numbers import decimal


def looks(attention: Array, effect: Array, *, tokens: Sequence[str], title: str, theme: Theme) -> tuple[Chart, Chart]:
    """Two charts of the same keys: a head's attention, and its effect on a score from each key.

    Args:
        attention: (k_len,), shares in [0, 1].
        effect: (k_len,), signed.
    """
    names = quoted(tokens)
    looked = [f"looked at {name}: {share:.1%}" for name, share in zip(names, attention, strict=True)]
    wrote = [f"added from {name}: {decimal(e, '+.3f')}" for name, e in zip(names, effect, strict=True)]
    keys = numbered([visible(token) for token in tokens])
    signs = ["below" if value < 0 else "above" for value in effect]
    above: Columns = {"token": keys, "value": attention, "role": ["looked"] * len(keys), "hover": looked}
    below: Columns = {"token": keys, "value": effect, "role": signs, "hover": wrote}
    return Chart(spec=_looked(theme), data={"rows": above}), Chart(spec=_wrote(theme, title), data={"rows": below})


ALIKE = {"minExtent": 60, "maxExtent": 60}
"""Makes the labels of two upright axes equally wide, so that their keys stand one above the other."""


@cache
def _looked(theme: Theme) -> Spec:
    x = name(alt.X, "token", axis={"labels": False, "title": None})
    y = number(alt.Y, "value", "attention", axis=ALIKE | {"format": "~%"}, domain=[0, 1])
    bars = rows().mark_bar().encode(x=x, y=y, color=role("role", {"looked": theme.attention}), **hover())
    return specification(theme, bars, height=170, says="A bar for every key: the share of attention.")


@cache
def _wrote(theme: Theme, title: str) -> Spec:
    y = number(alt.Y, "value", title, axis=ALIKE, zero=True)
    colours = role("role", {"below": theme.signed[0], "above": theme.signed[-1]})
    bars = rows().mark_bar().encode(x=slanted("token", "key"), y=y, color=colours, **hover())
    return specification(theme, bars, rule(theme, y=0), height=290, says=f"A bar for every key: {title}.")


def writes(attention: Array, mlp: Array, attention_share: Array, *, theme: Theme) -> Chart:
    """Norms of the attention's and the feed-forward layer's writes into one token's vector, (n_layers,).

    Args:
        attention_share: (n_layers,), attention's share of the layer's whole step.
    """
    bars = []
    for kind, norms, shares in (("attention", attention, attention_share), ("MLP", mlp, 1 - attention_share)):
        for i, (norm, share) in enumerate(zip(norms, shares, strict=True)):
            word = "" if np.isnan(share) else f"{share:.0%}"
            tooltips = f"layer {i}, {kind}: norm {norm:.2f}" + (f", {word} of the step" if word else "")
            series, shown = ("0000 attention", word) if kind == "attention" else ("0001 MLP", "")
            bars.append((f"{i:04d} {i}", series, norm, max(attention[i], mlp[i]), shown, tooltips))
    return Chart(spec=_writes(theme), data={"rows": of_rows(bars, "layer", "series", "value", "top", "word", "hover")})


@cache
def _writes(theme: Theme) -> Spec:
    x = name(alt.X, "layer", "layer", axis={"labelAngle": 0}, paddingInner=0.1, paddingOuter=0.05)
    y = number(alt.Y, "value", "norm of what is added, with attention's share of the step", zero=True, nice=True)
    side = alt.XOffset("series:N")
    color = colour("series", [theme.attention, theme.mlp], longest=9, symbol="square")
    return specification(
        theme,
        rows().mark_bar().encode(x=x, xOffset=side, y=y, color=color, **hover()),
        words({"dy": -8}, x=x, y=alt.Y("top:Q")),
        height=340,
        says="The norm of what attention and the feed-forward layer add.",
    )


def histogram(middles: Array, raw: Array, scaled: Array, *, theme: Theme) -> Chart:
    """Scores before and after ÷ √d: share of the pairs per bin, by the bins' evenly spaced middles."""
    half = float(middles[1] - middles[0]) / 2 if len(middles) > 1 else 0.5
    bars = [
        (kind, middle - half, middle + half, share, f"{kind[5:]} near {decimal(middle)}: {share:.1%} of the pairs")
        for kind, shares in zip(numbered(("q · k", "q · k / √d")), (raw, scaled), strict=True)
        for middle, share in zip(middles, shares, strict=True)
    ]
    return Chart(spec=_histogram(theme), data={"rows": of_rows(bars, "series", "low", "high", "share", "hover")})


@cache
def _histogram(theme: Theme) -> Spec:
    ends = {"x": number(alt.X, "low", "score", axis=FEW), "x2": alt.X2("high"), "y2": alt.Y2Datum(0)}
    y = number(alt.Y, "share", "share of the pairs", axis={"format": "~%"}, zero=True)
    shade = colour("series", [theme.text, theme.plain], longest=10, symbol="square")
    bars = rows().mark_bar(opacity=0.75).encode(**ends, y=y, color=shade, **hover())
    return specification(theme, bars, height=320, says="Share of the pairs by their score, before and after ÷ √d.")


def boxes(quartiles: Array, *, names: Sequence[str], title: str, usual: float, theme: Theme) -> Chart:
    """Minimum, quartiles and maximum of each norm's parameters, as boxes with whiskers.

    Args:
        quartiles: (norm, 5), ascending.
        usual: their value before training, drawn as a line.
    """
    tooltips = [
        f"{name}: {decimal(low, '.3f')} to {decimal(high, '.3f')}, half of them from {decimal(first, '.3f')} to "
        f"{decimal(third, '.3f')}, median {decimal(median, '.3f')}"
        for name, (low, first, median, third, high) in zip(names, quartiles, strict=True)
    ]
    numbers = dict(zip(("low", "first", "median", "third", "high"), quartiles.T, strict=True))
    return Chart(
        spec=_boxes(theme, title, usual), data={"rows": {"norm": numbered(names), "hover": tooltips, **numbers}}
    )


@cache
def _boxes(theme: Theme, title: str, usual: float) -> Spec:
    x, tint = slanted("norm", None), theme.norm
    low, first, middle = (number(alt.Y, field, title, padding=8) for field in ("low", "first", "median"))
    box = rows().mark_bar(color=tint, fillOpacity=0.3, stroke=tint, strokeWidth=2)
    return specification(
        theme,
        rows().mark_rule(color=tint, aria=False).encode(x=x, y=low, y2=alt.Y2("high")),
        box.encode(x=x, y=first, y2=alt.Y2("third"), **hover()),
        rows().mark_tick(color=tint, thickness=3, aria=False).encode(x=x, y=middle),
        rule(theme, y=usual, strokeDash=[2, 3]),
        height=400,
        says=f"Boxes with whiskers, one for every norm: {title}.",
    )


def routing(tokens: Sequence[str], p: Array, *, theme: Theme) -> Chart:
    """A bar for each token in each layer: its colour names the expert, its height is the router's probability.

    Args:
        p: (layer, len, expert), rows sum to 1.
    """
    n_layers, _, n_experts = p.shape
    shown, experts = numbered([visible(token) for token in tokens]), numbered([f"expert {i}" for i in range(n_experts)])
    fills = shades(n_experts, theme)
    bars = [
        (
            shown[i],
            float(row),
            row + 0.92 * float(p[row, i, first]),
            row + 0.14,
            experts[first],
            ink_on(fills[first]),
            str(first) if len(tokens) <= 40 else "",
            f"layer {row}, {i} “{whole(tokens[i])}”: "
            + ", ".join(f"expert {e} {decimal(p[row, i, e], '.2f')}" for e in np.argsort(-p[row, i])[:4]),
        )
        for row, i in np.ndindex(p.shape[:2])
        for first in (int(p[row, i].argmax()),)
    ]
    data = {"rows": of_rows(bars, "token", "low", "high", "at", "expert", "ink", "word", "hover")}
    return Chart(spec=_routing(theme, n_layers, n_experts), data=data)


@cache
def _routing(theme: Theme, n_layers: int, n_experts: int) -> Spec:
    middles = [row + 0.5 for row in range(n_layers)]
    labels = {"values": middles, "labelExpr": "'layer ' + floor(datum.value)", "grid": False, "ticks": False}
    x = slanted("token", None)
    low, middle = (number(alt.Y, field, None, axis=labels, domain=[0, n_layers]) for field in ("low", "at"))
    fill = colour("expert", shades(n_experts, theme), longest=10, symbol="square")
    return specification(
        theme,
        rows().mark_bar().encode(x=x, y=low, y2=alt.Y2("high"), color=fill, **hover()),
        words({"aria": False}, x=x, y=middle, color=alt.Color("ink:N", scale=None)),
        *(rule(theme, y=row, strokeWidth=1, opacity=0.4) for row in range(n_layers)),
        height=130 + 76 * n_layers,
        says="The expert of each token in each layer, and its probability.",
    )
