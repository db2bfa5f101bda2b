"""The frame of every page: title, sentence box, one run of the chosen model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.record.decoding import kept_of
from tfmviz.record.edits import AblateHead, Edit
from tfmviz.record.facts import Architecture
from tfmviz.record.model import Model
from tfmviz.record.trace import NotCaptured, Trace
from tfmviz.record.weights import AttentionWeights, PositionEffects
from tfmviz.text.library import Unreadable
from tfmviz.ui import controls, icons, lecture_steps, models, run_queue, side
from tfmviz.ui.controls import Selection
from tfmviz.ui.guess import Question
from tfmviz.ui.router import ensure_routed, of_all_pages, of_this_page
from tfmviz.ui.sentences import examples_for
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, quoted, said_of_queries, visible
from tfmviz.words.numbers import counted, decimal


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: the trace is kept, though it may be too large for the cache
class PageContext:
    """A page's data.

    Attributes:
        note: why `model` is not the chosen one; "" where it is. See `fallback_model`.
        edits: changes to the model's pass.
        writes_with_edits: a translator's decoder reads the translation written with them, not the one without.
        about_in: a model, and the positions in it of the query's token, the key's and the one after which it predicts;
            None, and in another model: the reader's.
    """

    choice: Selection
    text: str
    model: Model
    note: str = ""
    edits: tuple[Edit, ...] = ()
    writes_with_edits: bool = False
    about_in: tuple[Model, tuple[int, int, int]] | None = None

    def about(self, query: int, key: int, target: int) -> PageContext:
        """The same about other tokens; it shares the trace."""
        other = replace(self, about_in=(self.model, (query, key, target)))
        vars(other)["trace"] = self.trace
        return other

    @cached_property
    def trace(self) -> Trace:
        if self.writes_with_edits and self.edits:
            return models.trace_of_own(self.model, self.text, self.edits)
        return models.trace(self.model, self.text, self.edits)

    @property
    def short_name(self) -> str:
        """Names model and sentence in addresses, and what is kept of them."""
        return hashlib.sha256(f"{self.model.name}\n{self.text}".encode("utf-8", "replace")).hexdigest()[:12]

    @property
    def places(self) -> tuple[int, int, int] | None:
        return self.about_in[1] if self.about_in and self.about_in[0] is self.model else None

    @property
    def is_chosen(self) -> bool:
        """The token is not the default."""
        return self.places is not None or controls.pinned() is not None

    @property
    def query(self) -> int:
        """Position among the queries of the chosen layer."""
        if self.places:
            return self.places[0]
        return controls.token(self.trace.axes(self.choice.layer)[0].tokens, text=self.text)

    @property
    def key(self) -> int:
        """The reader's, else the lecture sentence's, else the one with the chosen head's largest weight."""
        if self.places:
            return self.places[1]
        queries, keys = (axis.tokens for axis in self.trace.axes(self.choice.layer))
        if (chosen := controls.pinned("to")) is not None:
            return min(chosen, len(keys) - 1)
        example = next((e for e in examples_for(self.choice.model) if e.text == self.text and e.word), None)
        if example and queries[self.query].strip() == example.word:
            for position, token in enumerate(keys):
                if token.strip() == example.to:
                    return position
        return int(self.trace[f"{self.choice.layer}.pattern"][self.choice.head, self.query].argmax())

    @property
    def target(self) -> int:
        """Position in the text that the model predicts on."""
        if self.places:
            return self.places[2]
        return controls.token(self.trace.tokens, text=self.text, first=self.gap)

    @property
    def gap(self) -> int | None:
        return gap_in(self.model, self.trace)

    @property
    def weights(self) -> AttentionWeights:
        return self.model.weights.attention(self.choice.layer)

    @property
    def positions(self) -> PositionEffects:
        return positions_in(self.model, self.trace, self.choice.layer)

    @property
    def head_question(self) -> Question:
        asks = said_of_queries(self.trace, self.choice.layer)[self.query]
        row = self.trace[f"{self.choice.layer}.pattern"][self.choice.head, self.query]  # (k_len,)
        head = f"Layer {self.choice.layer_index}, head {self.choice.head}"
        asked = self.question(f"{head}: which token does {asks} look at most?", "keys")
        return replace(asked, answer=f"{quoted(asked.tokens())[row.argmax()]}, {decimal(row.max())}")

    def question(self, text: str, of: Literal["target", "queries", "keys"] = "target") -> Question:
        """A question whose answer is a token.

        Args:
            of: the text that the model predicts on, or the queries or keys of the chosen layer: with a translator these
                are not the same.
        """

        def tokens() -> list[str]:
            queries, keys = self.trace.axes(self.choice.layer)
            return list(map(visible, {"target": self.trace.target, "queries": queries, "keys": keys}[of].tokens))

        return Question(text=text, tokens=tokens)


