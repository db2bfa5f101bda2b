"""The words of the sentence on their way through the layers: nearest tokens, and paths in space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfmviz.analysis import residual
from tfmviz.analysis.residual import InSpace
from tfmviz.plots import space
from tfmviz.plots.paths import bumps
from tfmviz.plots.space import View, Way
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, inputs, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, seen_from, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import counted, decimal, per_cent

MOST = 40
"""Tokens whose paths are drawn: the first ones, and the chosen one."""


NEAREST = 5
"""Tokens that are followed."""


def neighbours(here: Lesson) -> None:
    """The tokens whose vectors are most like the chosen one's, layer by layer; or all paths in space."""
    tokens = [visible(token) for token in here.trace.axes(here.choice.layer)[0].tokens]
    line = lesson.line("token")
    with line:
        controls.token_box(tokens, here.query)
    ways = ["nearest tokens", "in space"]
    way = inputs.segmented_control("Draw", ways, default=ways[0], key="drawn_as", required=True, line=line)
    if way == ways[1]:
        paths(here, tokens, seen_from(line))
    else:
        nearest(here, tokens)


def nearest(here: Lesson, tokens: list[str]) -> None:
    """Who is nearest to the chosen token, by cosine, after each layer."""
    trace, chosen = here.trace, here.query
    stages = residual.stages(trace, here.choice.layer.split(".")[0], "layers")
    result(_said(trace, stages, tokens, chosen))
    if len(tokens) == 1:
        return
    found = [residual.nearest(trace[site].astype(float), chosen) for site in stages.values()]
    order, cosines = (np.array([each[:NEAREST] for each in part]) for part in zip(*found, strict=True))
    names = ["embedding", *(f"layer {n}" for n in range(len(stages) - 1))]
    drawing = bumps(order, cosines, stages=names, tokens=tokens, theme=theme())
    show("nearest", drawing, title=f"The {counted(order.shape[1], 'token')} nearest to {quoted(tokens)[chosen]}")


def paths(here: Lesson, tokens: list[str], seen: View) -> None:
    """Each token's vector after each layer, along the three directions that hold most of their differences."""
    trace, stack, chosen = here.trace, here.choice.layer.split(".")[0], here.query
    names, stages = quoted(tokens), residual.stages(trace, stack, "layers")
    found = _in_space(here.model, here.text, stack, here.edits)
    said = _said(trace, stages, tokens, chosen)
    shown = [n for n in range(len(tokens)) if n < MOST or n == chosen]
    figure = space.ways(
        [_way(tokens[n], names[n], found.places[:, n], list(stages), stands_out=n == chosen) for n in shown],
        axes=("1st direction", "2nd direction", "3rd direction"),
        title="Where each token's vector is after each layer",
        seen_from=seen,
        stages=["embedding", *(str(n) for n in range(len(stages) - 1))],
        theme=theme(),
    )
    show("paths", figure, alt=f"Paths of {len(shown)} tokens. {said}")
    result(f"{said} The three directions hold {per_cent(float(found.shares.sum()))} of the vectors' variance.")


def _way(token: str, name: str, places: Array, stages: Sequence[str], *, stands_out: bool) -> Way:
    look = theme()
    return Way(
        name=name,
        points=places,
        said=[f"{name}, {stage}" for stage in stages],
        colour=look.accent if stands_out else look.masked,
        width=10 if stands_out else 4,
        label=token,
        stands_out=stands_out,
        dots=np.ones(len(places), bool),
        steps=np.arange(len(places)),
        in_legend=False,
    )


@shared
def _in_space(model: Model, text: str, stack: str, edits: tuple[Edit, ...]) -> InSpace:
    trace = models.trace(model, text, edits)
    return residual.in_space(trace, list(residual.stages(trace, stack, "layers").values()))


def _said(trace: Trace, stages: Mapping[str, str], tokens: list[str], chosen: int) -> str:
    """Which token the chosen one is most like, at first and at last."""
    if len(tokens) == 1:
        return "A single token has no neighbours. Type more."
    (_, first), *_, (last, site) = stages.items()
    (near, cosine), (then, later) = (residual.closest(trace[place].astype(float), chosen) for place in (first, site))
    name, near_name, then_name = (markdown.plain(quoted(tokens)[n]) for n in (chosen, near, then))
    return (
        f"As an embedding, {name} is most like {near_name} (cosine {decimal(cosine)}); {last}, it is most like "
        f"{then_name} ({decimal(later)})."
    )
