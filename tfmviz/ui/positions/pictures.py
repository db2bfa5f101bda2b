from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.predictions import softmax
from tfmviz.plots.cells import Axis, Cells, Frame, amounts, share
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, lesson, models, url
from tfmviz.ui.cache import cached_for_all, read_json
from tfmviz.ui.figures import show, show_view
from tfmviz.views import picture as view
from tfmviz.views.bars import Bars
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal, per_cent
from tfmviz.zoo import ModelUnavailable

if TYPE_CHECKING:
    from tfmviz.zoo.pictures import PictureReader


KINDS = {"trained positions": "learned", "no positions": "none"}
"""The page's names of the two models."""


def digits() -> None:
    """A digit, from the set or drawn by hand, its patches in order or shuffled, and both models' answers."""
    try:
        held_out, labels = _held_out()
        both = {name: _model(kind) for name, kind in KINDS.items()}
    except ModelUnavailable as error:
        st.info(markdown.plain(str(error)), icon=icons.INFO)
        return
    drawn = view.from_text(url.text("drawn"), zoo.pictures.SIDE)
    with lesson.control_row("digit"):
        last = len(labels) - 1
        n = inputs.slider(f"Picture, 0 to {last}", 0, last, 0, key="digit", on_change=url.put, args=({"drawn": ""},))
        shuffled = inputs.slider("Shuffle", 0, 20, 0, key="shuffle", help="Seed of the order; 0 keeps the picture.")
        kind = inputs.segmented_control("Model", list(KINDS), default=next(iter(KINDS)), key="reader", required=True)
    shown = held_out[n] if drawn is None else drawn / zoo.pictures.GREYS
    count = zoo.pictures.N_PATCHES
    order = np.random.default_rng(shuffled).permutation(count) if shuffled else np.arange(count)
    read = {name: zoo.pictures.read_picture(model, shown.astype(np.float32), order) for name, model in both.items()}

    def take(report: dict[str, Any]) -> None:
        if view.from_text(cells := str(report["cells"]), zoo.pictures.SIDE) is not None:
            url.put({"drawn": cells})

    left, middle, right = st.columns([1, 1, 2])
    with left:
        what = "Drawn by hand" if drawn is not None else f"A “{labels[n]}” from the test set"
        show_view(
            "picture",
            data={"side": zoo.pictures.SIDE, "patch": zoo.pictures.PATCH, "title": what},
            selection={"cells": view.to_text(np.round(shown * zoo.pictures.GREYS).astype(int))},
            on_report=take,
        )
        measured = read_json(zoo.pictures.FOLDER / "measured.json")
        learned, none = (
            [per_cent(float(measured[kind][order])) for order in ("in order", "shuffled")] for kind in KINDS.values()
        )
        st.markdown(
            f"Of {len(labels)} held-out digits the model with positions identifies **{learned[0]}**, or {learned[1]} "
            f"with shuffled patches; without positions it is **{none[0]}** and {none[1]}. A convolution knows "
            "neighbours from the start; that **inductive bias** is gone."
        )
    with middle:
        _as_read(shown, order)
    with right:
        says = {name: softmax(values["logits"]) for name, values in read.items()}
        answers = (f"with {name} says **{p.argmax()}** ({per_cent(float(p.max()))})" for name, p in says.items())
        st.markdown(f"{what}. The model {', the one '.join(answers)}.")
        p = says[kind]
        show("digit_bars", Bars(labels=[str(digit) for digit in range(len(p))], shares=[p.tolist()]))
        _looks(read[kind], both[kind], shown)


def _as_read(shown: Array, order: Array) -> None:
    across, patch = zoo.pictures.ACROSS, zoo.pictures.PATCH
    cut = shown.reshape(across, patch, across, patch).swapaxes(1, 2).reshape(-1, patch, patch)
    moved = cut[order].reshape(across, across, patch, patch).swapaxes(1, 2).reshape(shown.shape)
    axis = Axis(title="", names=())
    scale = amounts(moved, "as the model reads it")
    picture = Cells(matrices=moved[None], rows=axis, columns=axis, scale=scale, square=True)
    show("shuffled_digit", picture, alt=f"Patches in the order {', '.join(map(str, order.tolist()))}")


def _looks(values: dict[str, Array], model: PictureReader, shown: Array) -> None:
    layers = range(model.config.n_layers)
    layer = inputs.segmented_control("Layer", layers, default=layers[-1], key="reader_layer", required=True)
    pattern = values[f"encoder.{layer}.self_attn.pattern"][:, 0]  # (head, 1 + patch), of the [class] token
    rows, columns = (
        Axis(title="", names=(), spoken=[f"{line} {n}" for n in range(zoo.pictures.ACROSS)])
        for line in ("row", "column")
    )
    # The outline of the digit: lines between inked cells and others, in patches from the corner.
    paper, long = np.pad(shown > 1 / 4, 1), 1 / zoo.pictures.PATCH
    upright = np.argwhere(paper[1:-1, 1:] != paper[1:-1, :-1]) * long
    level = np.argwhere(paper[1:, 1:-1] != paper[:-1, 1:-1]) * long
    outline = (
        *(Frame(top=y, left=x, bottom=y + long, right=x, colour="accent") for y, x in upright.tolist()),
        *(Frame(top=y, left=x, bottom=y, right=x + long, colour="accent") for y, x in level.tolist()),
    )
    show(
        "digit_looks",
        Cells(
            matrices=pattern[:, 1:].reshape(-1, zoo.pictures.ACROSS, zoo.pictures.ACROSS),
            rows=rows,
            columns=columns,
            scale=share(),
            titles=tuple(f"head {head}" for head in range(len(pattern))),
            frames=outline,
            square=True,
            across=4,
        ),
    )
    own = ", ".join(decimal(float(row[0])) for row in pattern)
    st.caption(f"Where [class] looks in each head; its attention to itself: {own}.")


@cached_for_all
def _model(kind: str) -> PictureReader:
    models.import_torch()
    return zoo.pictures.load(kind)


@cached_for_all
def _held_out() -> tuple[Array, Array]:
    return zoo.pictures.digits().held_out
