"""What the page measures on: a model that predicts the next token, and its predictions of the typed text."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from tfmviz.analysis.calibration import log_softmax
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import controls, icons, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.lesson import Lesson


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Forced:
    """A text that the model reads while it is asked for each next token.

    Attributes:
        model: which predicts.
        reads, targets: (len,), what stands at each place, and what the model should say there.
        ids: (len,), of the targets.
        log_p: (len, vocab), ln P of every entry at each place.
    """

    model: Model
    reads: tuple[str, ...]
    targets: tuple[str, ...]
    ids: tuple[int, ...]
    log_p: Array

    @property
    def losses(self) -> Array:
        """−ln P of each target: (len,)."""
        return -self.log_p[range(len(self.ids)), self.ids]


def forced(here: Lesson, *, from_left: bool = False) -> Forced | None:
    """The typed text with the predictions of a writer; an encoder-decoder predicts what it writes itself.

    None if the text has no next token.

    Args:
        from_left: the writer must see what stands to the left and nothing else, so an encoder-decoder is none.
    """
    kind = here.model.config.architecture
    fits = kind == "decoder-only" if from_left else kind != "encoder-only"
    needs = f"a model that predicts {'each token from those before it alone' if from_left else 'next tokens'}"
    there = lesson.stand_in(here, needs, fits=fits, instead="tiny-english")
    if there is None:
        return None
    found = _forced(there.model, here.text)
    if not found.ids:
        st.info("One token has no next one. Type a longer text.", icon=icons.WRITE)
        return None
    return found


@shared
def _forced(model: Model, text: str) -> Forced:
    trace = models.trace(model, text)
    target = trace.target
    return Forced(
        model=model,
        reads=target.tokens[:-1],
        targets=target.tokens[1:],
        ids=target.ids[1:],
        log_p=log_softmax(trace["logits"][:-1]),
    )


def place(found: Forced) -> int:
    """Which prediction the reader has chosen; until then the one that costs most."""
    chosen = controls.pinned()
    return int(found.losses.argmax()) if chosen is None else min(chosen, len(found.ids) - 1)
