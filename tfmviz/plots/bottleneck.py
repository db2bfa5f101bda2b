"""Figures of the page on recurrent translators: alignments, contexts, and what is measured against length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.cells import Axis, Cells, Form, chosen_cell, of_tokens, share, shares, signed
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, hover, number, numbered, rows, specification, strokes
from tfmviz.plots.lines import DASHES, spread
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted, visible

LEAST_WRITTEN = 0.05
"""Smaller shares have a dot: a picture full of “.01” hides what is large."""


def alignment(
    alpha: Array,
    *,
    title: str,
    source: Sequence[str],
    written: Sequence[str],
    shown: int,
    picked: tuple[int, int] | None = None,
) -> Cells:
    """α_ij: a row for each written token, a column for each token of the source; rows to come are grey.

    Args:
        alpha: (written, source), rows sum to 1.
        title: whose α they are.
        shown: how many rows have been written.
        picked: row and column that are framed.
    """
    values = np.where(np.arange(len(alpha))[:, None] < shown, alpha, np.nan)
    return Cells(
        matrices=values[None],
        rows=_written(written, shown),
        columns=of_tokens("source", source),
        scale=share(title),
        form=Form(name="α "),
        texts=shares(np.where(values < LEAST_WRITTEN, 0.0, values)),
        frames=chosen_cell(picked) if picked and picked[0] < shown else (),
        square=True,
    )


def contexts(
    values: Array,
    *,
    title: str,
    written: Sequence[str],
    shown: int,
    limit: float,
    chosen: tuple[int, int] | None = None,
) -> Cells:
    """c_i or h_i: a row for each written token, a column for each of its numbers; rows to come are grey.

    Args:
        values: (written, d_model).
        title: what they are, and whose.
        limit: where the colours end, the same for pictures to be compared.
        chosen: row and column that are framed.
    """
    found = np.where(np.arange(len(values))[:, None] < shown, values, np.nan)
    return Cells(
        matrices=found[None],
        rows=_written(written, shown),
        columns=Axis(title="coordinate"),
        scale=signed(found, title, limit=limit),
        form=Form(sign=True),
        frames=chosen_cell(chosen),
        row_height=30,
    )


def _written(tokens: Sequence[str], shown: int) -> Axis:
    """Rows by what is written from them; what is still to come is not given away."""
    names = [visible(token) if row < shown else "" for row, token in enumerate(tokens)]
    quotes = quoted(tokens, first=1)
    spoken = [f"writing {name}" if row < shown else "not written yet" for row, name in enumerate(quotes)]
    return Axis(title="writes", names=names, spoken=spoken)


HEIGHT = 360


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Series:
    """A number with its interval, against length.

    Attributes:
        x: (point,), the mean length.
        values: (point, 3), the number and the ends of its interval.
        said: what each point says under the pointer.
    """

    x: Array
    values: Array
    said: Sequence[str]


def against_length(
    series: Mapping[str, Series], *, title: str, x: str = "words of the source", percent: bool = False, theme: Theme
) -> Chart:
    """A line with upright intervals for each model. The models stand a little apart, so that no interval hides another.

    Args:
        title: what is measured.
        x: of what the length is.
        percent: whether it is a share, shown in per cent.
    """
    names = numbered(list(series))
    apart = 0.35 * (np.arange(len(series)) - (len(series) - 1) / 2)
    points: dict[str, list[str] | list[float]] = {
        "line": [name for name, one in zip(names, series.values(), strict=True) for _ in one.x],
        "x": [float(x) + shift for one, shift in zip(series.values(), apart, strict=True) for x in one.x],
        **{
            field: [float(y) for one in series.values() for y in one.values[:, n]]
            for n, field in enumerate(("y", "low", "high"))
        },
        "hover": [said for one in series.values() for said in one.said],
        "dot": [90.0 for one in series.values() for _ in one.x],
    }
    last = np.array([one.values[-1, 0] for one in series.values()])
    top = max(float(one.values[:, 2].max()) for one in series.values())
    words: Columns = {
        "line": names,
        "x": [float(one.x[-1]) + apart[-1] for one in series.values()],
        "y": spread(last, least=(theme.letters + 5) / (HEIGHT - 70) * top, low=0.0, high=top),
        "word": list(series),
    }
    return Chart(spec=_against_length(theme, title, x, percent, tuple(series)), data={"rows": points, "words": words})


@cache
def _against_length(theme: Theme, title: str, across: str, percent: bool, names: tuple[str, ...]) -> Spec:
    longest = max(map(len, names))
    room = (longest + 1) * theme.letters // 2
    x = number(alt.X, "x", across, axis=FEW, rangeMax={"expr": f"width - {room}"})
    percents = {"format": "~%"} if percent else {}
    y, low = (number(alt.Y, field, title, axis=percents, zero=True, nice=True) for field in ("y", "low"))
    looks = [DASHES[i % len(DASHES)] for i in range(len(names))]
    shade, dash = strokes("line", shades(len(names), theme), looks, longest=longest, legend=False)
    return specification(
        theme,
        rows().mark_rule(aria=False, opacity=0.6).encode(x=x, y=low, y2=alt.Y2("high"), color=shade),
        rows().mark_line(aria=False).encode(x=x, y=y, color=shade, strokeDash=dash),
        rows().mark_point(filled=True).encode(x=x, y=y, color=shade, size=alt.Size("dot:Q", scale=None), **hover()),
        rows("words")
        .mark_text(align="left", baseline="middle", dx=8)
        .encode(
            x=x, y=number(alt.Y, "y", title, axis=percents, zero=True, nice=True), color=shade, text=alt.Text("word:N")
        ),
        height=HEIGHT,
        says=f"Lines with intervals: {title}, against {across}.",
    )
