from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import streamlit as st
from streamlit.components.v2.bidi_component import serialization
from streamlit.delta_generator import DeltaGenerator

from tfmviz.plots import alt_text
from tfmviz.plots.cells import Axis, Cells, Scale
from tfmviz.plots.charts import Chart, Columns
from tfmviz.plots.lines import Axes, curves
from tfmviz.plots.pairs import pairs
from tfmviz.plots.space import Space, View
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.plots.values import described
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, scripts, side
from tfmviz.views import cells
from tfmviz.views.bars import Bars
from tfmviz.views.beams import Tree
from tfmviz.views.counts import Table, of_columns
from tfmviz.views.shared import style
from tfmviz.words import markdown

# No view's data hold a table. To ask whether they do, Streamlit would import pandas before the first picture.
serialization.is_dataframe_like = lambda _: False  # type: ignore[attr-defined, assignment]

LETTERS_PROJECTED = 18
"""Pixels of the smallest letters on a projector; see `projected.css`."""


def theme() -> Theme:
    """Colours of light or dark mode, with larger letters on a projector."""
    mode = DARK if st.context.theme.type == "dark" else LIGHT
    return replace(mode, letters=LETTERS_PROJECTED) if st.session_state.get("projected") else mode


def seen_from(line: DeltaGenerator, first: View = "a corner") -> View:
    """Draws the choice of a viewpoint in space, for those who cannot drag the figure."""
    chosen: View | None = inputs.segmented_control(
        "Seen from", get_args(View), default=first, key="seen_from", required=True, line=line
    )
    return chosen or first


Drawing = Chart | Space | Cells | Table | Tree | Bars


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Figure:
    """A figure of a page. See `views/shared/where.ts`, too.

    Attributes:
        key: its name on the page and of saved files; letters, digits, `_` and `-`.
        title: stands above it, where the drawing has none (cells and tables have).
        alt: for screen readers, where that says more than `plots.alt_text` finds in marks and the browser in cells; a
            tree and a space, where they find nothing, need it.
        click: the effect of a click on a cell, such as "choose its head".
        linked: keys of pictures of cells that follow the pointer on this one; see `cells.Axis.places`.
        follows: the picture of cells next to it has the same scale: one colour bar and one hint are enough.
        on_pick: gets row and column of a clicked cell, the row of a table, the tokens of a branch of a tree.
    """

    key: str
    drawing: Drawing
    title: str = ""
    alt: str = ""
    click: str = ""
    linked: Sequence[str] = ()
    follows: bool = False
    on_pick: Callable[..., None] | None = None

    def __post_init__(self) -> None:
        if not (self.alt or isinstance(self.drawing, Chart | Cells | Table | Bars)):
            raise ValueError(f"{self.key} needs words for those who cannot see it.")

    def draw(self) -> None:
        match self.drawing:
            case Cells() as picture:
                shown = picture.without_bar() if self.follows else picture
                packed = cells.payload(shown, name=self.key, alt=self.alt, click=self.click, linked=self.linked)
                self._mount("cells", packed, lambda cell: _cell(picture, cell))
            case Table() as table:
                self._mount("counts", table.payload(), lambda row: _row(table, row))
            case Tree() as tree:
                data = tree.payload(alt=self.alt, picks=self.on_pick is not None)
                self._mount("beams", data, lambda n: _ids(tree, n))
            case Bars() as shares:
                with st.container(gap=None):  # a title of its own would come below the bars, as words do
                    _title(self.title)
                    _component("bars")(key=self.key, data=shares.payload(), width="stretch")
            case chart:
                with st.container(key=self.key, gap=None):
                    _title(self.title)
                    if isinstance(chart, Chart):
                        _chart(chart, self.key, self.alt or alt_text.of_chart(chart), self.title)
                    else:
                        _space(chart, self.key, self.alt)

    def _mount(
        self,
        name: str,
        data: bytes | dict[str, Any],
        read: Callable[[Any], tuple[Any, ...] | None],
    ) -> None:
        def report() -> None:
            if self.on_pick and (picked := read(st.session_state[self.key]["picked"])) is not None:
                self.on_pick(*picked)

        _component(name)(key=self.key, data=data, on_picked_change=report)


def show(key: str, drawing: Drawing, *, hint: str = "", **how: Any) -> None:
    """Draws any figure; in a comparison it waits for its partner. `how`: see `Figure`."""
    figure = Figure(key=key, drawing=drawing, **how)
    if (drawn := side.now()) is None:
        figure.draw()
    else:
        drawn.figures[key] = st.container(), figure
    if hint:
        st.caption(hint)


def show_table(
    key: str,
    *,
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    on_pick: Callable[[int], None] | None = None,
    **look: Any,
) -> None:
    show(key, Table(caption=caption, columns=columns, rows=rows, **look), on_pick=on_pick)


def show_columns(key: str, columns: Mapping[str, Sequence[str]], *, caption: str, low: bool = False) -> None:
    show(key, of_columns(columns, caption=caption, low=low))


def show_matrix(
    key: str,
    values: Array,
    rows: Axis,
    columns: Axis,
    scale: Scale,
    *,
    click: str = "",
    follows: bool = False,
    on_pick: Callable[[int, int], None] | None = None,
    **look: Any,
) -> None:
    """Draws the only matrix of a picture, (row, column); see `Cells` and `Figure`."""
    show(key, Cells(values[None], rows, columns, scale, **look), click=click, follows=follows, on_pick=on_pick)


