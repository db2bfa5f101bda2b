from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import forming
from tfmviz.paths import PROJECT
from tfmviz.record.trace import Trace
from tfmviz.ui import icons, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.training import inside
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal
from tfmviz.zoo import ModelUnavailable

NAME = "induction"
FOLDER = zoo.MODELS / NAME

OPENS_AT = 761
"""The first snapshot whose heads copy."""

RANDOM, SENTENCE = "random tokens", "your sentence"

TEXT = PROJECT / "assets" / "texts" / "english.txt"

EARLY, LATE = slice(7, 15), slice(47, 63)
"""The losses compared on ordinary text: of the tokens 8 to 15 and 48 to 63 of a window."""


@cached_for_all
def on_text(step: int) -> tuple[float, float]:
    """Loss on ordinary text, early and late in a window, in nats per token."""
    model = inside.model_at(FOLDER, step)
    ids = model.tokenizer.encode(TEXT.read_text(encoding="utf-8"), max_len=60 * model.config.max_len).ids
    texts = np.array(ids[: len(ids) // model.config.max_len * model.config.max_len]).reshape(-1, model.config.max_len)
    losses = forming.loss_at(zoo.experiments.values_at(model, "logits", texts.tolist()), texts)
    return float(losses[EARLY].mean()), float(losses[LATE].mean())


def film(ctx: PageContext) -> None:
    steps = zoo.snapshots.steps(FOLDER)
    if not steps:
        st.info(f"This part needs the snapshots of {markdown.code(NAME)}, which are missing.", icon=icons.INFO)
        return
    left, right = st.columns([5, 3])
    with left:
        figure = st.container()
        line = lesson.control_row("film")
    step = line.select_slider(
        "Updates",
        steps,
        OPENS_AT if OPENS_AT in steps else steps[-1],
        format_func=lambda n: f"{n:,}",
        key="snapshot",
        bind="query-params",
    )
    probe = line.radio("Read twice", (RANDOM, SENTENCE), horizontal=True, key="probe", bind="query-params")
    if probe != SENTENCE:
        lesson.hide("text")
    models.load(NAME)  # imports torch in the thread meant for it
    try:
        found = [inside.copying(FOLDER, one) for one in steps]
    except ModelUnavailable as error:
        st.error(markdown.plain(str(error)))
        return
    now = found[steps.index(step)]
    with figure:
        trace = _twice(step, ctx.text) if probe == SENTENCE else inside.on_repeats(FOLDER, step)
        show("film_heads", inside.picture(trace, trace.layers, most=len(now.heads)))
    with right:
        vocab_size = inside.model_at(FOLDER, step).config.vocab_size
        show("film_curves", inside.chart(steps, found, vocab_size=vocab_size, now=step))
        st.caption(inside.ABOUT)
    with left:
        scores, back, damage = now.scores["induction"], now.scores["previous token"], now.damage
        best, behind, worst = (int(values.argmax()) for values in (scores, back, damage))
        period = len(inside.on_repeats(FOLDER, step).target) // 2
        st.markdown(
            f"After **{step:,} updates** the loss is {now.second:.2f} nats at tokens {period + 1} to {2 * period - 1} "
            f"and {now.first:.2f} at tokens 1 to {period - 1}, which they repeat: an in-context score of "
            f"**{decimal(now.in_context, '+.2f')}**. Head **{now.heads[best]}** gives {scores[best]:.0%} of its "
            f"attention to what followed the same token before, head **{now.heads[behind]}** gives "
            f"{back[behind]:.0%} to the token just before. Removing head **{now.heads[worst]}** raises the loss "
            f"most, by {decimal(float(damage[worst]), '+.2f')} nats."
        )
        early, late = on_text(step)
        st.markdown(
            f"On held-out text the loss is {late:.2f} nats at tokens 48 to 63 and {early:.2f} at tokens 8 to 15, a "
            f"difference of **{decimal(late - early, '+.2f')}**."
        )


@cached_for_all
def _twice(step: int, text: str) -> Trace:
    model = inside.model_at(FOLDER, step)
    ids = model.tokenizer.encode(text, max_len=model.config.max_len // 2).ids
    return model.trace(tuple(ids) * 2)
