"""Losses of model variants seed by seed, and the experts that the tokens of a text go to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    role,
    rows,
    rule,
    slanted,
    specification,
)
from tfmviz.plots.theme import Theme, ink_on, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole
from tfmviz.words.numbers import decimal

VERDICTS = ("baseline", "better", "worse", "noise")


def losses(variants: Mapping[str, Array], verdicts: Sequence[str], *, baseline: float, theme: Theme) -> Chart:
    """A row for each variant: a dot for each seed, a bar at their mean, and a line where the baseline's mean is.

    Args:
        variants: losses of the runs by name, in the order of the rows.
        verdicts: one of `VERDICTS` for each.
        baseline: mean loss of the baseline.
    """
    names = numbered(list(variants))
    runs = list(variants.values())
    seeds: Columns = {
        "name": [row for row, found in zip(names, runs, strict=True) for _ in found],
        "loss": np.concatenate(runs),
        "verdict": [verdict for verdict, found in zip(verdicts, runs, strict=True) for _ in found],
        "hover": [f"{row}: {decimal(loss, '.4f')} nats" for row, found in variants.items() for loss in found],
    }
    means: Columns = {
        "name": names,
        "loss": np.array([found.mean() for found in runs]),
        "verdict": list(verdicts),
        "hover": [
            f"{row}: mean {decimal(found.mean(), '.4f')} nats, {len(found)} seeds" for row, found in variants.items()
        ],
    }
    return Chart(spec=_losses(theme, round(baseline, 6), len(names)), data={"rows": seeds, "means": means})


@cache
def _losses(theme: Theme, baseline: float, n: int) -> Spec:
    y = name(alt.Y, "name")
    x = number(alt.X, "loss", "held-out loss, nats per token", axis=FEW | {"format": ".2f"}, padding=16)
    colours = (theme.text, theme.signed[0], theme.signed[2], theme.text)
    color = role("verdict", dict(zip(VERDICTS, colours, strict=True)))
    return specification(
        theme,
        rule(theme, x=baseline, strokeDash=[4, 4]),
        rows().mark_point(filled=True, size=60, opacity=0.7).encode(x=x, y=y, color=color, **hover()),
        rows("means").mark_tick(thickness=4, size=20).encode(x=x, y=y, color=color, **hover()),
        height=70 + 28 * n,
        says="The held-out loss of each variant, seed by seed.",
    )


def routing(tokens: Sequence[str], p: Array, *, theme: Theme) -> Chart:
    """A bar for each token in each layer: its colour names the expert, its height is the router's probability.

    Args:
        p: (layer, len, expert), rows sum to 1.
    """
    n_layers, _, n_experts = p.shape
    shown, experts = numbered([visible(token) for token in tokens]), numbered([f"expert {i}" for i in range(n_experts)])
    fills = shades(n_experts, theme)
    inks = [ink_on(fill) for fill in fills]
    chosen, highest = p.argmax(axis=-1), p.max(axis=-1)  # (layer, len) each
    places = [(row, i) for row in range(n_layers) for i in range(len(tokens))]
    bars: Columns = {
        "token": [shown[i] for _, i in places],
        "low": [float(row) for row, _ in places],
        "high": [row + 0.92 * float(highest[row, i]) for row, i in places],
        "at": [row + 0.14 for row, _ in places],
        "expert": [experts[chosen[row, i]] for row, i in places],
        "ink": [inks[chosen[row, i]] for row, i in places],
        "word": [str(chosen[row, i]) if len(tokens) <= 40 else "" for row, i in places],
        "hover": [
            f"layer {row}, {i} “{whole(tokens[i])}”: "
            + ", ".join(f"expert {e} {decimal(p[row, i, e], '.2f')}" for e in np.argsort(-p[row, i])[:4])
            for row, i in places
        ],
    }
    return Chart(spec=_routing(theme, n_layers, n_experts), data={"rows": bars})


@cache
def _routing(theme: Theme, n_layers: int, n_experts: int) -> Spec:
    middles = [row + 0.5 for row in range(n_layers)]
    labels = {"values": middles, "labelExpr": "'layer ' + floor(datum.value)", "grid": False, "ticks": False}
    x = slanted("token", None)
    low, middle = (number(alt.Y, field, None, axis=labels, domain=[0, n_layers]) for field in ("low", "at"))
    fill = colour("expert", shades(n_experts, theme), longest=10, symbol="square")
    number_of = rows().mark_text(aria=False)
    return specification(
        theme,
        rows().mark_bar().encode(x=x, y=low, y2=alt.Y2("high"), color=fill, **hover()),
        number_of.encode(x=x, y=middle, text=alt.Text("word:N"), color=alt.Color("ink:N", scale=None)),
        *(rule(theme, y=row, strokeWidth=1, opacity=0.4) for row in range(n_layers)),
        height=130 + 76 * n_layers,
        says="The expert of each token in each layer, and its probability.",
    )
