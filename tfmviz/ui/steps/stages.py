from __future__ import annotations

import io
import re
from dataclasses import asdict
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import attention_layer
from tfmviz.constants import ADDRESS_CELL, ADDRESS_STAGE
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import controls, inputs, side, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.controls import Selection
from tfmviz.ui.figures import show_code, show_view
from tfmviz.ui.lesson import PageContext
from tfmviz.views import steps

STAGE = re.compile(ADDRESS_STAGE)

CELL = re.compile(ADDRESS_CELL)


@cached_for_all
def payload(model: Model, text: str, layer: str, head: int, edits: tuple[Edit, ...] = ()) -> bytes:
    ctx = PageContext(choice=Selection(model=model.name, layer=layer, head=head), text=text, model=model, edits=edits)
    return steps.payload(ctx.trace, layer, head, ctx.weights, ctx.positions, title=model.name)


def stages(ctx: PageContext) -> None:
    show_view(
        "steps",
        data=payload(ctx.model, ctx.text, ctx.choice.layer, ctx.choice.head, ctx.edits),
        selection={
            "stage": url.text("stage", STAGE, "sentence"),
            "at": _explained(url.text("at", CELL)),
            "token": None if side.lacks() else ctx.query,
        },
        on_report=follow,
    )


def _explained(at: str) -> str:
    if not at:
        return at
    matrix, key, *others = at.split(".")
    partner = side.partner("to", int(key))
    return ".".join([matrix, "-" if partner is None else str(partner), *others])


def follow(report: dict[str, Any]) -> None:
    parts = {"stage": (STAGE, str(report["stage"])), "at": (CELL, str(report["at"]))}
    controls.remember(int(report["token"]), {key: text for key, (form, text) in parts.items() if form.fullmatch(text)})


def code(ctx: PageContext) -> None:
    from tfmviz.analysis import numpy_attention

    if ctx.weights.is_unusual:
        st.markdown("The NumPy version lacks steps of this model (norms, a cap or φ); here is its own source.")
        show_code(*zoo.attention_code())
        return
    st.markdown("The same in NumPy: download the layer's input and matrices, then run this.")
    st.code(notebook(numpy_attention), language=None, wrap_lines=True)
    inputs.download_button("attention.npz", lambda: arrays(ctx), "attention.npz", "application/octet-stream")
    show_code(*zoo.attention_code())


def notebook(module: Any) -> str:
    """The numpy version's source, and a call of it."""
    import inspect

    source = re.sub(r"  # type: ignore.*", "", inspect.getsource(module).split('"""')[2].strip())
    return f'{source}\n\n\ndata = np.load("attention.npz")\nscores, pattern, z, out = attention(**data)\n'


def arrays(ctx: PageContext) -> bytes:
    """The arguments of the numpy version for the chosen layer, for `numpy.load`."""
    trace, layer = ctx.trace, ctx.choice.layer
    x_q, x_kv = attention_layer.inputs(trace, layer)
    given = asdict(ctx.weights) | {"is_linear": None, "angles": ctx.positions.angles, "bias": ctx.positions.bias}
    given = {name: array for name, array in given.items() if array is not None}
    data = io.BytesIO()
    np.savez_compressed(data, allow_pickle=False, x_q=x_q, x_kv=x_kv, mask=trace[f"{layer}.mask"], **given)
    return data.getvalue()