def positions_in(model: Model, trace: Trace, layer: str) -> PositionEffects:
    """The position scheme's effect in a layer of a run; none in cross-attention."""
    if layer.endswith("cross_attn"):
        return PositionEffects()
    effects = model.position_effects(layer, len(trace.axes(layer)[0]))
    return replace(effects, bias=trace[f"{layer}.bias"]) if effects.vectors is not None else effects


def gap_in(model: Model, trace: Trace) -> int | None:
    """Position of the first word to fill in; None if there is none."""
    ids, mask = trace.target.ids, model.tokenizer.marks.mask
    return ids.index(mask) if mask is not None and mask in ids else None


def is_off(ctx: PageContext, layer: str, head: int) -> bool:
    """True, with a note, for a head that is switched off: what it would have written is no part of this run."""
    if AblateHead(layer=layer, head=head) not in ctx.edits:
        return False
    st.markdown(f"Head {layer.split('.')[1]}.{head} is off: it attends, but writes nothing.")
    return True


def fallback_model(ctx: PageContext, inputs: str, *, fits: bool, instead: str, say: bool = True) -> PageContext | None:
    """The lesson with the chosen model if it fits, else with another and a note. None if that is missing.

    Args:
        inputs: the condition, such as "a model with experts".
        instead: the shipped model that replaces one that does not fit.
        say: draw the note; else `PageContext.note` is for the caller to draw.
    """
    if fits:
        return ctx
    if (model := models.needed(instead)) is None:
        return None
    note = models.instead(ctx.model.name, inputs, model.name)
    if say:
        st.info(note, icon=icons.INFO)
    return replace(ctx, model=model, note=note)


CHOICES = ("text", "model", "kind", "layer", "head")
"""The reader's choices for all pages, by their keys."""

WRAPPER = '[data-testid="stLayoutWrapper"]'

OUT_OF_SIGHT = {
    choice: f".st-key-{choice} {{display: none !important}} :root {{--room-of-{choice}: 0rem}}" for choice in CHOICES
} | {
    "text": f"{WRAPPER}:has(> .st-key-sentence) {{display: none !important}}",
    "model": f".st-key-models, {WRAPPER}:has(> .st-key-line-choices):not(:has(.stAlert)) {{display: none !important}}",
}
"""The rules that hide each of them. A message about the models is seen on every page."""


def hide(*choices: str) -> None:
    """Hides choices that nothing on the page reads, as long as the part that calls this exists. They keep their values.

    A rule in `page.css` that selects the body by such a part would have the browser match all elements anew whenever
    one comes or goes.
    """
    if choices:
        _style("".join(map(OUT_OF_SIGHT.__getitem__, choices)))


def hide_line(key: str) -> None:
    _style(f"{WRAPPER}:has(> .st-key-line-{key}) {{display: none !important}}")


def _style(rules: str) -> None:
    st.html(f'<i class="hides"></i><style>{rules}</style>')


def hide_all_but(needed: Sequence[str]) -> None:
    hide(*(choice for choice in CHOICES if choice not in needed))


def page(
    purpose: str,
    draw: Callable[[PageContext], object],
    *,
    inputs: Sequence[str] = CHOICES,
    architecture: Architecture | None = None,
    opens: str | Callable[[], str] = "",
    toolbar: Callable[[], object] | None = None,
) -> None:
    """Draws a page: one line with the sentence and the choices, then what `draw` makes of the sentence.

    A new sentence, and any choice below it, runs only `draw` again.

    Args:
        purpose: the page's subject, in a sentence or two, below all else; may be empty.
        inputs: those of `CHOICES` that the page reads; see `hide` and `tabs`.
        architecture: a model of another one is replaced.
        opens: the sentence that the page opens with, or a function that gives the open tab's; "": the model's first.
        toolbar: draws the rest of the sentence's line.
    """
    ensure_routed()
    lecture_steps.show_step()
    with of_all_pages():
        if architecture:
            controls.need(architecture)
        hide_all_but(inputs)
        place = _choices()
        _below(place, draw, inputs, opens, toolbar)
        if purpose:
            st.caption(purpose)


