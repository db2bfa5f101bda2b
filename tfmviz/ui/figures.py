"""Putting figures and components on a page."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.plots.cells import Cells
from tfmviz.plots.charts import Chart, Columns
from tfmviz.plots.space import Space, View
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.plots.values import described
from tfmviz.ui import scripts
from tfmviz.views import bars, beams, cells, counts
from tfmviz.views.counts import Table
from tfmviz.views.shared import RELAY_JS
from tfmviz.words.numbers import per_cent

LETTERS_PROJECTED = 18
"""Pixels of the smallest letters on a projector; see `projected.css`."""


def theme() -> Theme:
    """The look of figures in the light or dark mode of the reader's browser, with larger letters on a projector."""
    mode = DARK if st.context.theme.type == "dark" else LIGHT
    return replace(mode, letters=LETTERS_PROJECTED) if st.session_state.get("projected") else mode


def show(chart: Chart, *, key: str, alt: str) -> None:
    """Draws a small chart.

    Args:
        alt: what it shows, in words, for screen readers.
    """
    # Not `alt=`: Streamlit puts it into the specification, and the browser would build the chart anew each time.
    summary = {"summary": [alt], "values": [json.dumps(described(chart, chart.spec["description"].rstrip(".")))]}
    tables = {name: _arrow(columns) for name, columns in {**chart.data, "summary": summary}.items()}
    spec = {**chart.spec, "datasets": tables, "usermeta": {"key": key}}
    st.container(key=key).vega_lite_chart(spec=spec, theme=None, width="stretch")


def seen_from(line: DeltaGenerator, first: View = "a corner") -> View:
    """Asks where a figure in space is seen from, for those who cannot turn it by hand."""
    chosen: View | None = line.segmented_control(
        "Seen from", get_args(View), default=first, key="seen_from", bind="query-params", required=True
    )
    return chosen or first


def show_space(figure: Space, *, key: str, alt: str) -> None:
    """Draws a figure that the reader turns. The bar below it comes from `views/charts`, as below every chart.

    Args:
        alt: what it shows, in words, for screen readers.
    """
    from plotly import graph_objects

    drawn = graph_objects.Figure(figure)
    drawn.layout.meta = {**figure["layout"]["meta"], "alt": alt}
    config = {"toImageButtonOptions": {"filename": key, "scale": 2}}
    st.container(key=key).plotly_chart(drawn, theme=None, config=config, width="stretch")


def show_cells(
    picture: Cells,
    *,
    key: str,
    alt: str,
    click: str = "",
    on_pick: Callable[[int, int], None] | None = None,
    linked: Sequence[str] = (),
    follows: bool = False,
) -> None:
    """Draws a picture made of cells.

    Args:
        alt: what it shows, in words, for screen readers.
        click: what a click on a cell does, as in "sets layer and head".
        on_pick: gets row and column of a cell that was clicked.
        linked: keys of pictures that follow the pointer on this one; see `cells.Axis.places`.
        follows: whether a picture beside it has the same scale: one colour bar and one hint are enough.
    """
    _, n_rows, n_columns = picture.matrices.shape

    def report() -> None:
        cell = st.session_state[key]["picked"]
        if on_pick and 0 <= cell["row"] < n_rows and 0 <= cell["column"] < n_columns:
            on_pick(cell["row"], cell["column"])

    if follows:
        title = picture.titles or (picture.scale.title,)
        picture = replace(picture, scale=replace(picture.scale, title=""), titles=title)
    data = cells.payload(picture, name=key, alt=alt, click=click, linked=linked)
    _component("cells", cells.JS, cells.CSS)(key=key, data=data, on_picked_change=report)


def show_table(table: Table, *, key: str, on_pick: Callable[[int], None] | None = None) -> None:
    """Draws a table of text whose rows can be chosen.

    Args:
        on_pick: gets the index of a row that was clicked.
    """

    def report() -> None:
        row = st.session_state[key]["picked"]
        if on_pick and 0 <= row < len(table.rows):
            on_pick(row)

    _component("counts", counts.JS, counts.CSS)(key=key, data=table.payload(), on_picked_change=report)


def show_columns(columns: Mapping[str, Sequence[str]], *, caption: str, key: str, low: bool = False) -> None:
    """Draws a table from its columns; the first names the rows, the others are numbers as they are to be read.

    Streamlit's own data frame writes its cells for screen readers 200 ms after the rest, and brings a megabyte along.
    """
    rows = list(zip(*columns.values(), strict=True))
    show_table(Table(caption=caption, columns=list(columns), rows=rows, low=low), key=key)


def show_tree(
    nodes: Sequence[beams.Node],
    *,
    key: str,
    alt: str,
    chosen: tuple[int, ...] | None = None,
    on_pick: Callable[[tuple[int, ...]], None] | None = None,
) -> None:
    """Draws the tree of a beam search.

    Args:
        alt: what it shows, in words, for screen readers.
        chosen: the tokens of the continuation that is chosen.
        on_pick: gets the tokens of one that was clicked, () where the choice was taken back.
    """

    def report() -> None:
        n = st.session_state[key]["picked"]
        if on_pick and n < len(nodes):
            on_pick(nodes[n].ids if n >= 0 else ())

    data = beams.payload(nodes, alt=alt, picks=on_pick is not None, chosen=chosen)
    _component("beams", beams.JS, beams.CSS)(key=key, data=data, on_picked_change=report)


