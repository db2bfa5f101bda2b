from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import zip_longest

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import (
    Chart,
    Columns,
    Spec,
    colour,
    hover,
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
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal

FLAT = 1 / 400
"""A bar lower than this share of the highest would be invisible; a 0 replaces it."""


def pairs(
    tokens: Sequence[str],
    one: Array,
    other: Array,
    *,
    series: tuple[str, str],
    title: str,
    theme: Theme,
    token_title: str = "key",
    percent: bool = False,
    names: Sequence[str] | None = None,
    instead: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> Chart:
    """Two bars for every token.

    Args:
        one, other: one number per token, at least 0.
        names: of the tokens under the pointer; None: as sentences name those of a text.
        percent: the numbers are shares.
        instead: of each series, a word for each non-finite number, in a pale bar as high as the chart.
    """
    labels, spoken = numbered([visible(token) for token in tokens]), names or quoted(tokens)
    form = ".2%" if percent else ".3f"
    bars = {
        "token": labels * 2,
        "series": [name for name in numbered(series) for _ in labels],
        "value": [*one, *other],
        "hover": [
            f"{name}, {kind}: {format(value, form) if np.isfinite(value) else word or 'no number'}"
            for kind, values, words in zip(series, (one, other), instead, strict=True)
            for name, value, word in zip_longest(spoken, values, words, fillvalue="")
        ],
    }
    highest = max([value for value in bars["value"] if np.isfinite(value)], default=0.0)
    bars["flat"] = ["0" if abs(value) < FLAT * highest else "" for value in bars["value"]]
    data: dict[str, Columns] = {"rows": bars}
    absent = [
        (label, kind, word)
        for kind, values, words in zip(numbered(series), (one, other), instead, strict=True)
        for label, value, word in zip(labels, values, words, strict=False)
        if not np.isfinite(value)
    ]
    if absent:
        data["absent"] = of_rows(absent, "token", "series", "word")
    spec = _pairs(theme, title, token_title, percent, max(map(len, series)), bool(absent))
    return Chart(spec=spec, data=data)


@cache
def _pairs(theme: Theme, title: str, token_title: str, percent: bool, longest: int, absent: bool) -> Spec:
    place = {"x": slanted("token", token_title), "xOffset": alt.XOffset("series:N")}
    shade = colour("series", [theme.text, theme.plain], longest=longest, symbol="square")
    y = number(alt.Y, "value", title, axis={"format": "~%"} if percent else {}, zero=True, nice=True)
    bars = rows().mark_bar().encode(**place, y=y, color=shade, **hover())
    flat = rows().mark_text(baseline="bottom", dy=-3, aria=False).encode(**place, y=y, text=alt.Text("flat:N"))
    pale = rows("absent").mark_bar(fillOpacity=0.1, stroke=theme.text, strokeDash=[4, 3], strokeWidth=1, aria=False)
    no_number = [
        pale.encode(**place, y=alt.YValue(0), y2=alt.Y2Value("height"), color=shade),
        words({"baseline": "top", "dy": 4}, "absent", **place, y=alt.YValue(0)),
    ]
    return specification(
        theme, *no_number * absent, bars, flat, height=380, says=f"Two bars for every {token_title}: {title}."
    )


def differences(
    tokens: Sequence[str], one: Array, other: Array, *, title: str, theme: Theme, token_title: str, names: Sequence[str]
) -> Chart:
    """One bar for every token: `other` minus `one`."""
    apart = other - one
    bars = {
        "token": numbered([visible(token) for token in tokens]),
        "value": apart,
        "role": ["more" if value > 0 else "less" for value in apart],
        "hover": [
            f"{name}: {a:.3f} in A, {b:.3f} in B, {decimal(b - a, '+.3f')}"
            for name, a, b in zip(names, one, other, strict=True)
        ],
    }
    return Chart(spec=_differences(theme, title, token_title), data={"rows": bars})


@cache
def _differences(theme: Theme, title: str, token_title: str) -> Spec:
    y = number(alt.Y, "value", title, axis={"format": "+~f"}, zero=True, nice=True)
    shade = role("role", {"more": theme.signed[2], "less": theme.signed[0]})
    bars = rows().mark_bar().encode(x=slanted("token", token_title), y=y, color=shade, **hover())
    return specification(theme, bars, rule(theme, y=0), height=380, says=f"A bar for every {token_title}: {title}.")
