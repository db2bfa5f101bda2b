"""Models that were trained with a cheaper attention, beside the twin that was not: by head, by token, by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.heads import looks_back
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.analysis.position_terms import smoothed
from tfmviz.plots.cells import Axis, Cells, Form, amounts
from tfmviz.plots.lines import Axes, curves
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace
from tfmviz.ui import before_after, icons, inputs, lesson, models
from tfmviz.ui.efficient.subject import BYTES
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.shapes import kept
from tfmviz.views.counts import of_columns
from tfmviz.words.numbers import decimal, in_bytes

TWINS = {
    "a window of 8": ("twins-window", "twins-rope"),
    "linear": ("twins-linear", "twins-sinusoidal"),
    "2 key/value heads": ("twins-gqa", "twins-rope"),
}
"""A model, and the one from which it differs in its attention alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two twins on one text: `cheap` with the cheaper attention, `full` without."""

    kind: str
    cheap: Model
    full: Model
    text: str

    @property
    def names(self) -> tuple[str, str]:
        return f"every pair ({self.full.name})", f"{self.kind} ({self.cheap.name})"

    @property
    def traces(self) -> tuple[Trace, Trace]:
        return models.trace(self.full, self.text), models.trace(self.cheap, self.text)


def twins(here: Lesson) -> None:
    """The chosen pair: heads, surprise on the reader's text, surprise by position on held-out text, costs."""
    with lesson.line("twins"):
        kind = inputs.segmented_control(
            "Trained with",
            list(TWINS),
            default=next(iter(TWINS)),
            key="trained_with",
            required=True,
        )
    cheap, full = (models.needed(name) for name in TWINS[kind])
    if cheap is None or full is None:
        return
    pair = Pair(kind=kind, cheap=cheap, full=full, text=here.text)
    _heads(pair)
    _by_token(pair)
    _by_position(pair)
    _costs(pair)


def _heads(pair: Pair) -> None:
    back = [np.stack([looks_back(trace[f"{layer}.pattern"]) for layer in trace.layers]) for trace in pair.traces]
    values, form = np.stack(back), Form(digits=1, unit=" tokens back")
    look: dict[str, Any] = {"form": form, "titles": ("every pair", pair.kind), "across": 2}
    show("looks_back", Cells(values, Axis("layer"), Axis("head"), amounts(values, "tokens back"), **look))
    result(
        f"Heads look back **{decimal(float(back[0].mean()), '.1f')}** tokens on average with every pair, "
        f"**{decimal(float(back[1].mean()), '.1f')}** with {pair.kind}."
    )


def _by_token(pair: Pair) -> None:
    losses = [next_token_losses(trace["logits"], trace.target.ids) for trace in pair.traces]
    if not len(losses[0]):
        st.markdown(before_after.ONE_TOKEN)
        return
    means = [float(found.mean()) for found in losses]
    st.markdown(
        f"**On your text.** Mean surprise: {decimal(means[0], '.2f')} nats with every pair, "
        f"{decimal(means[1], '.2f')} with {pair.kind}.{before_after.of_twins(pair.text)}"
    )
    before_after.show_losses(pair.traces[0].target.tokens, *losses, series=pair.names, key="surprises")


def _by_position(pair: Pair) -> None:
    full, cheap = (by_position(model.name) for model in (pair.full, pair.cheap))
    if full is None or cheap is None:
        st.info("These models were not measured on held-out text yet: run `scripts/evaluate.py`.", icon=icons.INFO)
        return
    trained = full.trained
    within, beyond = [full.mean, cheap.mean], [float(one.losses[trained:].mean()) for one in (full, cheap)]
    st.markdown(
        f"**On held-out text**, up to {trained} tokens as in training: {decimal(within[0], '.3f')} nats with every "
        f"pair, {decimal(within[1], '.3f')} with {pair.kind} ({decimal(within[1] - within[0], '+.3f')}); further on "
        f"{decimal(beyond[0], '.2f')} and {decimal(beyond[1], '.2f')}."
    )
    points = {name: smoothed(one.losses) for name, one in zip(pair.names, (full, cheap), strict=True)}
    axes, marked = Axes("position", "surprise, nats", 320), [(trained - 0.5, f"trained on {trained} positions")]
    said = "{}, position {:.0f}: {:.3f} nats".format
    show("by_position", curves(points, axes, said, theme=theme(), dot=50, words=(), marked=marked))


def _costs(pair: Pair) -> None:
    configs = pair.full.config, pair.cheap.config
    longest = configs[0].max_len
    show(
        "kept",
        of_columns(
            {
                "model": list(pair.names),
                "parameters": [f"{model.weights.n_parameters:,}" for model in (pair.full, pair.cheap)],
                "after 64 tokens": [in_bytes(kept(config, 64, size=BYTES)) for config in configs],
                "after 4,096": [in_bytes(kept(config, 4096, size=BYTES)) for config in configs],
            },
            caption="Memory needed to write on",
        ),
    )
    st.caption(
        f"Memory holds keys and values that can still be seen, or running sums, at {BYTES} bytes each. The models "
        f"read at most {longest} tokens."
    )
