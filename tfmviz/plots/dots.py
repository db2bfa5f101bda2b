"""Dots on a plane, or in rows; some bear a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

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
    reach,
    role,
    rows,
    rule,
    slanted,
    specification,
    spots,
    words,
)
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole
from tfmviz.words.numbers import decimal, rounded

FEW_UP: Spec = {"tickCount": {"expr": "ceil(height / 50)"}}  # lines are not to outshine dots

NAMED = 8
"""Most words next to the values of an average: those with the greatest weights."""

CROSS = 0.3
"""The cross is as large as a value of this weight."""


def average(
    places: Array,
    weights: Array,
    middle: Array,
    *,
    around: Sequence[int],
    tokens: Sequence[str],
    tooltips: Sequence[str],
    theme: Theme,
) -> Chart:
    """Values as dots as large as their weights, the area that they span, and their average as a cross.

    Args:
        places: (k, 2), of the values.
        weights: (k,).
        middle: (2,), of the average.
        around: the corners of the area, in order.
        tooltips: for each value, and for the average.
    """
    named = set(np.argsort(-weights, kind="stable")[:NAMED].tolist())
    edge = places[[*around, around[0]]]
    points: Columns = {
        "x": [*places[:, 0], middle[0]],
        "y": [*places[:, 1], middle[1]],
        "weight": [*weights, CROSS],
        "role": ["value"] * len(tokens) + ["average"],
        "word": [*(visible(token) if n in named else "" for n, token in enumerate(tokens)), "average"],
        "hover": tooltips,
    }
    outline: Columns = {"x": edge[:, 0], "y": edge[:, 1], "order": list(range(len(edge)))}
    return Chart(spec=_average(theme), data={"rows": points, "edge": outline})


@cache
def _average(theme: Theme) -> Spec:
    x = number(alt.X, "x", "component 1", axis=FEW, padding=40)
    y = number(alt.Y, "y", "component 2", axis=FEW_UP, padding=40)
    looks = role("role", {"value": theme.value, "average": theme.text})
    shapes = {"domain": ["value", "average"], "range": ["circle", "cross"]}
    shape = alt.Shape(field="role", type="nominal", scale=shapes, legend=None)
    size = alt.Size(field="weight", type="quantitative", scale={"domain": [0, 1], "range": [60, 900]}, legend=None)
    area: Spec = {"fill": theme.value, "fillOpacity": 0.12, "strokeOpacity": 0.6, "aria": False}
    return specification(
        theme,
        rows("edge").mark_line(color=theme.value, **area).encode(x=x, y=y, order=alt.Order("order:Q")),
        spots({"opacity": 0.9}, x=x, y=y, color=looks, shape=shape, size=size),
        words({"dy": {"expr": "datum.role === 'average' ? 22 : -17"}}, x=x, y=y),
        height=380,
        says="Value vectors as dots in the plane of their two principal components, and their weighted average.",
    )


def embedding_map(
    places: Array, *, tokens: Sequence[str], roles: Sequence[str], window: tuple[Array, Array], theme: Theme
) -> Chart:
    """Entries of a vocabulary as dots on a plane, some of them with their word.

    Args:
        places: (word, 2).
        roles: "text" for a word of the reader's text, "chosen" for the one they chose, "near" for its neighbours,
            "other" for the rest, which are dots alone. Names are placed in this order, where they touch no other.
        window: the lowest and the highest place that is shown, each (2,).
    """
    low, high = window
    named = _apart(places, tokens, roles, window, theme)
    order = sorted(range(len(tokens)), key=lambda n: LAID.index(roles[n]))
    points: Columns = {
        "x": places[order, 0],
        "y": places[order, 1],
        "word": [visible(tokens[n]) if n in named else "" for n in order],
        "role": [roles[n] for n in order],
        "hover": [f"“{whole(tokens[n])}”" for n in order],
    }
    return Chart(spec=_map(theme), data={"rows": points, "ends": {"x": [low[0], high[0]], "y": [low[1], high[1]]}})


MAP = (1000, 440)
"""Pixels that a map has at least on a laptop; names that would touch there are left out."""

FIRST_NAMED = ("chosen", "text", "near")

LAID = ("other", *reversed(FIRST_NAMED))  # what is drawn first lies below the rest


def _apart(
    places: Array, tokens: Sequence[str], roles: Sequence[str], window: tuple[Array, Array], theme: Theme
) -> set[int]:
    low, high = window
    at = (places - low) / np.maximum(high - low, 1e-9) * MAP
    order = sorted((n for n, role in enumerate(roles) if role != "other"), key=lambda n: FIRST_NAMED.index(roles[n]))
    found: dict[int, float] = {}
    for n in order:
        width = (len(visible(tokens[n])) + 2) * theme.letters / 2
        apart = (
            abs(at[n, 1] - at[m, 1]) > theme.letters + 3 or at[n, 0] + width < at[m, 0] or at[m, 0] + wide < at[n, 0]
            for m, wide in found.items()
        )
        if all(apart):
            found[n] = width
    return set(found)


@cache
def _map(theme: Theme) -> Spec:
    x, y = number(alt.X, "x", "component 1", axis=FEW), number(alt.Y, "y", "component 2", axis=FEW_UP)
    shade = role("role", {"other": theme.grid, "near": theme.text, "text": theme.vector, "chosen": theme.accent})
    bold: Spec = {"expr": "datum.role === 'text' || datum.role === 'chosen' ? 'bold' : 'normal'"}
    word: Spec = {"fontWeight": bold, "align": "left", "baseline": "middle", "dx": 7, "aria": False}
    return specification(
        theme,
        reach(number(alt.X, "x", "component 1"), number(alt.Y, "y", "component 2")),
        spots({"size": 45, "opacity": 1}, x=x, y=y, color=shade),
        words(word, x=x, y=y, color=shade),
        height=500,
        says="Entries of the vocabulary on two principal components.",
    )


N_NAMED = 5
"""Points of a scatter with names: the highest, and those farthest to the right."""


def scatter(
    x: Array, y: Array, *, names: Sequence[str], tooltips: Sequence[str], off: Sequence[int], title: str, theme: Theme
) -> Chart:
    """One point for each head: how sharply it looks, and how much the loss grows without it.

    Args:
        x: (head,), in [0, 1].
        y: (head,), in nats.
        off: indices of the heads that the reader has switched off.
        title: of the loss.
    """
    last = sorted(range(len(names)), key=lambda i: i in off)  # what is off lies on top
    named = {*off, *np.argsort(-y)[:N_NAMED].tolist(), *np.argsort(-x)[:N_NAMED].tolist()}
    place = np.argsort(np.argsort(x))  # neighbours write above and below in turn
    points: Columns = {
        "x": x[last],
        "y": y[last],
        "role": ["off" if i in off else "on" for i in last],
        "word": [names[i] if i in named else "" for i in last],
        "below": [float(place[i] % 2) for i in last],
        "hover": [tooltips[i] for i in last],
    }
    return Chart(spec=_scatter(theme, title), data={"rows": points})


@cache
def _scatter(theme: Theme, title: str) -> Spec:
    x = number(alt.X, "x", "largest share of attention", axis=FEW, domain=[0, 1.04])
    y = number(alt.Y, "y", title, axis={"format": "+.2~f"}, padding=24)
    color = role("role", {"on": theme.attention, "off": theme.accent})
    return specification(
        theme,
        rule(theme, y=0),
        spots({"size": 100, "opacity": 1}, x=x, y=y, color=color),
        words({"dy": {"expr": "datum.below ? 16 : -14"}}, x=x, y=y),
        height=420,
        says=f"One point for every head: its largest share of attention, and {title}.",
    )


def on_one_scale(
    values: Array,
    *,
    names: Sequence[str],
    tooltips: Sequence[str],
    link: tuple[int, int],
    titles: tuple[str, str],
    theme: Theme,
) -> Chart:
    """Points, (n, 2), on two axes of the same scale, so that distances are true; a line joins the two of `link`.

    The axes begin at 0 where all values are positive. Points that almost coincide share a label.
    """
    joined = values[list(link)]
    from_zero = bool((values > 0).all())
    middle = (values.max(axis=0) + values.min(axis=0)) / 2
    far = 0.55 * float(values.max()) if from_zero else 0.58 * max(float(np.ptp(values, axis=0).max()), 1e-9)
    near = np.abs(values[:, None] - values).max(axis=-1) < 0.1 * far  # (point, point): their names would touch
    points: Columns = {
        "x": values[:, 0],
        "y": values[:, 1],
        "role": ["linked" if i in link else "other" for i in range(len(names))],
        "word": [
            "" if near[i, :i].any() else ", ".join(names[j] for j in np.flatnonzero(near[i]).tolist())
            for i in range(len(names))
        ],
        "hover": tooltips,
    }
    frame: Columns = {"x": middle[:1], "y": middle[1:], "reach": [far], "from": [float(from_zero)]}
    data: dict[str, Columns] = {"rows": points, "link": {"x": joined[:, 0], "y": joined[:, 1]}, "frame": frame}
    return Chart(spec=_on_one_scale(theme, *titles), data=data)


@cache
def _on_one_scale(theme: Theme, across: str, upwards: str) -> Spec:
    x = number(alt.X, "x", across, axis=FEW | {"grid": True}, domain=_frame("x", "width", "height"))
    y = number(alt.Y, "y", upwards, domain=_frame("y", "height", "width"))
    color = role("role", {"linked": theme.accent, "other": theme.plain})
    return specification(
        theme,
        rows("frame").mark_point(opacity=0, aria=False).encode(x=x, y=y),
        rows("link").mark_line(color=theme.accent, strokeWidth=3, aria=False).encode(x=x, y=y),
        spots({"size": 150, "opacity": 1}, x=x, y=y, color=color),
        words({"align": "left", "dx": 12}, x=x, y=y),
        height=400,
        says=f"Points: {upwards} against {across}, on one scale.",
    )


def _frame(field: str, this: str, other: str) -> list[Spec]:
    """The ends of an axis whose unit is as long as on the other axis, whatever the width of the page."""
    middle, half = f"data('frame')[0].{field}", f"data('frame')[0].reach * max(1, {this} / {other})"
    is_from_zero = "data('frame')[0].from"
    low, high = f"{is_from_zero} ? 0 : {middle} - {half}", f"{is_from_zero} ? 2 * {half} : {middle} + {half}"
    return [{"expr": low}, {"expr": high}]


def sizes(size: Array, cosine: Array, *, kinds: Sequence[str], names: Sequence[str], theme: Theme) -> Chart:
    """Every part by its norm and by its cosine with the stream it is added to: parts that point against it are on the
    left.

    Args:
        size: (part,).
        cosine: (part,), in [-1, 1]; parts without one are left out.
        kinds: see `Theme.kinds`.
    """
    shown = [n for n in range(len(names)) if np.isfinite(cosine[n])]
    parts: Columns = {
        "cosine": cosine[shown],
        "size": size[shown],
        "kind": [kinds[n] for n in shown],
        "hover": [f"{names[n]}: norm {size[n]:.2f}, cosine {decimal(cosine[n], '.2f')}" for n in shown],
    }
    return Chart(spec=_sizes(theme, tuple(k for k in theme.kinds if k in parts["kind"])), data={"rows": parts})


@cache
def _sizes(theme: Theme, kinds: tuple[str, ...]) -> Spec:
    x = number(alt.X, "cosine", "cosine: against the stream | with it", axis=FEW, domain=[-1.04, 1.04])
    y = number(alt.Y, "size", "norm", zero=True, nice=True)
    color = role("kind", {kind: theme.kinds[kind] for kind in kinds})
    color["title"] = None
    color["legend"] = {"symbolType": "circle", "columns": {"expr": "max(1, floor(containerSize()[0] / 110))"}}
    left = rows("summary").mark_rect(color=theme.grid, opacity=0.45, aria=False)
    return specification(
        theme,
        left.encode(x=alt.XDatum(-1), x2=alt.X2Datum(0)),
        spots({"size": 130, "opacity": 1, "stroke": theme.text, "strokeWidth": 0.6}, x=x, y=y, color=color),
        height=444,
        says="The norm of each part against its cosine with the stream.",
    )


def circle(pairs: Array, *, start: int, shift: int, theme: Theme) -> Chart:
    """One pair of dimensions as points on the unit circle; position `start` and the one `shift` further stand out.

    Args:
        pairs: (len, 2): the sine, drawn upwards, and the cosine, drawn to the right.
    """
    chosen = [start, start + shift]
    points: Columns = {
        "x": pairs[:, 1],
        "y": pairs[:, 0],
        "hover": [
            f"position {n}: sine {decimal(sine, '.4f')}, cosine {decimal(cosine, '.4f')}"
            for n, (sine, cosine) in enumerate(pairs)
        ],
    }
    hands: Columns = {"x": pairs[chosen, 1], "y": pairs[chosen, 0], "role": ["start", "shifted"]}
    return Chart(spec=_circle(theme), data={"rows": points, "hands": {**hands, "word": [*map(str, chosen)]}})


@cache
def _circle(theme: Theme) -> Spec:
    x = number(alt.X, "x", "cosine", axis=FEW, domain=_square("width", "height"))
    y = number(alt.Y, "y", "sine", domain=_square("height", "width"))
    radius = {"expr": f"min(width, height) / {2 * EDGE}"}
    ring: dict[str, Any] = {"filled": False, "stroke": theme.grid, "aria": False, "theta": 0, "theta2": 2 * np.pi}
    color, hands = role("role", {"start": theme.text, "shifted": theme.accent}), rows("hands")
    side = {"expr": "datum.x < 0 ? 'right' : 'left'"}
    return specification(
        theme,
        rows("summary").mark_arc(**ring, innerRadius=radius, outerRadius=radius).encode(),
        spots({"size": 50, "opacity": 0.6, "color": theme.position}, x=x, y=y),
        hands.mark_rule(strokeWidth=4).encode(x=x, y=y, x2=alt.X2Datum(0), y2=alt.Y2Datum(0), color=color),
        hands.mark_point(filled=True, size=120, opacity=1).encode(x=x, y=y, color=color),
        words({"fontSize": 18, "baseline": "bottom", "dy": -6, "align": side}, "hands", x=x, y=y, color=color),
        height=430,
        says="Sine against cosine of every position.",
    )


EDGE = 1.3
"""Where the axes of a circle of radius 1 end."""


def _square(this: str, other: str) -> list[Spec]:
    return [{"expr": f"{sign * EDGE} * max(1, {this} / {other})"} for sign in (-1, 1)]


def path(scores: Array, *, titles: tuple[str, str], theme: Theme) -> Chart:
    """The path from the first position to the last, in the first two columns of (len, 2 or more)."""
    named = set(range(0, len(scores), max(1, len(scores) // 8))) | {len(scores) - 1}
    points: Columns = {
        "position": np.arange(len(scores)),
        "x": scores[:, 0],
        "y": scores[:, 1],
        "word": [str(position) if position in named else "" for position in range(len(scores))],
        "hover": [f"position {n}: {decimal(x, '.3f')}, {decimal(y, '.3f')}" for n, (x, y) in enumerate(scores[:, :2])],
    }
    return Chart(spec=_path(theme, *titles), data={"rows": points})


@cache
def _path(theme: Theme, first: str, second: str) -> Spec:
    x = number(alt.X, "x", first, padding=16, axis=FEW)
    y = number(alt.Y, "y", second, padding=16)
    shade = alt.Color("position:Q", scale={"range": shades(9, theme)}, legend=None)
    return specification(
        theme,
        rows().mark_line(color=theme.grid, aria=False).encode(x=x, y=y, order=alt.Order("position:Q")),
        spots({"size": 80, "opacity": 1}, x=x, y=y, color=shade),
        words({"dy": -13}, x=x, y=y),
        height=380,
        says="The positions in the two directions in which they differ most.",
    )


def rulers(texts: Sequence[Sequence[str]], places: Sequence[Array], *, theme: Theme) -> Chart:
    """Texts laid along one ruler from 0 to 1, the first on top; `places`: one number for each token."""
    laid = [
        (text, place, str(n) if len(tokens) <= 24 or n % 4 == 0 else "", f"{n} “{visible(token)}” at {place:.3f}")
        for text, tokens, along in zip(numbered([f"N = {len(tokens)}" for tokens in texts]), texts, places, strict=True)
        for n, (token, place) in enumerate(zip(tokens, along.tolist(), strict=True))
    ]
    return Chart(spec=_rulers(theme), data={"rows": of_rows(laid, "text", "x", "word", "hover")})


@cache
def _rulers(theme: Theme) -> Spec:
    quarters = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f", "grid": True}
    x = number(alt.X, "x", "index / (N − 1)", domain=[-0.03, 1.03], axis=quarters)
    y = name(alt.Y, "text", type="point", padding=0.7)
    color = alt.Color("text:N", legend=None, scale={"range": [theme.text, theme.plain]})
    return specification(
        theme,
        rows().mark_line(color=theme.grid, aria=False).encode(x=x, y=y, detail=alt.Detail("text:N")),
        spots({"size": 170, "opacity": 1}, x=x, y=y, color=color),
        words({"dy": -16}, x=x, y=y),
        height=230,
        says="Two texts laid along one ruler from 0 to 1.",
    )


def held_out(losses: Mapping[str, float], *, bright: str, theme: Theme) -> Chart:
    """A dot for each model, the lowest loss on top."""
    names = sorted(losses, key=lambda name: losses[name])
    points = [
        (row, loss, "chosen" if name == bright else "other", f"{loss:.2f}", f"{name}: {loss:.2f} nats per token")
        for row, name, loss in zip(numbered(names), names, map(losses.__getitem__, names), strict=True)
    ]
    data = {"rows": of_rows(points, "name", "value", "role", "word", "hover")}
    return Chart(spec=_held_out(theme, len(names)), data=data)


@cache
def _held_out(theme: Theme, n: int) -> Spec:
    x = number(alt.X, "value", "loss on held-out text, nats per token", axis=FEW, padding=24)
    y = name(alt.Y, "name")
    return specification(
        theme,
        spots({"size": 90, "opacity": 1}, x=x, y=y, color=role("role", {"chosen": theme.accent, "other": theme.text})),
        words({"align": "left", "dx": 10, "aria": False}, x=x, y=y),
        height=22 * n + 60,
        says="Loss of several models on held-out text.",
    )


VERDICTS = ("baseline", "better", "worse", "noise")


def seeds(variants: Mapping[str, Array], verdicts: Sequence[str], *, baseline: float, theme: Theme) -> Chart:
    """A row for each variant: a dot for each seed, a bar at their mean, and a line at the baseline's mean.

    Args:
        verdicts: one of `VERDICTS` for each.
    """
    names = numbered(list(variants))
    found, means = [], []
    for row, runs, verdict in zip(names, variants.values(), verdicts, strict=True):
        found += [(row, loss, verdict, f"{row[5:]}: {decimal(loss, '.4f')} nats") for loss in runs]
        tooltip = f"{row[5:]}: mean {decimal(runs.mean(), '.4f')} nats, {len(runs)} seeds"
        means.append((row, runs.mean(), verdict, tooltip))
    data = {table: of_rows(of, "name", "loss", "verdict", "hover") for table, of in (("rows", found), ("means", means))}
    return Chart(spec=_seeds(theme, round(baseline, 6), len(names)), data=data)


@cache
def _seeds(theme: Theme, baseline: float, n: int) -> Spec:
    y = name(alt.Y, "name")
    x = number(alt.X, "loss", "held-out loss, nats per token", axis=FEW | {"format": ".2f"}, padding=16)
    colours = (theme.text, theme.signed[0], theme.signed[2], theme.text)
    color = role("verdict", dict(zip(VERDICTS, colours, strict=True)))
    return specification(
        theme,
        rule(theme, x=baseline, strokeDash=[4, 4]),
        spots({"size": 60, "opacity": 0.7}, x=x, y=y, color=color),
        rows("means").mark_tick(thickness=4, size=20).encode(x=x, y=y, color=color, **hover()),
        height=70 + 28 * n,
        says="The held-out loss of each variant, seed by seed.",
    )


def dropped(tokens: Sequence[str], names: Sequence[str], runs: Array, usual: Array, *, theme: Theme) -> Chart:
    """−ln P of each next token: a point for each run with dropout, and a stroke without.

    Args:
        names: of the tokens, in sentences.
        runs: (run, len).
        usual: (len,).
    """
    places, kinds = numbered([visible(token) for token in tokens]), ("without", f"{len(runs)} runs with dropout")
    points = [
        (kind, place, loss, f"{name}, {kinds[0] if n == 0 else 'with dropout'}: {loss:.2f}")
        for n, (kind, several) in enumerate(zip(numbered(kinds), (usual[None], runs), strict=True))
        for row in several.tolist()
        for place, name, loss in zip(places, names, row, strict=True)
    ]
    return Chart(spec=_dropped(theme, len(kinds[1])), data={"rows": of_rows(points, "line", "x", "y", "hover")})


@cache
def _dropped(theme: Theme, longest: int) -> Spec:
    kind = colour("line", [theme.text, theme.plain], longest=longest, symbol="circle")
    shape = alt.Shape(field="line", type="nominal", scale={"range": ["M-2,-.35H2V.35H-2Z", "circle"]}, legend=None)
    y = number(alt.Y, "y", "−ln P(next token), nats", zero=True, nice=True)
    points = spots({"size": 70}, x=slanted("x", "next token"), y=y, color=kind, shape=shape)
    return specification(theme, points, height=380, says="−ln P of each next token, with dropout and without.")


def gradients(layers: Sequence[str], lengths: Mapping[str, Array], *, theme: Theme) -> Chart:
    """Norm of the gradient in every layer, on a logarithmic axis: a point, if above 0, for each kind of weights,
    (layer,).
    """
    names = numbered(layers)
    found = [
        (name, kind, value, f"{name[5:]}, {kind[5:]}: {rounded(value)}")
        for kind, values in zip(numbered(list(lengths)), lengths.values(), strict=True)
        for name, value in zip(names, values.tolist(), strict=True)
        if value > 0
    ]
    data = {"rows": of_rows(found, "layer", "kind", "value", "hover")}
    return Chart(spec=_gradients(theme, max(map(len, lengths))), data=data)


@cache
def _gradients(theme: Theme, longest: int) -> Spec:
    y = number(alt.Y, "value", "norm of the gradient", axis={"format": "~g"}, type="log")
    kind = colour("kind", [theme.text, theme.plain], longest=longest, symbol="circle")
    points = spots({"size": 130}, x=slanted("layer", "layer"), y=y, color=kind)
    return specification(theme, points, height=400, says="Norm of the gradient in every layer.")
