from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import numpy as np
import streamlit as st

from tfmviz.analysis.biography.birth import Birth, Head
from tfmviz.analysis.heads import layer_scores
from tfmviz.analysis.why.composition import Composition, Way, compositions, removals
from tfmviz.analysis.why.copying import eigenvalue_scores, measured_scores
from tfmviz.analysis.why.subspaces import overlaps, overlaps_with_mlps, smallest_angle
from tfmviz.plots import panels
from tfmviz.plots.cells import (
    Axis,
    Cells,
    Frame,
    ValueFormat,
    chosen_cell,
    chosen_row,
    masked,
    of_pairs,
    share,
    short,
    signed,
)
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, icons, inputs, lesson, models, url, why
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words.labels import of_queries
from tfmviz.words.numbers import decimal, per_cent

T = TypeVar("T")
Pair = tuple[int, int]
"""An earlier head and a later one, by their places in `Composition.heads`."""

READS: dict[Way, str] = {"Q": "queries", "K": "keys", "V": "values"}

COMPOSITION, OVERLAP = "composition", "shared directions"

FEW_HEADS = 16
"""The most rows and columns whose numbers are written into the cells."""


def compose(ctx: PageContext) -> None:
    stack = ctx.choice.layer.split(".")[0]
    if ctx.model.config.depth(stack) == 1:
        st.info("With a single layer, no head reads another.", icon=icons.INFO)
        return
    with lesson.control_row("side"):
        chosen = inputs.segmented_control(
            "Read in its", list(READS.values()), default="keys", key="side", required=True
        )
        measure = inputs.segmented_control("Measured", (COMPOSITION, OVERLAP), key="measured", required=True)
    way = next(way for way, name in READS.items() if name == chosen)
    found = _of_stack(overlaps if measure == OVERLAP else compositions, ctx.model, stack, way)
    if not np.isfinite(found.values).any():
        st.info("These heads write or read nothing.", icon=icons.INFO)
        return
    pair = _chosen(found)
    earlier, later = (found.heads[index] for index in pair)
    low, chance, high = found.by_chance
    if measure == OVERLAP:
        weights = ctx.model.weights.stacks[stack]
        _, d_model, d_head = weights.attention[earlier[0]].W_Q.shape
        result(
            f"Of {d_model} directions head {name(earlier)} writes {d_head}, and the {READS[way]} of head {name(later)} "
            f"read {d_head}. Mean cos² of the angles between: **{found.values[pair]:.3f}**; random: {low:.3f} to "
            f"{high:.3f} (95%). The smallest angle is **{smallest_angle(weights, earlier, later, way):.0f}°**."
        )
    else:
        result(
            f"Head {name(earlier)} composes with the {READS[way]} of head {name(later)}: **{found.values[pair]:.3f}**; "
            f"random heads: {low:.3f} to {high:.3f} (95%)."
        )
    names = [name(head) for head in found.heads]
    n_first = sum(layer == found.heads[0][0] for layer, _ in found.heads)
    shown = found.values[:-n_first, n_first:]

    def pick(row: int, column: int) -> None:
        if np.isfinite(shown[row, column]):
            url.put({"reads": f"{row}.{column + n_first}"})

    show(
        "composition",
        _beyond_chance(
            shown - chance, names[:-n_first], names[n_first:], measure, frames=chosen_cell((pair[0], pair[1] - n_first))
        ),
        click="choose both heads",
        on_pick=pick,
    )
    mlps, values = _of_stack(overlaps_with_mlps, ctx.model, stack) if measure == OVERLAP else ((), shown)
    if mlps:  # how far feed-forward layers read the heads before them
        layers = [mlp.split(".")[1] for mlp in mlps]
        show("overlap_mlps", _beyond_chance(values - chance, names, layers, OVERLAP, reader="MLP"))
    st.caption("Computed from the weights, without positions.")
    trace = ctx.trace
    patterns = [trace[f"{layer}.pattern"][head] for layer, head in (earlier, later)]
    titles = [f"head {name(earlier)}", f"head {name(later)}"]
    if ctx.model.weights.stacks[later[0].split(".")[0]].readout.norm is None:
        st.info("Post-norm: the map ignores γ, and nothing is removed.", icon=icons.NORM)
    else:
        after = _run(ctx.model, ctx.text, earlier, later, way)
        if way != "V":  # the pattern does not depend on values
            patterns.append(after[f"{later[0]}.pattern"][later[1]])
            titles.append(f"{name(later)} without {name(earlier)}")
        sentence = f"Without head {name(earlier)} in its {READS[way]}, head {name(later)} "
        if way == "V":
            old, new = (run[f"{later[0]}.z"][later[1]] for run in (trace, after))
            sentence += f"has an output that differs by **{per_cent(_length(old - new) / _length(old))}** of its norm."
        else:
            old, new = (run[f"{later[0]}.pattern"][later[1]] for run in (trace, after))
            sentence += f"moves **{per_cent(float(np.abs(old - new).sum(axis=-1).mean()) / 2)}** of its attention."
            sentence += _induction(ctx, after, later)
        if way != "Q":
            sentence += why.said_to_share(ctx.model.weights.attention(later[0]), later[1])
        st.markdown(sentence)
    tokens = of_queries(trace, later[0]), trace.axes(later[0])[1].tokens
    mask = np.broadcast_to(trace[f"{later[0]}.mask"], patterns[0].shape)
    values, frames = masked(patterns, mask), chosen_row(ctx.query, len(tokens[1]))
    drawn = of_pairs(values, *tokens, share(), titles=tuple(titles), across=len(patterns), frames=frames)
    show("two_heads", drawn)
    for place, head in zip(st.columns(2), (earlier, later), strict=True):
        inputs.button(
            f"Choose head {name(head)}",
            key=f"choose_{name(head)}",
            on_click=controls.look_at,
            args=head,
            width="stretch",
            line=place,
        )
    _copying(ctx, [earlier, later])
    born(ctx)


