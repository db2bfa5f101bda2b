"""One token through the layer, and the same layer at another position."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis import feed_forward
from tfmviz.analysis.feed_forward import Part
from tfmviz.plots.cells import Axis, Cells, named, signed
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import controls, inputs, models
from tfmviz.ui.cache import shared
from tfmviz.ui.feed_forward.subject import Subject
from tfmviz.ui.figures import result, show, show_code, show_view
from tfmviz.views import feed_forward as view
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import tiny

COORDINATES = 64
"""Of a vector that are drawn."""

PLACE = re.compile(r"(x|gate|pre|post|out|before|after)\.([0-9]{1,6})")


def through(subject: Subject) -> None:
    """The picture in the browser, and the number that is explained."""
    here, site, token = subject.here, subject.site, subject.token
    part, index = chosen(subject)
    found = {name: values[token] for name, values in feed_forward.parts(here.trace, site).items()}
    total = feed_forward.sum_of(subject.weights, found, part, index)
    show_view(
        "feed_forward",
        js=view.JS,
        css=view.CSS,
        data=_payload(here.model, here.text, site, token, here.edits),
        selection={
            "at": view.place(part, index),
            "sum": view.answer(here.trace, site, token, total, title=here.model.name),
        },
        on_report=follow,
    )
    controls.token_box(subject.tokens, token)
    in_words(subject, found)


def chosen(subject: Subject) -> tuple[Part, int]:
    """The number that the address names, else the strongest neuron's sum."""
    asked = PLACE.fullmatch(st.query_params.get("number", ""))
    if asked is None or (asked[1] == "gate" and subject.weights.W_gate is None):
        return "pre", int(feed_forward.strongest(subject.post, 1)[0])
    part: Part = next(name for name in feed_forward.PARTS if name == asked[1])
    size = len(subject.post) if part in ("gate", "pre", "post") else len(subject.weights.b_out)
    return part, min(int(asked[2]), size - 1)


def follow(report: dict[str, Any]) -> None:
    """Puts the chosen number into the address."""
    if PLACE.fullmatch(at := str(report["at"])):
        controls.put({"number": at})


@shared
def _payload(model: Model, text: str, site: str, token: int, edits: tuple[Edit, ...]) -> bytes:
    trace, stack = models.trace(model, text, edits), site.split(".")[0]
    source = trace.source if stack == "encoder" and trace.source else trace.target
    weights = model.weights.stacks[stack].feed_forward[site]
    return view.payload(trace, site, token, weights, label=quoted(source.tokens)[token], title=model.name)


def in_words(subject: Subject, found: dict[Part, Array]) -> None:
    """How wide the layer is, how many neurons are on, and how much the output adds."""
    weights = subject.weights
    d, d_ff = weights.W_in.shape
    matrices = (weights.W_in, weights.b_in, weights.W_out, weights.b_out, weights.W_gate, weights.b_gate)
    n_weights = sum(array.size for array in matrices if array is not None)
    on = int((found.get("gate", found["pre"]) > 0).sum())
    what = "gates" if "gate" in found else "values before the function"
    before, after = (float(np.linalg.norm(found[name])) for name in ("before", "after"))
    post_norm = subject.here.model.config.norm.position == "post"
    norm = ", before the norm that follows rescales it" if post_norm else ""
    result(
        f"From d = {d:,} to d_ff = {d_ff:,} coordinates, **{d_ff / d:.3g} times** as many, and back, with "
        f"{n_weights:,} parameters. For {subject.name} **{on:,} of {d_ff:,}** {what} are above 0. The layer's output "
        f"takes the norm of the stream from {before:.2f} to {after:.2f}{norm}."
    )


def moved(subject: Subject) -> None:
    """The layer's input with one word at another position, and what the layer makes of it."""
    here, last = subject.here, len(subject.tokens) - 1
    if last < 1:
        st.info("Type at least two words.")
        return
    figure = st.container()
    left, right = st.columns([1, 2])
    with left:
        controls.token_box(subject.tokens, subject.token)
    with right:
        to = inputs.slider("Move it to position (0: the front)", 0, last, 0, key="place")
    order = np.insert(np.delete(np.arange(last + 1), subject.token), to, subject.token)
    out = here.trace[f"{subject.site}.out"]
    again = _again(subject, tuple(order.tolist()))
    both = np.stack([out[subject.token], again[to]])[:, :COORDINATES]
    rows = [f"{visible(subject.tokens[subject.token])} at {at}" for at in (subject.token, to)]
    values, whole = np.stack([*both, both[1] - both[0]]), out.shape[1]
    n = values.shape[1]
    columns = Axis(f"the first {n} of {whole} coordinates" if n < whole else "coordinate")
    scale = signed(values, "output of the layer", root=True)
    with figure:
        show("moved", Cells(values[None], named([*rows, "difference"]), columns, scale, row_height=56))
    if to == subject.token:
        st.markdown("Choose another position.")
        return
    apart = float(np.abs(again - out[order]).max())
    result(f"Every token's output has moved with it, and is otherwise the same, to within {tiny(apart)}.")


def _again(subject: Subject, order: tuple[int, ...]) -> Array:
    """What the layer writes if its input stands in another order, in float64."""
    x = feed_forward.parts(subject.here.trace, subject.site)["x"][list(order)]
    return feed_forward.run(subject.weights, x.astype(np.float64))


def code() -> None:
    show_code(feed_forward.run)
