"""What attention alone can do: average values that are there."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import attention_layer
from tfmviz.analysis.averaging import Average, in_a_plane
from tfmviz.plots.dots import average
from tfmviz.record.trace import Trace
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import per_cent

NOTHING = "nothing"
"""What a head attends to that has a learned sink, as far as it attends to no token."""


def inside(here: Lesson) -> None:
    """The chosen head's values, and what it writes for the chosen token: never outside of them."""
    queries, keys = (axis.tokens for axis in here.trace.axes(here.choice.layer))
    if not np.isfinite(here.trace[f"{here.choice.layer}.z"]).all():
        return  # there is nothing to average
    found, seen = of_head(here.trace, here.choice.layer, here.choice.head, here.query)
    more = [NOTHING] * (len(found.places) - len(seen))
    tokens, said = [keys[at] for at in seen] + more, quoted(keys)
    names = [said[at] for at in seen] + more
    asks = markdown.plain(quoted(queries)[here.query])
    best = int(found.weights.argmax())
    st.markdown(
        f"**A head can only average.** Whatever its weights, what it writes for {asks} (cross) stays inside the area "
        f"of the values; {markdown.plain(names[best])} pulls hardest, with weight {per_cent(found.weights[best])}. "
        "Without feed-forward layers a model only adds such averages, transformed by matrices and norms."
    )
    if len(found.around) < 3:
        st.caption("These values span no area. Type more words, or choose a later token.")
        return
    said = [
        *(f"{name}: {per_cent(weight)}" for name, weight in zip(names, found.weights, strict=True)),
        "their average",
    ]
    points = found.places, found.weights, found.middle
    show("average", average(*points, around=found.around, tokens=tokens, said=said, theme=theme()))
    st.caption(
        f"Layer {here.choice.layer_index}, head {here.choice.head}, in the plane of the first two principal components "
        f"({per_cent(found.seen)} of the variance)."
    )


def of_head(trace: Trace, layer: str, head: int, query: int) -> tuple[Average, list[int]]:
    """The average that a head writes for a token, and the keys that this token may look at."""
    seen = trace[f"{layer}.mask"][query].nonzero()[0].tolist()
    values = attention_layer.of_head(trace, layer, head, "v")
    return in_a_plane(values[seen], trace[f"{layer}.pattern"][head, query, seen]), seen
