"""Which head reads which: composition of all pairs of heads, and one pair on the reader's sentence."""

from __future__ import annotations

import re

import numpy as np
import streamlit as st

from tfmviz.analysis.heads import layer_scores
from tfmviz.analysis.why.composition import WAYS, Composition, Way, compositions, removals
from tfmviz.plots import steps as tiles
from tfmviz.plots import why as figures
from tfmviz.record.trace import Trace
from tfmviz.ui import controls, icons, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show_cells
from tfmviz.ui.lesson import Lesson
from tfmviz.words.labels import of_queries
from tfmviz.words.numbers import per_cent
from tfmviz.zoo import ZooModel

Pair = tuple[int, int]
"""An earlier head and a later one, by their places in `Composition.heads`."""

PAIR = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")

READS: dict[Way, str] = {"Q": "queries", "K": "keys", "V": "values"}

TOO_FEW = "Heads can read one another only from layer to layer, and this model has one layer here."

POST_NORM = "In this post-norm model a norm follows each write; γ is left out of the map, and no path is removed here."


def compose(here: Lesson) -> None:
    """Asks for the way, draws the map and the chosen pair."""
    stack = here.choice.layer.split(".")[0]
    if here.model.config.depth(stack) == 1:
        st.info(TOO_FEW, icon=icons.INFO)
        return
    way: Way = lesson.line("way").segmented_control(
        "The later head reads it in its",
        WAYS,
        format_func=READS.get,
        default="K",
        key="way",
        bind="query-params",
        required=True,
    )
    found = _compositions(here.model, stack, way)
    pair = _chosen(found)
    _map(found, pair)
    _heads(here, found, pair, way)


@shared
def _compositions(model: ZooModel, stack: str, way: Way) -> Composition:
    return compositions(model.weights.stacks[stack], way)


def _chosen(found: Composition) -> Pair:
    """The pair in the address, else the one that composes most."""
    if asked := PAIR.fullmatch(st.query_params.get("pair", "")):
        row, column = int(asked[1]), int(asked[2])
        if max(row, column) < len(found.heads) and np.isfinite(found.values[row, column]):
            return row, column
    row, column = np.unravel_index(np.nan_to_num(found.values).argmax(), found.values.shape)
    return int(row), int(column)


def _map(found: Composition, pair: Pair) -> None:
    """All pairs, without the rows of the last layer and the columns of the first, which have none."""
    names = [_name(head) for head in found.heads]
    n_first = sum(layer == found.heads[0][0] for layer, _ in found.heads)
    shown = found.values[:-n_first, n_first:]
    _, chance, _ = found.by_chance

    def pick(row: int, column: int) -> None:
        if np.isfinite(shown[row, column]):
            controls.put({"pair": f"{row}.{column + n_first}"})

    best = np.argsort(-np.nan_to_num(shown), axis=None, kind="stable")[:8].tolist()
    cells = [divmod(index, shown.shape[1]) for index in best]
    show_cells(
        figures.composition(
            shown, rows=names[:-n_first], columns=names[n_first:], chance=chance, chosen=(pair[0], pair[1] - n_first)
        ),
        key="composition",
        alt="; ".join(
            f"{names[row]} with {names[column + n_first]}: {shown[row, column]:.3f}" for row, column in cells
        ),
        click="chooses the two heads",
        on_pick=pick,
    )


def _name(head: tuple[str, int]) -> str:
    return f"{head[0].split('.')[1]}.{head[1]}"


def _heads(here: Lesson, found: Composition, pair: Pair, way: Way) -> None:
    """Both heads on the sentence, and the later one without what the earlier one wrote."""
    earlier, later = (found.heads[n] for n in pair)
    low, mean, high = found.by_chance
    st.markdown(
        f"Head {_name(earlier)} composes with the {READS[way]} of head {_name(later)}: "
        f"**{found.values[pair]:.3f}**. Random heads of this shape have {mean:.3f}, and 95% of them lie between "
        f"{low:.3f} and {high:.3f}."
    )
    trace = here.trace
    patterns = [trace[f"{layer}.pattern"][head] for layer, head in (earlier, later)]
    titles = [f"head {_name(earlier)}", f"head {_name(later)}"]
    after = None
    if here.model.weights.stacks[later[0].split(".")[0]].readout.norm is None:
        st.info(POST_NORM, icon=icons.NORM)
    else:
        after = _run(here.model, here.text, earlier, later, way)
        patterns.append(after[f"{later[0]}.pattern"][later[1]])
        titles.append(f"{_name(later)} without {_name(earlier)}")
        _in_words(here, after, earlier, later, way)
    tokens = of_queries(trace, later[0]), trace.axes(later[0])[1].tokens
    mask = np.broadcast_to(trace[f"{later[0]}.mask"], patterns[0].shape)
    show_cells(tiles.tiles(patterns, mask, titles=titles, tokens=tokens), key="pair", alt="; ".join(titles))
    _links(earlier, later)


@shared
def _run(model: ZooModel, text: str, earlier: tuple[str, int], later: tuple[str, int], way: Way) -> Trace:
    """A run in which the later head does not read what the earlier one wrote."""
    weights = model.weights.stacks[later[0].split(".")[0]]
    edits = removals(models.trace(model, text), earlier, later, way, weights)
    return models.run(model, text, edits, sites=(f"{later[0]}.pattern", f"{later[0]}.mask"))


def _in_words(here: Lesson, after: Trace, earlier: tuple[str, int], later: tuple[str, int], way: Way) -> None:
    """How much of the later head's attention moves, and what becomes of induction where a token comes again."""
    site = f"{later[0]}.pattern"
    old, new = (run[site][later[1]] for run in (here.trace, after))
    moved = float(np.abs(old - new).sum(axis=-1).mean()) / 2
    said = (
        f"Without what head {_name(earlier)} wrote in its {READS[way]}, head {_name(later)} moves "
        f"**{per_cent(moved)}** of its attention."
    )
    before, now = (float(layer_scores(run)[later[0]]["induction"][later[1]]) for run in (here.trace, after))
    if np.isfinite(before):
        said += (
            f" Where a token comes again, it gave **{per_cent(before)}** to what followed it before, and then "
            f"**{per_cent(now)}**."
        )
    st.markdown(said)


def _links(earlier: tuple[str, int], later: tuple[str, int]) -> None:
    """Buttons that set the sidebar to one of the heads."""
    for column, head in zip(st.columns(2), (earlier, later), strict=True):
        column.button(
            f"Choose head {_name(head)}",
            key=f"choose_{_name(head)}",
            on_click=controls.look_at,
            args=head,
            width="stretch",
        )
