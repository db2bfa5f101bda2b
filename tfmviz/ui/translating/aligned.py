"""What every translator that has attention looks at while it writes: the transformer beside the recurrent ones."""

from __future__ import annotations

import streamlit as st

from tfmviz.plots import bottleneck as figures
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import icons, translators
from tfmviz.ui.figures import show_cells
from tfmviz.ui.lesson import Lesson, line
from tfmviz.ui.translating import attention
from tfmviz.ui.translators import SAID, TRANSFORMER, said, source_of, written
from tfmviz.words.numbers import per_cent


def compare(here: Lesson) -> None:
    recurrent = {kind: model for kind, model in translators.there().items() if kind != "none"}
    if here.model.name != TRANSFORMER or not recurrent:
        st.info(
            f"This tab compares `{TRANSFORMER}` with the models `seq2seq-…`, which read French too.", icon=icons.INFO
        )
        return
    with line("aligned"):
        which = attention.choose()
    left, right = st.columns(2)
    with left:
        _draw(here.trace, attention.crossing(here, here.trace, which), title=f"transformer, {which}", key="transformer")
    for n, (kind, model) in enumerate(recurrent.items()):
        trace = translators.trace(model, here.text)
        with (right, left)[n % 2]:
            _draw(trace, trace["decoder.alpha"], title=SAID[kind], key=kind)
    largest = max(model.config.n_parameters for model in recurrent.values())
    st.markdown(
        f"The recurrent translators have at most {per_cent(largest / here.model.config.n_parameters)} of the "
        "transformer's parameters: compare where they look, not how well they write."
    )


def _draw(trace: Trace, weights: Array, *, title: str, key: str) -> None:
    source, tokens = source_of(trace), written(trace)
    show_cells(
        figures.alignment(weights, title=title, source=source, written=tokens, shown=len(tokens)),
        key=f"aligned_{key}",
        alt=said(weights, source, tokens),
    )