@cached_for_all
def _of_stack(function: Callable[..., T], model: Model, stack: str, *way: Way) -> T:
    return function(model.weights.stacks[stack], *way)


def _chosen(found: Composition) -> Pair:
    if (asked := url.pair("reads")) and max(asked) < len(found.heads) and np.isfinite(found.values[asked]):
        return asked
    row, column = np.unravel_index(np.nan_to_num(found.values).argmax(), found.values.shape)
    return int(row), int(column)


def _beyond_chance(
    values: Array,
    rows: list[str],
    columns: list[str],
    what: str,
    *,
    reader: str = "head",
    frames: tuple[Frame, ...] = (),
) -> Cells:
    is_small = max(values.shape) <= FEW_HEADS
    return Cells(
        values[None],
        Axis("the earlier head writes", rows, [f"head {row}" for row in rows]),
        Axis(f"the later {reader} reads", columns, [f"{reader} {name}" for name in columns]),
        signed(values, f"{what} minus that of random heads"),
        form=ValueFormat(sign=True),
        texts=short(values, "+.2f") if is_small else None,
        frames=frames,
        row_height=30 if len(rows) <= FEW_HEADS else 14,
    )


def _copying(ctx: PageContext, heads: list[tuple[str, int]]) -> None:
    if ctx.model.writes_from != heads[0][0].split(".")[0] or "logits" not in ctx.trace:
        return
    if ctx.model.weights.stacks[ctx.model.writes_from].readout.transform is not None:  # weights alone do not show it
        return
    sentences = [
        f"head {name(head)} **{decimal(float(_eigenvalues(ctx.model, head[0])[head[1]]), '+.2f')}**, "
        f"**{per_cent(float(measured_scores(ctx.trace, head[0], ctx.model.weights)[head[1]]))}**"
        for head in heads
    ]
    st.markdown(
        f"Copying, by eigenvalues (−1 to 1) and by the attention that raises the token itself: {'; '.join(sentences)}."
    )


@cached_for_all
def _eigenvalues(model: Model, layer: str) -> Array:
    return eigenvalue_scores(model.weights, layer)


@cached_for_all
def _run(model: Model, text: str, earlier: tuple[str, int], later: tuple[str, int], way: Way) -> Trace:
    weights = model.weights.stacks[later[0].split(".")[0]]
    edits = removals(models.trace(model, text), earlier, later, way, weights)
    return models.run(model, text, edits, sites=[f"{later[0]}.{name}" for name in ("pattern", "mask", "z")])


def _length(z: Array) -> float:
    return float(np.linalg.norm(z)) or 1.0


def _induction(ctx: PageContext, after: Trace, later: tuple[str, int]) -> str:
    before, now = (float(layer_scores(run)[later[0]]["induction"][later[1]]) for run in (ctx.trace, after))
    if not np.isfinite(before):
        return ""
    return f" It gave **{per_cent(before)}** to what followed a repeated token, now **{per_cent(now)}**."


def born(ctx: PageContext) -> None:
    book = models.book(ctx.model)
    if book is None or book.pair is None or not book.birth:
        return
    earlier, later = (name(head) for head in book.pair)
    st.markdown(f"**How {earlier} and {later} came to work together.** {_birth(book.birth)}")
    steps = np.array([one.step for one in book.birth], dtype=float)

    def over(what: str) -> np.ndarray:
        return np.array([getattr(one, what) for one in book.birth])

    chance = math.log(ctx.model.config.vocab_size)
    chart = panels.forming(
        steps,
        losses={"5th token of a story": over("fifth"), "50th": over("fiftieth")},
        heads={
            f"composition with the keys of {later}": {f"head {earlier}": over("composition")},
            "attention to the previous token": {f"head {earlier}": over("previous")},
            "attention to what followed the same token": {f"head {later}": over("induction")},
        },
        level=(chance, f"chance, log V = {chance:.2f}"),
        now=book.birth[-1].step,
        theme=theme(),
    )
    show("birth", chart)


def _birth(birth: tuple[Birth, ...]) -> str:
    back = next((one.step for one in birth if one.previous >= 0.5), None)
    copies = next((one.step for one in birth if one.induction >= 0.5), None)
    if back is None or copies is None:
        return "They do not copy yet."
    last = birth[-1]
    before = next((one for one, after in pairwise(birth) if after.step == copies), birth[0])
    return (
        f"The first attends to the previous token from step {back:,}, the second from step {copies:,} to what "
        f"followed the same token. At step {before.step:,} and at the end, random tokens cost less when repeated, by "
        f"{_gain(before.first, before.again)} and {_gain(last.first, last.again)} nats, a story's 50th token than its "
        f"5th by {_gain(before.fifth, before.fiftieth)} and {_gain(last.fifth, last.fiftieth)}."
    )


def _gain(dear: float, cheap: float) -> str:
    return f"**{decimal(dear - cheap, '.2f')}**"


def name(head: Head) -> str:
    return f"{head[0].split('.')[1]}.{head[1]}"
