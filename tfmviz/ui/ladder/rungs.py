"""The four models of the page, and what they predict on the reader's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.predictions import softmax
from tfmviz.analysis.reach import Predict
from tfmviz.counting import pruned
from tfmviz.counting.kneser_ney import NGramModel
from tfmviz.places import PROJECT
from tfmviz.record.model import AnyModel, Model
from tfmviz.record.trace import Array, Encoding
from tfmviz.ui import controls, models
from tfmviz.ui.cache import read_json, shared

FOLDER = PROJECT / "assets" / "ladder"

TITLES = {"5-gram": "5-gram", "ladder-window": "window", "ladder-rnn": "recurrent", "twins-rope": "transformer"}
"""What the page calls each model, by its name in the files."""

Network = AnyModel | Model


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: what is worked out is kept
class Ladder:
    """The models, which share their tokens. Two ladders are equal only if they are the same object."""

    counted: NGramModel
    window: AnyModel
    recurrent: AnyModel
    transformer: Model

    @property
    def networks(self) -> dict[str, Network]:
        """All but the 5-gram model, by their titles."""
        return {"window": self.window, "recurrent": self.recurrent, "transformer": self.transformer}

    @cached_property
    def predictors(self) -> dict[str, Predict]:
        """For each title, what comes next after texts of the same length."""
        by_network = {title: partial(_after, model) for title, model in self.networks.items()}
        return {"5-gram": partial(pruned.after, self.counted), **by_network}

    def encode(self, text: str) -> Encoding:
        return self.transformer.encode(text)


def _after(model: Network, texts: Array) -> Array:
    return softmax(zoo.experiments.logits_after(model, texts.tolist()))


def ladder() -> Ladder:
    """The four models. If one is missing, says so and stops the run."""
    _, window_name, recurrent_name, transformer_name = TITLES
    window, recurrent = models.earlier(window_name), models.earlier(recurrent_name)
    transformer = models.needed(transformer_name)
    if window is None or recurrent is None or transformer is None:
        st.stop()
    return _joined(window, recurrent, transformer)


@lru_cache(maxsize=1)
def _joined(window: AnyModel, recurrent: AnyModel, transformer: Model) -> Ladder:
    counted = pruned.load(FOLDER / "5-gram.npz")
    return Ladder(counted=counted, window=window, recurrent=recurrent, transformer=transformer)


def measured() -> Mapping[str, Any]:
    """What `scripts.make_ladder` measured on held-out text."""
    return read_json(FOLDER / "measured.json")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reading:
    """What the models predict along a text.

    Attributes:
        p: (model, len, vocab), the probabilities of the token after each position; models in the order of `TITLES`.
    """

    text: Encoding
    p: Array

    @property
    def bits(self) -> Array:
        """−log₂ p of each token but the first: (model, len - 1)."""
        ids = np.array(self.text.ids[1:], dtype=np.int64)
        return -np.log2(self.p[:, np.arange(len(ids)), ids])

    @property
    def n_bytes(self) -> int:
        """Bytes in UTF-8 of all tokens but the first. A token may be one of the bytes of a character."""
        end, first = self.text.offsets[-1][1], self.text.offsets[0]
        is_part = len(self.text) > 1 and self.text.offsets[1] == first
        return len(self.text.text[:end].encode()) - (1 if is_part else len(self.text.text[slice(*first)].encode()))


def read(here: Ladder, text: str) -> Reading:
    """What the models make of the reader's text; a note says if it was cut."""
    found = _read(here, text)
    controls.say_what_was_cut(found.text, "The four models of this page read")
    return found


@shared
def _read(here: Ladder, text: str) -> Reading:
    encoding = here.encode(text)
    longest = len(here.counted.orders) - 1
    contexts = [encoding.ids[max(0, end - longest) : end] for end in range(1, len(encoding) + 1)]
    counted = np.array([here.counted.distribution(context) for context in contexts])
    networks = [softmax(zoo.experiments.values_at(m, "logits", [encoding.ids])[0]) for m in here.networks.values()]
    return Reading(text=encoding, p=np.stack([counted, *networks]))
