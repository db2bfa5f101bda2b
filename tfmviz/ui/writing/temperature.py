from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import Axis, ValueFormat, of_tokens, probability
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.record.decoding import Rules, Sample, entropy, repeated, stages
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_matrix, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.writing.desk import Written, step_at
from tfmviz.ui.writing.settings import Settings, offer_sampling
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted, decimal, per_cent, which_way

DEGREES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0)

WORDS = 10

TEXTS, LENGTH = 50, 12
"""Continuations of the fan, and their words."""

AT_ONCE = 17
"""Texts written in parallel: each has separate keys and values, even of the common beginning."""

LONG = 80

BEAMS = 4


def _equal(nats: float) -> str:
    """The number of equally likely tokens with the same entropy."""
    count = float(np.exp(nats))
    return f"{count:,.0f}" if count >= 10 else decimal(count, ".1f")


def one_context(ctx: PageContext, settings: Settings, now: Written) -> None:
    logits = step_at(ctx, settings, now).logits
    p = np.stack([stages(logits, Rules(temperature=t))[-1].probabilities for t in DEGREES])  # (temperature, vocab)
    best = np.argsort(-logits, kind="stable")[:WORDS]
    words = [ctx.model.vocabulary[index] for index in best]
    entropies = [entropy(row) for row in p]
    first = markdown.plain(visible(words[0]))
    shown, names = p[:, best], [f"T = {decimal(t, '.1f')}" for t in DEGREES]
    spoken = [f"{name}, entropy {decimal(h)} nats" for name, h in zip(names, entropies, strict=True)]
    rows, columns = Axis("temperature", names, spoken), of_tokens("next token", words)
    texts, form = [[per_cent(value) for value in row] for row in shown.tolist()], ValueFormat(digits=1, percent=True)
    scale = probability("probability")
    show_matrix("degrees", shown, rows, columns, scale, form=form, texts=texts, row_height=28)
    result(
        f"All scores are divided by T: “{first}” has {per_cent(p[0, best[0]])} at T = 0.2, {per_cent(p[-1, best[0]])} "
        f"at T = 2. The entropy grows from {decimal(entropies[0])} to "
        f"{decimal(entropies[-1])} nats, as with {_equal(entropies[0])} and {_equal(entropies[-1])} equally likely "
        "tokens."
    )


def fan(ctx: PageContext, settings: Settings) -> None:
    """Fifty continuations of the beginning under the settings, and the greedy one: sums of −log p, word by word."""
    if settings.rules.temperature == 0:
        offer_sampling("Greedy decoding has only one continuation.")
        return
    lesson.say_what_is_continued(ctx, LENGTH)
    with st.spinner("Writing fifty texts…"):
        *drawn, greedy = _fan(ctx.model, ctx.text, settings.rules, settings.seed, ctx.edits)
    texts = [ctx.model.tokenizer.decode(sample.ids) for sample in drawn]

    def line(name: str, text: str, sample: Sample, stroke: Stroke) -> Line:
        shown = "".join(visible(character) if character in "\n\t" else character for character in text)
        sentence = f"{name} “{shown if len(shown) <= 60 else f'{shown[:59]}…'}”"
        y = np.cumsum([0.0, *(-value for value in sample.log_probabilities)])
        return Line(name, np.arange(float(len(y))), y, stroke, lambda n, v: f"{sentence}, {n:.0f} words: {v:.1f}")

    look = theme()
    lines = [line("drawn", *one, Stroke(look.plain, width=1.0)) for one in zip(texts, drawn, strict=True)]
    lines.append(line("greedy", "", greedy, Stroke(look.text, DASHES[1], 4)))
    axes = Axes("words written", "−log p of the text, nats", 320, legend=False)
    show("fan", line_chart(lines, axes, theme=look))
    *ends, at_greedy = (float(one.y[-1]) for one in lines)
    likelier = sum(end < at_greedy - 1e-3 for end in ends)
    compared = (
        f"{likelier} of the samples {'is' if likelier == 1 else 'are'} more probable: greedy decoding looks only one "
        "word ahead"
        if likelier
        else "no sample is more probable"
    )
    result(
        f"{TEXTS} samples give **{counted(len(set(texts)), 'different text')}** of at most {LENGTH} words. The greedy "
        f"text (dashed) has −log p = {decimal(at_greedy, '.1f')} nats; {compared}."
    )
    st.text("\n".join(f"… {text.strip()}" for text in texts[:3]))