@st.fragment
def _below(
    place: DeltaGenerator,
    draw: Callable[[PageContext], object],
    inputs: Sequence[str],
    opens: str | Callable[[], str],
    toolbar: Callable[[], object] | None,
) -> None:
    if controls.are_outdated():
        st.rerun()
    with run_queue.slot(), _where_it_reads():
        with place:
            model = controls.choice().model if "model" in inputs else ""
            text = controls.sentence(model, opens=opens() if callable(opens) else opens)
            if toolbar:
                toolbar()
        with of_this_page():
            draw(_lesson(text, inputs))


@contextmanager
def _where_it_reads() -> Iterator[None]:
    """Surrounds what depends on a text; a sentence replaces it where the model's tokenizer fails."""
    try:
        yield
    except Unreadable as error:
        st.warning(markdown.plain(str(error)))  # it quotes the tokenizer's file


def _choices() -> DeltaGenerator:
    """Returns the sentence's container."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="choices"):
        place = st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="sentence")
        with control_row("choices"):
            controls.choose()
    return place


def _lesson(text: str, inputs: Sequence[str]) -> PageContext:
    controls.say_what_was_corrected()
    controls.keep_in_address()
    choice = controls.choice()
    model = models.load(choice.model if "model" in inputs else models.usual(models.names()))
    encoded = model.encode(text)
    if not encoded.ids:  # the tokenizer's own spelling drops characters without a width
        st.warning("Type at least one visible character.")
        st.stop()
    if {"text", "model"} <= set(inputs):  # else the page itself says how much its models read
        controls.say_what_was_cut(encoded, f"{markdown.code(choice.model)} reads")
    if model.device != "cpu":
        st.caption(f"This model runs on a GPU ({model.device}).")
    run_queue.take(model.name, text)
    return PageContext(choice=choice, text=text, model=model)


def control_row(key: str) -> DeltaGenerator:
    """A line of controls, each with its label before it; see `page.css`."""
    place = st if (drawn := side.now()) is None else drawn.controls
    return place.container(horizontal=True, vertical_alignment="center", key=side.key(f"line-{key}"))


def presets(label: str, texts: Sequence[str], *, key: str, width: int) -> None:
    """A menu of sentences that fit the open tab. A side B has none."""
    if side.is_b():
        return

    def take() -> None:
        if text := st.session_state[key]:
            st.session_state["text"], st.session_state[key] = text, None
            controls.forget_token()

    st.selectbox(
        label,
        texts,
        index=None,
        key=key,
        placeholder=label,
        on_change=take,
        label_visibility="collapsed",
        width=width,
    )


def pair_boxes(ctx: PageContext) -> None:
    """Draws the choice of query and key."""
    queries, keys = of_queries(ctx.trace, ctx.choice.layer), ctx.trace.axes(ctx.choice.layer)[1].tokens
    controls.token_box(queries, ctx.query, label="Query")
    controls.token_box([visible(token) for token in keys], ctx.key, label="Key", key="to")


NO_HEAD = "This model has no output head, so it predicts no words."


@contextmanager
def where_it_predicts() -> Iterator[None]:
    """Surrounds figures of predictions: a model without a head gets a note in their place."""
    try:
        yield
    except NotCaptured as missing:
        if missing.site != "logits":
            raise
        st.info(NO_HEAD, icon=icons.INFO)


def say_what_is_continued(ctx: PageContext, new: int) -> None:
    """A note when a text leaves a language model no room for so many new tokens; see `writing.samples`."""
    longest = ctx.model.config.max_len
    kept = kept_of(longest, new)
    if (
        ctx.model.config.architecture == "decoder-only"
        and len(ctx.model.tokenizer.encode(ctx.text, max_len=longest)) > kept
    ):
        st.info(
            f"{markdown.code(ctx.model.name)} reads {longest} tokens at a time. To leave room for new ones, it "
            f"continues only the last {counted(kept, 'token')} of your text.",
            icon=icons.CUT,
        )