def _arrow(columns: Columns) -> bytes:
    """Columns as Streamlit sends them to charts; numbers that are not finite become null, which charts leave out.

    The buffers are made here: `pyarrow.array` would import pandas, for which a first reader would wait.
    """
    import pyarrow as pa

    arrays = []
    for values in columns.values():
        if len(values) and isinstance(values[0], str):
            texts = [str(text).encode() for text in values]
            ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
            buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
            arrays.append(pa.Array.from_buffers(pa.string(), len(texts), buffers))
        else:
            numbers = np.ascontiguousarray(values, dtype=np.float64)
            is_known = np.packbits(np.isfinite(numbers), bitorder="little")
            buffers = [pa.py_buffer(is_known), pa.py_buffer(numbers)]
            arrays.append(pa.Array.from_buffers(pa.float64(), len(numbers), buffers))
    batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """What ties a view to the one beside it, in which the same is chosen; see `views/shared/beside.ts`.

    Attributes:
        view: the other one's key.
        places: of the tokens of each text, which are the same on both sides.
        follows: whether the other one leads, and alone reports what is chosen.
    """

    view: str
    places: Mapping[str, Sequence[int]]
    follows: bool


def show_view(
    name: str,
    *,
    key: str = "",
    js: str,
    css: str,
    data: bytes | dict[str, Any],
    selection: dict[str, Any],
    on_report: Callable[[dict[str, Any]], None],
    link: Link | None = None,
) -> None:
    """Draws a client-side view; see `tfmviz.views.shared`.

    The selection travels in a second component, so that a click does not send the data again. Reports are numbered,
    and the selection says which one it answers: the view ignores an answer to an older report.

    Args:
        name: of the kind of view.
        key: of this one, where a page has several of a kind; letters, digits, `_` and `-`.
        selection: what is chosen, as Python knows it.
        on_report: gets what the reader has chosen in the view.
        link: what ties it to another view of its kind on the page.
    """
    key = key or name
    leads = link.view if link and link.follows else key
    answered = f"{leads}_sequence"

    def report() -> None:
        found = st.session_state[key]["selection"]
        st.session_state[answered] = int(found["sequence"])
        on_report(found)

    _component(name, js, css)(key=key, data=data, on_selection_change=report)
    answer = {"sequence": st.session_state.get(answered, 0), "view": key}
    if link:
        answer["link"] = {"views": [link.view], "places": link.places, "follows": link.follows}
    _component("selection", RELAY_JS)(key=f"{key}_selection", data=selection | answer)


def show_choice(name: str, *, js: str, css: str, data: dict[str, Any], on_pick: Callable[[object], None]) -> None:
    """Draws a client-side view that reports what is chosen in it: `on_pick` gets that, whatever it is."""

    def report() -> None:
        on_pick(st.session_state[name]["picked"])

    _component(name, js, css)(key=name, data=data, on_picked_change=report)


def show_plain_view(
    name: str, *, js: str, css: str, data: Any, key: str | None = None, width: int | Literal["stretch"] = "stretch"
) -> None:
    """Draws a client-side view that reports nothing, `width` pixels wide or as wide as there is room."""
    _component(name, js, css)(key=key or name, data=data, width=width)


def show_bars(labels: Sequence[str], probabilities: Sequence[float], *, key: str) -> None:
    """Probabilities of tokens, the most probable first, as bars labelled in per cent."""
    show_plain_view("bars", js=bars.JS, css=bars.CSS, data=rows_of_bars(labels, probabilities), key=key)


def show_pairs(
    labels: Sequence[str], one: Sequence[float], other: Sequence[float], names: tuple[str, str], *, key: str
) -> None:
    """Probabilities of tokens in two runs, which have names, as two bars for each."""
    rows = [[label, a, per_cent(a), b, per_cent(b)] for label, a, b in zip(labels, one, other, strict=True)]
    show_plain_view("bars", js=bars.JS, css=bars.CSS, data={"series": names, "rows": rows}, key=key)


def rows_of_bars(labels: Sequence[str], probabilities: Sequence[float]) -> list[list[Any]]:
    """What the view of such bars gets."""
    return [[label, p, per_cent(p)] for label, p in zip(labels, probabilities, strict=True)]


def show_code(*functions: Callable[..., Any]) -> None:
    """Shows the source of functions, in plain ink: Streamlit's colours of code cannot be read from the last row."""
    with st.expander("Show the code that computes this", key="code", on_change="rerun") as unfolded:
        if unfolded.open:
            for function in functions:
                st.code(inspect.cleandoc(inspect.getsource(function)), language=None, wrap_lines=True)


@cache
def _component(name: str, _js: str, _css: str | None = None) -> Callable[..., Any]:
    """Registers a component once per server."""
    return st.components.v2.component(f"tfmviz_{name}", js=scripts.sent(_js), css=_css)
