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
from tfmviz.paths import PROJECT
from tfmviz.plots.cells import Axis, ValueFormat, amounts, chosen_column, of_tokens, probability, written
from tfmviz.record.model import AnyModel, Model
from tfmviz.record.trace import Array, Encoding
from tfmviz.text.tokenizer import END
from tfmviz.ui import controls, icons, models
from tfmviz.ui.cache import cached_for_all, read_json
from tfmviz.ui.figures import show_matrix, show_table
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, whole
from tfmviz.words.numbers import decimal

FOLDER = PROJECT / "assets" / "ladder"

TITLES = {"5-gram": "5-gram", "ladder-window": "window", "ladder-rnn": "recurrent", "twins-rope": "transformer"}
"""The page's name for each model."""

Network = AnyModel | Model


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: cached properties
class Ladder:
    """Models with the same tokens. Two ladders are equal only if they are the same object."""

    counted: NGramModel
    window: AnyModel
    recurrent: AnyModel
    transformer: Model

    @property
    def networks(self) -> dict[str, Network]:
        """All but the 5-gram model, by title."""
        return {"window": self.window, "recurrent": self.recurrent, "transformer": self.transformer}

    @cached_property
    def predictors(self) -> dict[str, Predict]:
        """The predictions after texts of equal length, by title."""
        by_network = {title: partial(_after, model) for title, model in self.networks.items()}
        return {"5-gram": partial(pruned.after, self.counted), **by_network}

    def encode(self, text: str) -> Encoding:
        return self.transformer.encode(text)


def _after(model: Network, texts: Array) -> Array:
    return softmax(zoo.experiments.logits_after(model, texts.tolist()))


def ladder() -> Ladder:
    """Stops the run, with a note, if a model is missing."""
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
    """Measurements of `scripts.make_ladder` on held-out text."""
    return read_json(FOLDER / "measured.json")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Reading:
    """`p`: (model, len, vocab), probabilities of the token after each position, models in the order of `TITLES`."""

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


def read_text(four: Ladder, text: str) -> Reading:
    """Draws a note if the text was cut."""
    found = _read(four, text)
    controls.say_what_was_cut(found.text, "The four models of this page read")
    return found


@cached_for_all
def _read(four: Ladder, text: str) -> Reading:
    encoding = four.encode(text)
    longest = len(four.counted.orders) - 1
    contexts = [encoding.ids[max(0, end - longest) : end] for end in range(1, len(encoding) + 1)]
    counted = np.array([four.counted.distribution(context) for context in contexts])
    networks = [softmax(zoo.experiments.values_at(m, "logits", [encoding.ids])[0]) for m in four.networks.values()]
    return Reading(text=encoding, p=np.stack([counted, *networks]))


BEST = 4

ROWS = Axis("", tuple(TITLES.values()), [f"{title} model" for title in TITLES.values()])

SHOWN = 8
"""Tokens quoted before the chosen place."""


def next_token(ctx: PageContext) -> None:
    reading = read_text(ladder(), ctx.text)
    tokens = reading.text.tokens
    chosen = controls.pinned()
    place = len(tokens) if not chosen else min(chosen, len(tokens))
    bits = np.concatenate((reading.bits, np.full((len(TITLES), 1), np.nan)), axis=1)
    show_matrix(
        "surprise",
        bits,
        ROWS,
        of_tokens("token", (*tokens[1:], "⟨next⟩")),
        amounts(bits, "surprise −log₂ p, bits"),
        form=ValueFormat(digits=1, unit=" bits"),
        texts=written(bits, ".0f"),
        frames=chosen_column(place - 1, len(bits)),
        click="see what was expected there",
        on_pick=lambda _, column: controls.pin(column + 1),
    )
    begin = reading.text.offsets[max(0, place - SHOWN)][0]
    before = whole(reading.text.text[begin : reading.text.offsets[place - 1][1]].strip())
    dots = "…" if place > SHOWN else ""
    came = f" The text has {markdown.plain(quoted(tokens)[place])}." if place < len(tokens) else ""
    st.markdown(f"What does each expect after “{dots}{markdown.plain(before)}”?{came}")
    vocabulary = ladder().transformer.vocabulary
    p = reading.p[:, place - 1]  # (model, vocab)
    best = np.unique(np.argsort(-p, axis=1, kind="stable")[:, :BEST])
    best = best[np.argsort(-p[:, best].mean(axis=0), kind="stable")]
    names = ["⟨end⟩" if n == END else vocabulary[n] for n in best.tolist()]
    p, scale = p[:, best], probability("probability of the next token")
    texts = [[f"{100 * share:.0f}%" if share >= 0.005 else "·" for share in row] for row in p.tolist()]
    form = ValueFormat(digits=1, percent=True)
    show_matrix("expected", p, ROWS, of_tokens("next token", names), scale, form=form, texts=texts)
    rows = []
    for (name, title), bits in zip(TITLES.items(), reading.bits, strict=True):
        facts = measured()["models"][name]
        own = decimal(bits.sum() / reading.n_bytes, ".2f") if bits.size else "–"
        rows.append([title, f"{facts['n_parameters']:,}", f"{facts['bits_per_byte']:.3f}", own])
    columns = ["model", "parameters", "held-out text, bits per byte", "your text, bits per byte"]
    show_table("table", caption="The four models.", columns=columns, rows=rows)
    counted = read_json(FOLDER / "counted.json")
    st.caption(
        f"With all its {counted['all_numbers']:,} counts, the 5-gram model reaches {counted['all_bits_per_byte']:.3f}."
    )
    if not reading.bits.size:
        st.info("Type at least two tokens.", icon=icons.INFO)
