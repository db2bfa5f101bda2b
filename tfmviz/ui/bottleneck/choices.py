from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from tfmviz.record.model import AnyModel, Model
from tfmviz.record.trace import Trace
from tfmviz.text.familiar import is_latin
from tfmviz.ui import icons, inputs, lesson, translators, url
from tfmviz.ui.lesson import PageContext

SCORES: Mapping[str, str] = {
    "none": "c = hₙ",
    "dot": "hᵢ₋₁ · hⱼ",
    "bilinear": "hᵢ₋₁ Wₛ hⱼ",
    "additive": "v · tanh(hᵢ₋₁ Wₕ + hⱼ Wₑ)",
}


@dataclass(frozen=True, kw_only=True)
class Translating:
    """The page's state.

    Attributes:
        kind: the attention of the chosen recurrent model.
        recurrent: the recurrent models that are installed.
        asked: how many tokens of each translation are shown; None: all.
    """

    ctx: PageContext
    kind: str
    recurrent: Mapping[str, AnyModel]
    asked: int | None

    @cached_property
    def trace(self) -> Trace:
        return translators.trace(self.recurrent[self.kind], self.ctx.text)

    @property
    def transformer(self) -> Model | None:
        return self.ctx.model if self.ctx.model.config.architecture == "encoder-decoder" else None

    def shown(self, count: int) -> int:
        return count if self.asked is None else min(self.asked, count)


def choose(ctx: PageContext) -> Translating:
    """Stops the run if no recurrent model is installed."""
    recurrent = translators.loadable()
    if not recurrent:
        st.info("This page needs the models `seq2seq-…`, which are not in `assets/models/`.", icon=icons.INFO)
        st.stop()
    with lesson.control_row("bottleneck"):
        kind = inputs.segmented_control("Attention", list(recurrent), default=list(recurrent)[-1], key="attention")
        at = Translating(ctx=ctx, kind=kind or list(recurrent)[-1], recurrent=recurrent, asked=url.number("written"))
        texts = (translators.translation(model, ctx.text) for model in recurrent.values())
        longest = max(map(len, texts)) + 1  # the last step shows how it ends
        shown = at.shown(longest)
        inputs.button("From the start", on_click=_show, args=(0, longest))
        inputs.button("Next token", on_click=_show, args=(shown + 1, longest), disabled=shown >= longest)
        inputs.button("All", on_click=_show, args=(longest, longest), disabled=shown >= longest)
    if note := doubt(ctx.text, recurrent[at.kind]):
        st.info(note, icon=icons.INFO)
    return at


def _show(count: int, longest: int) -> None:
    url.put({"written": "" if count >= longest else str(count)})


def doubt(text: str, model: AnyModel) -> str:
    """A note on a text that the models were not made for; else ""."""
    sentences = []
    letters = [character for character in text if character.isalpha()]
    if not letters:
        sentences.append("There are no letters, so there is nothing to translate.")
    elif not any(map(is_latin, letters)):
        sentences.append("The models learned only French, so they are guessing.")
    elif not text.rstrip(" \"'»”)").endswith((".", "!", "?", "…")):
        sentences.append("The text has no final punctuation, so the models may stop too late.")
    if dropped := model.encode(text).n_dropped:
        left_out = "the last one of your text was" if dropped == 1 else f"the last {dropped} of your text were"
        sentences.append(f"The recurrent models read {model.config.max_len} tokens; {left_out} left out.")
    return " ".join(sentences)
