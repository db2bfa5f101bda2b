from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import patching
from tfmviz.analysis.patching import Copied
from tfmviz.constants import MOST_TYPED
from tfmviz.plots.cells import Axis, ValueFormat, chosen_column, largest, signed, written
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, icons, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show_matrix
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import visible, whole
from tfmviz.words.numbers import counted, decimal, per_cent

MAX_TOKENS = 40
"""The most tokens of either sentence: each copy is a separate run."""

FAINT = 0.1
"""A copy that closes less of the gap is not described."""

PAIRS = (
    ("Once upon a time there was a little girl named", "Once upon a time there was a little boy named"),
    ("The cat sat on the mat.", "The dog sat on the mat."),
    ("The girl was happy because", "The boy was happy because"),
    ("The students opened their", "The king opened their"),
)

PARTNERS = (
    ("girl", "boy"),
    ("cat", "dog"),
    ("She", "He"),
    ("she", "he"),
    ("I", "He"),
    ("We", "They"),
    ("animal", "child"),
    ("students", "children"),
    ("Man", "Dog"),
    ("chef", "king"),
    ("price", "end"),
    ("attention", "detention"),
    ("stressed", "dressing"),
)
"""Words to exchange for a second sentence, if the reader has typed none."""

COPIED: dict[str, Copied] = {
    "the stream before the layer": "resid_pre",
    "what attention writes": "self_attn.out",
    "what cross-attention writes": "cross_attn.out",
    "what the MLP writes": "mlp.out",
}


def laboratory(ctx: PageContext) -> None:
    with lesson.control_row("copying"):
        guess = exchanged(ctx.text)
        typed = inputs.text_input("Second sentence", key="other", max_chars=MOST_TYPED, placeholder=guess or "")
        inputs.selectbox(
            "Pairs to start from",
            range(len(PAIRS)),
            format_func=lambda n: f"{PAIRS[n][0]} / {PAIRS[n][1]}",
            index=None,
            key="pair",
            placeholder="Pairs to start from",
            on_change=_take_pair,
            label_visibility="collapsed",
            bind=None,
        )
        other = typed if typed.strip() else guess
    stack = ctx.choice.layer.split(".")[0]
    options = [name for name, kind in COPIED.items() if patching.sites_of(ctx.trace, stack, kind)]
    figure = st.container()
    copied = inputs.radio("Copied", options, horizontal=True, key="copied", line=lesson.control_row("copied"))
    if other is None:
        st.info("Type a second sentence with the same number of tokens.", icon=icons.WRITE)
        return
    second = _run(ctx.model, ctx.text, other)
    tokens = [run.axes(f"{stack}.0.self_attn")[0].tokens for run in (ctx.trace, second)]
    if problem := _unfit(*tokens):
        st.warning(problem, icon=icons.WARNING)
        return
    with st.spinner("Copying every vector in turn…"):
        values = _recovered(ctx.model, ctx.text, other, COPIED[copied], stack, ctx.target)
    if np.isnan(values).all():
        st.info("Both sentences get the same answer. Change a word.", icon=icons.INFO)
        return
    pairs = list(zip(*tokens, strict=True))
    with figure:

        def joined(named: Callable[[str], str]) -> list[str]:
            names = [(named(a), named(b)) for a, b in pairs]
            return [a if a == b else f"{a} / {b}" for a, b in names]

        spoken = [f"token {i} “{name}”" for i, name in enumerate(joined(whole))]
        show_matrix(
            "recovered",
            values,
            Axis("layer"),
            Axis("token whose vector is copied", joined(visible), spoken),
            signed(values, "share of the gap closed", limit=max(1.0, largest(values))),
            form=ValueFormat(sign=True),
            texts=written(np.where(np.abs(values) >= 0.05, values, np.nan), ".2f"),
            frames=chosen_column(ctx.target, len(values)),
            row_height=44,
        )
    logits = [run.row("logits", ctx.target) for run in (ctx.trace, second)]
    answers = patching.answers(*logits)
    words = [_quoted(ctx.model.vocabulary[index]) for index in answers]
    apart = [decimal(float(patching.difference(one, answers)), "+.2f") for one in logits]
    best = patching.favourites(*logits)
    sentence = f"Your sentence's answer is {words[0]}, the second's {words[1]}."
    if best != answers:
        sentence = (
            f"Both runs answer {_quoted(ctx.model.vocabulary[best[0]])}. Compared, your sentence favours {words[0]}, "
            f"the second {words[1]}."
        )
    st.markdown(
        f"{sentence} The logit of {words[1]} minus that of {words[0]} is **{apart[0]}** in your run, **{apart[1]}** "
        "in the other. A cell shows how far one copy moves it from the first (0) to the second (1)."
    )
    beside_encoder = stack == "decoder" and ctx.trace.source is not None
    result(_story(values, pairs, copied=COPIED[copied], beside_encoder=beside_encoder))


