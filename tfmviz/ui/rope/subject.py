from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.analysis import attention_layer
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import lesson
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.numbers import counted


def subject(ctx: PageContext, scheme: str) -> PageContext | None:
    """The lesson on self-attention with this scheme, of the chosen model or of the twin; a note and None without one.

    Its note gives the reason for another model or layer than the chosen one.
    """
    choice, config = ctx.choice, ctx.model.config
    own, needs = config.positions.kind == scheme, f"a model with the position scheme {scheme}"
    ctx_b = lesson.fallback_model(ctx, needs, fits=own, instead=f"twins-{scheme}", say=False)
    if ctx_b is None:
        return None
    if not own:
        lesson.hide("kind")
        config = ctx_b.model.config
        index, head = min(choice.layer_index, config.n_layers - 1), min(choice.head, config.attention.n_heads - 1)
        return replace(ctx_b, choice=replace(choice, layer=f"decoder.{index}.self_attn", head=head))
    layer, note = choice.layer.replace("cross_attn", "self_attn"), ""
    if layer != choice.layer:
        note = "Cross-attention has no positions, so this is the decoder's self-attention."
    turning = [path for path in config.layers if scheme != "rope" or theta_in(ctx.model, path).any()]
    if turning and layer not in turning:
        still, layer = layer, turning[0]
        note = f"Layer {still.split('.')[1]} rotates nothing, so this is layer {layer.split('.')[1]}."
    return replace(ctx, choice=replace(choice, layer=layer), note=note) if note else ctx


def of_scheme(
    scheme: str, *parts: Callable[[PageContext], object], whose: bool = True
) -> Callable[[PageContext], None]:
    """The parts of a tab on a model with this scheme, drawn one after the other.

    Args:
        whose: name the model, layer and head below, and what was left out of the text.
    """

    def draw(ctx: PageContext) -> None:
        shown = subject(ctx, scheme)
        if shown is None:
            return
        for part in parts:
            part(shown)
        if not whose:
            return
        read = shown.trace.axes(shown.choice.layer)[0]
        st.caption(
            f"{markdown.code(shown.model.name)}, layer {shown.choice.layer_index}, head {shown.choice.head}, "
            f"{counted(len(read), 'token')}. {shown.note}"
        )
        if dropped := read.n_dropped:
            last = "last one was" if dropped == 1 else f"last {dropped} were"
            st.caption(f"It reads {len(read)} tokens at a time; the {last} left out.")

    return draw


def tokens_of(shown: PageContext) -> tuple[str, ...]:
    return shown.trace.axes(shown.choice.layer)[0].tokens


def mask_of(shown: PageContext) -> Array:
    """(len, len), True = may attend."""
    return np.broadcast_to(shown.trace[f"{shown.choice.layer}.mask"], (len(tokens_of(shown)),) * 2)


def of_head(shown: PageContext, site: str) -> Array:
    """A value of the head: `q`, `k`, `rot_q` … (len, d_head), `scores` (len, len)."""
    return attention_layer.of_head(shown.trace, shown.choice.layer, shown.choice.head, site).astype(np.float64)


def own_theta(shown: PageContext) -> Array:
    """(d_head / 2,)."""
    return theta_in(shown.model, shown.choice.layer)


def theta_in(model: Model, layer: str) -> Array:
    """θ_m of a model's layer: (d_head / 2,)."""
    from tfmviz.positions.rope import own_frequencies

    theta: Array = own_frequencies(model.config, layer).numpy()
    return theta


def own_base(shown: PageContext) -> float | None:
    """The base behind `own_theta`; None where there is no single one."""
    import torch

    from tfmviz.positions.rope import base_of

    return base_of(torch.from_numpy(own_theta(shown)))
