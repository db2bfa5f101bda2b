"""Figures of the page about training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from tfmviz.plots import alt
from tfmviz.plots.charts import (
    FEW,
    Chart,
    Columns,
    Spec,
    colour,
    hover,
    number,
    numbered,
    rows,
    slanted,
    specification,
    strokes,
)
from tfmviz.plots.lines import DASHES
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, rounded


def dropped(tokens: Sequence[str], runs: Array, whole: Array, *, theme: Theme) -> Chart:
    """−ln P of each next token: a point for each run with dropout, and a stroke without.

    Args:
        tokens: the targets.
        runs: (run, len).
        whole: (len,).
    """
    places, names = numbered([visible(token) for token in tokens]), quoted(tokens, first=1)
    kinds = ("without", f"{len(runs)} runs with dropout")
    points = [
        (kind, place, loss, f"{name}, {kind if n == 0 else 'with dropout'}: {loss:.2f}")
        for n, (kind, several) in enumerate(zip(numbered(kinds), (whole[None], runs), strict=True))
        for row in several.tolist()
        for place, name, loss in zip(places, names, row, strict=True)
    ]
    return Chart(spec=_dropped(theme, len(kinds[1])), data={"rows": _columns("line x y hover", points)})


@cache
def _dropped(theme: Theme, longest: int) -> Spec:
    kind = colour("line", [theme.text, theme.plain], longest=longest, symbol="circle")
    shape = alt.Shape(field="line", type="nominal", scale={"range": ["M-2,-.35H2V.35H-2Z", "circle"]}, legend=None)
    points = (
        rows()
        .mark_point(filled=True, size=70)
        .encode(
            x=slanted("x", "next token"),
            y=number(alt.Y, "y", "−ln P(next token), nats", zero=True, nice=True),
            color=kind,
            shape=shape,
            **hover(),
        )
    )
    return specification(theme, points, height=380, says="−ln P of each next token, with dropout and without.")


def _columns(names: str, found: Sequence[tuple[object, ...]]) -> Columns:
    return dict(zip(names.split(), zip(*found, strict=True), strict=True))


def gradients(layers: Sequence[str], lengths: Mapping[str, Array], *, theme: Theme) -> Chart:
    """Length of the gradient in every layer, on a logarithmic axis: a point for each kind of weights.

    Args:
        lengths: (layer,) for each kind; 0 is left out.
    """
    names = numbered(layers)
    series = numbered(list(lengths))
    found = [
        (name, kind, value, f"{layers[n]}, {kind[5:]}: {rounded(value)}")
        for kind, values in zip(series, lengths.values(), strict=True)
        for n, (name, value) in enumerate(zip(names, values.tolist(), strict=True))
        if value > 0
    ]
    points = _columns("layer kind value hover", found)
    return Chart(spec=_gradients(theme, max(map(len, lengths))), data={"rows": points})


@cache
def _gradients(theme: Theme, longest: int) -> Spec:
    points = (
        rows()
        .mark_point(filled=True, size=130)
        .encode(
            x=slanted("layer", "layer"),
            y=number(alt.Y, "value", "norm of the gradient", axis={"format": "~g"}, type="log"),
            color=colour("kind", [theme.text, theme.plain], longest=longest, symbol="circle"),
            **hover(),
        )
    )
    return specification(theme, points, height=400, says="Norm of the gradient in every layer.")


def descents(
    paths: Mapping[str, Array], rings: Sequence[Array], *, bright: int, reach: tuple[float, float], theme: Theme
) -> Chart:
    """Ways downhill on a plane, over lines of equal height.

    Args:
        paths: (step, 2) for each way.
        rings: (point, 2), each a line of equal height.
        bright: which of the ways stands out.
        reach: how far the plane is shown along x and y, on both sides of 0.
    """
    names = numbered(list(paths))
    points = [
        (
            name,
            n,
            *place,
            1.0 if way == bright else 0.25,
            f"{name[5:]}, after {n} steps: ({decimal(place[0])}, {decimal(place[1])})",
        )
        for way, (name, path) in enumerate(zip(names, paths.values(), strict=True))
        for n, place in enumerate(path.tolist())
        if abs(place[0]) <= reach[0] and abs(place[1]) <= reach[1]
    ]
    heights = [(f"{r}", n, *place) for r, ring in enumerate(rings) for n, place in enumerate(ring.tolist())]
    data: dict[str, Columns] = {
        "rows": _columns("line step x y strength hover", points),
        "rings": _columns("ring step x y", heights),
    }
    return Chart(spec=_descents(theme, len(paths), max(map(len, paths)), reach), data=data)


@cache
def _descents(theme: Theme, n: int, longest: int, reach: tuple[float, float]) -> Spec:
    x = number(alt.X, "x", "x", axis=FEW, domain=[-reach[0], reach[0]])
    y = number(alt.Y, "y", "y", domain=[-reach[1], reach[1]])
    order = alt.Order("step:Q")
    shade, dash = strokes("line", shades(n, theme), DASHES[:n], longest=longest)
    dash["legend"] = None
    strength = alt.Opacity("strength:Q", scale=None)
    around = rows("rings").mark_line(color=theme.text, opacity=0.25, strokeWidth=1, clip=True, aria=False)
    return specification(
        theme,
        around.encode(x=x, y=y, order=order, detail=alt.Detail("ring:N")),
        rows().mark_line(aria=False).encode(x=x, y=y, order=order, color=shade, strokeDash=dash, opacity=strength),
        rows().mark_point(filled=True, size=30).encode(x=x, y=y, color=shade, opacity=strength, **hover()),
        height=420,
        says="Paths downhill over contour lines.",
    )