def show_pairs(key: str, tokens: Sequence[str], one: Array, other: Array, *, heading: str = "", **look: Any) -> None:
    """Draws two bars for every token; see `pairs`."""
    show(key, pairs(tokens, one, other, theme=theme(), **look), title=heading)


def show_curves(
    key: str,
    points: Mapping[str, tuple[Array, Array]],
    axes: Axes,
    tooltips: Callable[[str, float, float], str],
    *,
    title: str = "",
    **look: Any,
) -> None:
    """Draws a line for each name; see `curves`."""
    show(key, curves(points, axes, tooltips, theme=theme(), **look), title=title)


def result(text: str) -> None:
    """States a figure's result, with live numbers (Markdown).

    The first sentence stands above the figure and its controls, wherever in a tab this is called; see `page.css`.
    """
    first, others = markdown.first_sentence(text)
    st.markdown(f"> {first}")
    if others:
        st.markdown(others)


def _cell(picture: Cells, at: Mapping[str, int]) -> tuple[int, int] | None:
    _, n_rows, n_columns = picture.matrices.shape
    row, column = at["row"], at["column"]
    return (row, column) if 0 <= row < n_rows and 0 <= column < n_columns else None


def _row(table: Table, row: int) -> tuple[int] | None:
    return (row,) if 0 <= row < len(table.rows) else None


def _ids(tree: Tree, n: int) -> tuple[tuple[int, ...]] | None:
    if n >= len(tree.nodes):
        return None
    return (tree.nodes[n].ids if n >= 0 else (),)


def _title(title: str) -> None:
    if title:
        st.markdown(f"**{markdown.plain(title)}**")


def _chart(chart: Chart, key: str, alt: str, title: str) -> None:
    # Not `alt=`: Streamlit puts it into the specification, and the browser would build the chart anew each time.
    about = title or chart.spec["description"].rstrip(".")
    summary = {"summary": [alt], "values": [json.dumps(described(chart, about))]}
    tables = {name: _arrow(columns) for name, columns in {**chart.data, "summary": summary}.items()}
    spec = {**chart.spec, "datasets": tables, "usermeta": {"key": key}}
    st.vega_lite_chart(spec=spec, theme=None, width="stretch")


def _space(figure: Space, key: str, alt: str) -> None:
    from plotly import graph_objects

    drawn = graph_objects.Figure(figure)
    drawn.layout.meta = {**figure["layout"]["meta"], "alt": alt}
    config = {"toImageButtonOptions": {"filename": key, "scale": 2}}
    st.plotly_chart(drawn, theme=None, config=config, width="stretch")


def _arrow(columns: Columns) -> bytes:
    """Numbers that are not finite become null, which charts leave out.

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
    """Shares the selection with the view next to it; see `views/shared/view_base.ts`.

    Attributes:
        view: the other one's key.
        places: of the tokens of each text, the same on both sides.
        follows: the other one leads, and alone reports the selection.
    """

    view: str
    places: Mapping[str, Sequence[int]]
    follows: bool


def show_view(
    name: str,
    *,
    key: str = "",
    data: bytes | dict[str, Any],
    selection: dict[str, Any],
    on_report: Callable[[dict[str, Any]], None],
    link: Link | None = None,
) -> None:
    """Draws a client-side view of the kind `name`; see `tfmviz.views`.

    The selection travels in a second component, so that a click does not send the data again. Reports are numbered,
    and the selection names the one that it answers: the view ignores an answer to an older report.

    Args:
        key: needed where a page has several of a kind; letters, digits, `_` and `-`.
        on_report: gets the reader's selection in the view.
    """
    key = key or name
    if (drawn := side.now()) is not None:
        link = Link(view=drawn.other(key), places=drawn.places, follows=drawn.is_b)
        key = drawn.key(key)
    leads = link.view if link and link.follows else key
    answered = f"{leads}_sequence"

    is_b = side.is_b()

    def report() -> None:
        if not is_b:  # the selection there is one of B's tokens
            found = st.session_state[key]["selection"]
            st.session_state[answered] = int(found["sequence"])
            on_report(found)

    _component(name)(key=key, data=data, on_selection_change=report)
    answer = {"sequence": st.session_state.get(answered, 0), "view": key}
    if link:
        answer["link"] = {"views": [link.view], "places": link.places, "follows": link.follows}
    _component("selection")(key=f"{key}_selection", data=selection | answer)


def show_choice(name: str, *, key: str = "", data: dict[str, Any], on_pick: Callable[[object], None]) -> None:
    """`on_pick` gets whatever is chosen in the view."""

    key, is_b = side.key(key or name), side.is_b()

    def report() -> None:
        if not is_b:
            on_pick(st.session_state[key]["picked"])

    _component(name)(key=key, data=data, on_picked_change=report)


def show_plain_view(name: str, *, data: Any, key: str = "", width: int | Literal["stretch"] = "stretch") -> None:
    """A view without reports, `width` pixels wide or as wide as there is room."""
    _component(name)(key=side.key(key or name), data=data, width=width)


def show_code(*functions: Callable[..., Any]) -> None:
    """Shows sources in one colour: Streamlit's colours of code cannot be read from the last row."""
    with st.expander("Show the code that computes this", key=side.key("code"), on_change="rerun") as unfolded:
        if unfolded.open:
            for function in functions:
                st.code(inspect.cleandoc(inspect.getsource(function)), language=None, wrap_lines=True)


@cache
def _component(name: str) -> Callable[..., Any]:
    """Registers a view, named by its folder, once per server."""
    return st.components.v2.component(f"tfmviz_{name}", js=scripts.sent(name), css=style(name))
