"""The code behind the page, and the same computation in plain numpy to take home."""

from __future__ import annotations

import io
import re
from dataclasses import asdict
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import attention_layer
from tfmviz.ui import inputs
from tfmviz.ui.figures import show_code
from tfmviz.ui.lesson import Lesson


def code(here: Lesson) -> None:
    from tfmviz.analysis import numpy_attention

    if here.weights.is_unusual:
        st.markdown("The NumPy version lacks steps of this model (norms, a cap or φ); here is its own source.")
        show_code(*zoo.attention_code())
        return
    st.markdown("The same in NumPy: download the layer's input and matrices, then run this.")
    st.code(notebook(numpy_attention), language=None, wrap_lines=True)
    inputs.download_button("attention.npz", lambda: arrays(here), "attention.npz", "application/octet-stream")
    show_code(*zoo.attention_code())


def notebook(module: Any) -> str:
    """The numpy version as it stands in its file, and how to call it."""
    import inspect

    source = re.sub(r"  # type: ignore.*", "", inspect.getsource(module).split('"""', 2)[2].strip())
    return f'{source}\n\n\ndata = np.load("attention.npz")\nscores, pattern, z, out = attention(**data)\n'


def arrays(here: Lesson) -> bytes:
    """The arguments of the numpy version for the chosen layer, for `numpy.load`."""
    trace, layer = here.trace, here.choice.layer
    x_q, x_kv = attention_layer.inputs(trace, layer)
    given = asdict(here.weights) | {"is_linear": None, "angles": here.positions.angles, "bias": here.positions.bias}
    given = {name: array for name, array in given.items() if array is not None}
    data = io.BytesIO()
    np.savez_compressed(data, allow_pickle=False, x_q=x_q, x_kv=x_kv, mask=trace[f"{layer}.mask"], **given)
    return data.getvalue()
