"""What every translator that has attention looks at while it writes: the transformer beside the recurrent ones."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis import alignment
from tfmviz.plots import bottleneck as figures
from tfmviz.trace import Array, Trace
from tfmviz.ui import icons, translators
from tfmviz.ui.figures import show_cells
from tfmviz.ui.lesson import Lesson, line
from tfmviz.ui.translating import attention
from tfmviz.ui.translators import SAID, said, source_of, written

FRENCH = "french-english"
"""The model whose language the recurrent translators share."""


def compare(here: Lesson) -> None:
    """A picture for each translator, on the same sentence."""
    recurrent = translators.there() if here.model.name == FRENCH else {}
    if not recurrent:
        st.info(f"The recurrent translators read French, as `{FRENCH}` does. Choose that model.", icon=icons.INFO)
        return
    with line("aligned"):
        which = attention.choose()
    traces = {kind: translators.trace(model, here.text) for kind, model in recurrent.items()}
    pictures = [("transformer", here.trace, attention.crossing(here, here.trace, which), f"transformer, {which}")]
    for kind, trace in traces.items():
        if alignment.has_attention(trace):
            pictures.append((kind, trace, trace["decoder.alpha"], SAID[kind]))
    columns = st.columns(2)
    for n, (key, trace, weights, title) in enumerate(pictures):
        with columns[n % 2]:
            _draw(here, trace, weights, title=title, key=f"aligned_{key}")
    st.markdown(
        "The recurrent translators have one layer and are about a tenth of the transformer's size, so compare where "
        "they look, not how well they write. Where a word comes out wrong, see what was looked at. Their vocabularies "
        "cut words otherwise, so rows and columns differ."
    )


def _draw(here: Lesson, trace: Trace, weights: Array, *, title: str, key: str) -> None:
    tokens = written(trace, here.model.tokenizer.marks.ends)  # all these models end a text with the same mark
    show_cells(
        figures.alignment(weights, title=title, source=source_of(trace), written=tokens, shown=len(tokens)),
        key=key,
        alt=said(weights, source_of(trace), tokens),
    )