def exchanged(text: str) -> str | None:
    """The text with its first exchangeable word exchanged; None if there is none."""
    partners = dict(PARTNERS) | {b: a for a, b in PARTNERS}
    found = next((word for word in re.finditer(r"\w+", text) if word[0] in partners), None)
    return None if found is None else text[: found.start()] + partners[found[0]] + text[found.end() :]


def _take_pair() -> None:
    chosen = st.session_state["pair"]
    if chosen is not None:
        st.session_state["text"], st.session_state["other"] = PAIRS[chosen]
        st.session_state["pair"] = None
        controls.forget_token()


def _unfit(first: tuple[str, ...], second: tuple[str, ...]) -> str | None:
    if len(first) != len(second):
        pieces = ["·".join(markdown.plain(visible(token)) for token in tokens[:12]) for tokens in (first, second)]
        return (
            f"Your sentence has {counted(len(first), 'token')} ({pieces[0]}{' …' * (len(first) > 12)}), the second has "
            f"{len(second)} ({pieces[1]}{' …' * (len(second) > 12)}). Both need the same number."
        )
    if len(first) > MAX_TOKENS:
        return f"Your sentence has {len(first)} tokens; this part takes at most {MAX_TOKENS}. Shorten both."
    return None


@cached_for_all
def _run(model: Model, text: str, other: str) -> Trace:
    """An encoder-decoder writes the first sentence's output, so that the answers are at one position."""
    first = models.trace(model, text)
    return model.trace(other, target=None if first.source is None else first.target.ids[1:])


@cached_for_all
def _recovered(model: Model, text: str, other: str, copied: Copied, stack: str, position: int) -> Array:
    first, second = models.trace(model, text), _run(model, text, other)
    target = None if first.source is None else first.target.ids[1:]
    return patching.recovered(
        first,
        second,
        patching.sites_of(first, stack, copied),
        lambda variants, positions: zoo.experiments.logits_under(model, text, variants, positions, target=target),
        position=position,
    )


def _quoted(token: str) -> str:
    return f"“{markdown.plain(visible(token))}”"


def _story(values: Array, tokens: list[tuple[str, str]], *, copied: Copied, beside_encoder: bool) -> str:
    """Copies of the stream show where the difference is; copies of a layer's output show what adds to it.

    Args:
        beside_encoder: the copies are in a decoder that reads the same tokens in both runs.
    """
    told = _leaders(values, tokens, moves=copied == "resid_pre" and not beside_encoder)
    if beside_encoder and copied in ("resid_pre", "self_attn.out"):
        return (
            f"Layer 0 of the decoder reads the same tokens in both runs: cross-attention brings the difference. {told}"
        )
    return told


def _leaders(values: Array, tokens: list[tuple[str, str]], *, moves: bool) -> str:
    """The copies with most effect in the first and in the last of the layers where one has much.

    Args:
        moves: only attention can have brought the difference to a token that both sentences share.
    """
    if not (strong := np.flatnonzero(values.max(axis=1) >= FAINT).tolist()):
        closed = f"No single copied vector closes even {per_cent(FAINT)} of the gap"
        return f"{closed}, so the difference is not stored in one place."
    first, last = strong[0], strong[-1]
    most = values.argmax(axis=1).tolist()
    begin, end = (f"token {most[layer]} {_quoted(tokens[most[layer]][0])}" for layer in (first, last))
    far, farther = (per_cent(float(values[layer].max())) for layer in (first, last))
    if first == last:
        alone = f" No copy in another layer closes {per_cent(FAINT)} of the gap." * (len(values) > 1)
        return f"In layer {first} the copy at {begin} does most ({far} of the gap).{alone}"
    if most[first] == most[last]:
        shares = f"{far} of the gap in both" if far == farther else f"{far} and {farther} of the gap"
        return f"In layer {first} and in layer {last} the copy at {begin} does most: {shares}."
    carried = ": attention has carried the difference there" * (moves and len(set(tokens[most[last]])) == 1)
    return (
        f"In layer {first} the copy at {begin} does most ({far} of the gap), in layer {last} the one at {end} "
        f"({farther}){carried}."
    )
