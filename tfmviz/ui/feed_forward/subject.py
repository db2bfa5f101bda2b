"""The layer that the page is about: the feed-forward layer of the chosen layer and stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz.record.trace import Array
from tfmviz.record.weights import FeedForwardWeights
from tfmviz.ui import icons
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Subject:
    """One feed-forward layer and one token.

    Attributes:
        site: path of the layer, such as "decoder.2.mlp".
        tokens: of the text that its stack reads.
        token: position of the chosen one.
    """

    here: Lesson
    site: str
    weights: FeedForwardWeights
    tokens: tuple[str, ...]
    token: int

    @property
    def stack(self) -> str:
        """ "encoder" or "decoder"."""
        return self.site.split(".")[0]

    @property
    def post(self) -> Array:
        """(d_ff,), the neurons of the chosen token, after the function and the gate."""
        return self.here.trace[f"{self.site}.post"][self.token]

    @property
    def name(self) -> str:
        """The chosen token, ready for Markdown."""
        return markdown.plain(quoted(self.tokens)[self.token])

    @property
    def is_read_out(self) -> bool:
        """Whether the vocabulary is read from this stack; an encoder that feeds a decoder is never read out."""
        return self.stack == self.here.model.writes_from


def predicts(here: Lesson) -> bool:
    """Whether the model reads words out of its last vectors; some checkpoints end with these."""
    return "logits" in here.trace


def site_of(here: Lesson) -> str:
    """Path of the feed-forward layer beside the chosen attention."""
    stack, index, _ = here.choice.layer.split(".")
    return f"{stack}.{index}.mlp"


def why_none(here: Lesson) -> str:
    """Why a model has no feed-forward layer to look into."""
    if n_experts := has_experts(here):
        return (
            f"has {n_experts} feed-forward layers in each block, of which a token uses only one. Choose another "
            "model above, or see “Size”."
        )
    return "has no feed-forward layers. Choose another model above, or see “Without it”."


def has_experts(here: Lesson) -> int:
    """How many experts the model has in each feed-forward layer; 0: it is no mixture."""
    return next((len(layer.experts) for s in here.model.weights.stacks.values() for layer in s.experts.values()), 0)


def with_layer(draw: Callable[[Subject], object]) -> Callable[[Lesson], object]:
    """What draws a tab: asks for the token, or says why there is nothing to draw."""

    def tab(here: Lesson) -> object:
        site = site_of(here)
        weights = here.model.weights.stacks[site.split(".")[0]].feed_forward.get(site)
        if weights is None:
            return st.info(f"{markdown.code(here.model.name)} {why_none(here)}", icon=icons.INFO)
        if not np.isfinite(here.trace[f"{site}.out"]).all():
            return st.warning("This layer's values are not finite, so there is nothing to explain.")
        tokens = here.trace.axes(here.choice.layer)[0].tokens
        return draw(Subject(here=here, site=site, weights=weights, tokens=tokens, token=here.query))

    return tab
