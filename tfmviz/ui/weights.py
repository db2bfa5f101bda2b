"""Matrices of a loaded model as numpy arrays, for the analyses that need them. They share the model's memory."""

from __future__ import annotations

from typing import Any

import streamlit as st

from tfmviz.analysis.readout import Norm, Readout, StackWeights
from tfmviz.trace import Array
from tfmviz.ui import models


@st.cache_resource(show_spinner=False, max_entries=16)
def of_stack(name: str, stack: str) -> StackWeights:
    """The matrices of "decoder" or "encoder" of a model."""
    return gather(models.load(name).module, stack)


def gather(module: Any, stack: str) -> StackWeights:
    """The same from one of the modules of `tfmviz.model.transformer`."""
    W_O: dict[str, Array] = {}
    b_O: dict[str, Array] = {}
    norms: dict[str, Norm] = {}
    for index, block in enumerate(module.get_submodule(stack).blocks):
        for part in ("self_attn", "cross_attn", "mlp"):
            if getattr(block, part) is None:
                continue
            site = f"{stack}.{index}.{part}"
            norms[site] = _norm(getattr(block, f"{part}_residual").norm)
            if part != "mlp":
                merge = getattr(block, part).W_O
                W_O[site] = merge.weight.detach().T.unflatten(0, (-1, module.config.d_head)).numpy()
                b_O[site] = merge.bias.detach().numpy()
    last, embedding = module.get_submodule(stack).norm, module.embedding
    W_U = embedding.W_E if embedding.W_U is None else embedding.W_U
    readout = Readout(norm=None if last is None else _norm(last), W_U=W_U.detach().numpy())
    return StackWeights(W_O=W_O, b_O=b_O, norms=norms, readout=readout)


def writer(name: str) -> str:
    """The stack whose stream ends in the logits."""
    return "encoder" if models.load(name).config.architecture == "encoder-only" else "decoder"


def _norm(module: Any) -> Norm:
    """From torch's LayerNorm or RMSNorm; the latter has no β."""
    gain = module.weight.detach().numpy()
    bias = getattr(module, "bias", None)
    return Norm(
        kind="rms" if bias is None else "layer",
        gain=gain,
        bias=0 * gain if bias is None else bias.detach().numpy(),
        eps=module.eps,
    )
