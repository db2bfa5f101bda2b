"""Which model the parts of a page on positions are about: the chosen one, or a twin that has the scheme in question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz.analysis.attention_layer import of_head
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.numbers import counted


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Subject:
    """The model that a part of the page is about, with its run on the reader's sentence.

    Attributes:
        layer: path of a self-attention layer.
        note: why it is not the chosen model or layer; "" where it is.
        here: what the reader has chosen.
    """

    model: Model
    layer: str
    head: int
    trace: Trace
    note: str
    here: Lesson

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.trace.axes(self.layer)[0].tokens

    @property
    def mask(self) -> Array:
        """(len, len), True = may attend."""
        return np.broadcast_to(self.trace[f"{self.layer}.mask"], (len(self.tokens),) * 2)

    @property
    def trained_on(self) -> int:
        """Tokens of the longest text that the model was trained on."""
        return self.model.config.trained_on

    @property
    def query(self) -> int:
        """Position of the token the reader has chosen."""
        return controls.token(self.tokens)

    def of_head(self, site: str) -> Array:
        """A value of the head: `q`, `k`, `rot_q` … (len, d_head), `scores` (len, len)."""
        return of_head(self.trace, self.layer, self.head, site).astype(np.float64)


def subject(here: Lesson, scheme: str) -> Subject | None:
    """The chosen model if it has this scheme, else the twin that has it. If that is missing, says so and gives None."""
    choice = here.choice
    layer = choice.layer.replace("cross_attn", "self_attn")
    own, needs = here.model.config.positions.kind == scheme, f"a model with the position scheme {scheme}"
    there = lesson.stand_in(here, needs, fits=own, instead=f"twins-{scheme}", say=False)
    if there is None:
        return None
    if own:
        crossed = layer != choice.layer
        note = "Cross-attention has no positions, so this is the decoder's self-attention." if crossed else ""
        turning = [path for path in here.model.config.layers if scheme != "rope" or theta_in(here.model, path).any()]
        if turning and layer not in turning:
            still, layer = layer, turning[0]
            note = f"Layer {still.split('.')[1]} rotates nothing, so this is layer {layer.split('.')[1]}."
        return Subject(model=here.model, layer=layer, head=choice.head, trace=here.trace, note=note, here=here)
    lesson.hide("kind")
    config = there.model.config
    index, head = min(choice.layer_index, config.n_layers - 1), min(choice.head, config.attention.n_heads - 1)
    layer = f"decoder.{index}.self_attn"
    return Subject(model=there.model, layer=layer, head=head, trace=there.trace, note=there.note, here=here)


def of_scheme(scheme: str, *parts: Callable[[Subject], object], whose: bool = True) -> Callable[[Lesson], None]:
    """The parts of a tab that are about a model with this scheme, drawn one after the other.

    Args:
        whose: whether to say below which model, layer and head they show.
    """

    def draw(here: Lesson) -> None:
        shown = subject(here, scheme)
        if shown is None:
            return
        for part in parts:
            part(shown)
        if whose:
            say_whose(shown)

    return draw


def say_whose(shown: Subject) -> None:
    """Which model, layer and head the figures are of, and what was left out of the text."""
    layer = shown.layer.split(".")[1]
    st.caption(
        f"{markdown.code(shown.model.name)}, layer {layer}, head {shown.head}, {counted(len(shown.tokens), 'token')}. "
        f"{shown.note}"
    )
    if dropped := shown.trace.axes(shown.layer)[0].n_dropped:
        last = "last one was" if dropped == 1 else f"last {dropped} were"
        st.caption(f"It reads {len(shown.tokens)} tokens at a time; the {last} left out.")


def own_theta(shown: Subject) -> Array:
    """θ_m of the model itself, in this layer: (d_head / 2,)."""
    return theta_in(shown.model, shown.layer)


def theta_in(model: Model, layer: str) -> Array:
    """θ_m of a model's layer: (d_head / 2,)."""
    from tfmviz.positions.rope import own_frequencies

    theta: Array = own_frequencies(model.config, layer).numpy()
    return theta


def own_base(shown: Subject) -> float | None:
    """The base behind `own_theta`; None where no single one tells."""
    import torch

    from tfmviz.positions.rope import base_of

    return base_of(torch.from_numpy(own_theta(shown)))
