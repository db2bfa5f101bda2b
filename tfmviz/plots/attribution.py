"""Pictures of what made a word: what each part added to its logit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tfmviz.plots import alt
from tfmviz.plots.charts import (
    Chart,
    Columns,
    Spec,
    hover,
    name,
    number,
    numbered,
    role,
    rows,
    rule,
    slanted,
    specification,
)
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal


def looks(attention: Array, effect: Array, *, tokens: Sequence[str], title: str, theme: Theme) -> tuple[Chart, Chart]:
    """Where a head looked, and what it added to a score from each key.

    Args:
        attention: (k_len,), shares in [0, 1].
        effect: (k_len,), signed.
        title: what was added.

    Returns:
        Two charts of the same keys; the second belongs below the first.
    """
    names = quoted(tokens)
    looked = [f"looked at {name}: {share:.1%}" for name, share in zip(names, attention, strict=True)]
    wrote = [f"added from {name}: {decimal(e, '+.3f')}" for name, e in zip(names, effect, strict=True)]
    keys = numbered([visible(token) for token in tokens])
    above: Columns = {"token": keys, "value": attention, "role": ["looked"] * len(keys), "hover": looked}
    below: Columns = {"token": keys, "value": effect, "role": _signs(effect), "hover": wrote}
    return (
        Chart(spec=_looked(theme), data={"rows": above}),
        Chart(spec=_wrote(theme, title), data={"rows": below}),
    )


ALIKE = {"minExtent": 60, "maxExtent": 60}
"""Makes the numbers beside two charts equally wide, so that their keys stand one above the other."""


@cache
def _looked(theme: Theme) -> Spec:
    x = name(alt.X, "token", axis={"labels": False, "title": None})
    y = number(alt.Y, "value", "attention", axis=ALIKE | {"format": "~%"}, domain=[0, 1])
    bars = rows().mark_bar().encode(x=x, y=y, color=role("role", {"looked": theme.attention}), **hover())
    return specification(theme, bars, height=170, says="A bar for every key: the share of attention.")


@cache
def _wrote(theme: Theme, title: str) -> Spec:
    y = number(alt.Y, "value", title, axis=ALIKE, zero=True)
    colours = role("role", _sign_colours(theme))
    bars = rows().mark_bar().encode(x=slanted("token", "key"), y=y, color=colours, **hover())
    return specification(theme, bars, rule(theme, y=0), height=290, says=f"A bar for every key: {title}.")


def _signs(values: Array) -> list[str]:
    return ["below" if value < 0 else "above" for value in values]


def _sign_colours(theme: Theme) -> dict[str, str]:
    return {"below": theme.signed[0], "above": theme.signed[-1]}