@cached_for_all
def _fan(model: Model, text: str, rules: Rules, seed: int, edits: tuple[Edit, ...]) -> tuple[Sample, ...]:
    wanted = [rules] * TEXTS + [Rules(temperature=0.0, banned=rules.banned)]
    return tuple(
        sample
        for first in range(0, len(wanted), AT_ONCE)
        for sample in zoo.writing.samples(
            model,
            text,
            rules=wanted[first : first + AT_ONCE],
            seed=seed + first,
            max_new_tokens=LENGTH,
            edits=edits,
        )
    )


def repetition(ctx: PageContext, settings: Settings) -> None:
    if ctx.model.config.architecture != "decoder-only":
        st.info("A translation ends too early to repeat itself. Choose another model.")
        return
    lesson.say_what_is_continued(ctx, LONG)
    drawn = settings.rules if settings.rules.temperature else replace(settings.rules, temperature=1.0)
    with st.spinner("Writing long texts in three ways…"):
        found = _long(ctx.model, ctx.text, drawn, settings.seed, ctx.edits)
    shares = {name: repeated(ids) for name, ids in found.items()}
    look: dict[str, Any] = {"words": list(map(per_cent, shares.values())), "colours": theme().plain, "theme": theme()}
    chart = bar_chart(list(shares), 100 * np.array(list(shares.values())), "repeated 4-grams, %", **look)
    show("repeated", chart)
    most = max(shares.values())
    first, *others = (name for name, share in shares.items() if share == most)
    verdict = f"Here {' and '.join((first, *others))} {'repeat' if others else 'repeats'} most."
    if not most:
        verdict = "Here none of them repeats itself."
    st.markdown(
        f"Four words in a row count as repeated if they stand earlier in the text (at most {LONG} words). {verdict} "
        f"{_read_twice(ctx.model, ctx.text, ctx.edits)}"
    )
    for name, ids in found.items():
        st.markdown(f"**{name}**")
        st.code(ctx.model.tokenizer.decode(ids), language=None, wrap_lines=True)


def _read_twice(model: Model, text: str, edits: tuple[Edit, ...]) -> str:
    whole = model.encode(text).ids
    ids = whole[-(model.config.max_len // 2) :]
    if (n := len(ids)) < 2:
        return ""
    losses = next_token_losses(model.trace((*ids, *ids), edits, sites=("logits",))["logits"], (*ids, *ids))
    first, second = float(losses[: n - 1].mean()), float(losses[n:].mean())
    what = "Your text" if n == len(whole) else f"The last {n} tokens of your text"
    likely = which_way(first, second, less="more probable than", same="as probable as", more="less probable than")
    return (
        f"{what}, read twice in a row, costs **{decimal(first)}** nats per token the first time, "
        f"**{decimal(second)}** the second. What was written once is {likely} before."
    )


@cached_for_all
def _long(model: Model, text: str, drawn: Rules, seed: int, edits: tuple[Edit, ...]) -> dict[str, list[int]]:
    n = len(model.encode(text).ids)
    rules = [drawn, Rules(temperature=0.0, banned=drawn.banned)]
    sampled, greedy = zoo.writing.samples(model, text, rules=rules, seed=seed, max_new_tokens=LONG, edits=edits)
    searched = zoo.writing.search(model, text, width=BEAMS, max_new_tokens=LONG, banned=drawn.banned, edits=edits)
    ways = {"greedy": greedy.ids, f"beam search, {BEAMS} beams": searched.ids[n:], "sampling": sampled.ids}
    return {name: [token for token in ids if token not in model.tokenizer.marks.ends] for name, ids in ways.items()}
