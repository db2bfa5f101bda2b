"""Training tasks: the next token, and others made of the same text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz.analysis.calibration import log_softmax
from tfmviz.constants import MASK
from tfmviz.paths import PROJECT
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.text import corruption
from tfmviz.text.tokenizer import SPANS
from tfmviz.ui import controls, icons, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show_plain_view, show_table
from tfmviz.ui.lesson import PageContext
from tfmviz.views.pieces import Piece, Pieces, Row
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible, whole
from tfmviz.words.numbers import decimal, rounded
from tfmviz.zoo import ModelUnavailable

MOST_TOKENS = 60
"""Positions that are listed; the mean is over all."""


def forcing(ctx: PageContext) -> None:
    if (found := forced(ctx)) is None:
        return
    at = min(place(found), MOST_TOKENS - 1)
    losses = found.losses
    mean = float(losses.mean())
    n = min(len(found.ids), MOST_TOKENS)
    loss, best = float(found.losses[at]), int(found.log_p[at].argmax())
    target, read = quoted(found.targets, first=1)[at], quoted(found.reads)[at]
    sentence = f"P({target} | everything up to {read}) = {rounded(math.exp(-loss))}"
    hit = (
        "no token is more probable"
        if best == found.ids[at]
        else f"the most probable token has {rounded(math.exp(float(found.log_p[at, best])))}"
    )
    show_table(
        "forcing",
        caption=f"Mean loss {decimal(mean, '.3f')} nats per token. Click a row.",
        columns=("input", "target", "P(target)", "−ln P"),
        rows=[
            (
                f"{i} {visible(found.reads[i])}",
                visible(found.targets[i]),
                rounded(math.exp(-losses[i])),
                decimal(float(losses[i]), ".3f"),
            )
            for i in range(n)
        ],
        shares=[float(loss / max(losses.max(), 1e-9)) for loss in losses[:n]],
        picked=at,
        about=f"{sentence}, and −ln {rounded(math.exp(-loss))} = {decimal(loss, '.3f')}; {hit}.",
        on_pick=controls.pin,
    )
    first = " + ".join(decimal(float(loss), ".2f") for loss in found.losses[:3])
    dots = " + …" if len(found.ids) > 3 else ""
    result(
        f"The loss of the text is the mean, ({first}{dots}) / {len(found.ids)} = **{decimal(mean, '.3f')}**; its "
        f"exponential, the perplexity, is {rounded(math.exp(min(mean, 700)))}. A uniform guess costs ln "
        f"{found.log_p.shape[1]:,} = {decimal(math.log(found.log_p.shape[1]))}. {_trained(found.model)}"
    )


def _trained(model: Model) -> str:
    one_pass = "All positions are trained in one pass, and a causal mask"
    if model.config.architecture == "encoder-decoder":
        return (
            "The target is what the decoder reads, shifted by one position: in training the second text of a pair, "
            f"here what the model itself writes. {one_pass} keeps each from seeing its answer."
        )
    target = "The target is the input shifted by one position."
    if model.config.training_mask == "none":
        return (
            f"{target} {one_pass} must keep each from seeing its answer. This model was trained without that mask, so "
            "it learned only to copy its answer."
        )
    return f"{target} {one_pass} keeps each from seeing its answer."


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Forced:
    """A text read with every next token given (teacher forcing).

    Attributes:
        reads, targets: (len,), the token at each position and the one to predict there.
        ids: (len,), of the targets.
        log_p: (len, vocab), ln P of every entry at each position.
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


def forced(ctx: PageContext, *, from_left: bool = False) -> Forced | None:
    """The typed text with a writer's predictions (for an encoder-decoder, its output); None without a next token.

    Args:
        from_left: only models whose writer sees the tokens to its left and nothing else, so no encoder-decoder.
    """
    if (ctx_b := with_writer(ctx, from_left=from_left)) is None:
        return None
    found = _forced(ctx_b.model, ctx.text)
    if not found.ids:
        say_too_short()
        return None
    return found


def with_writer(ctx: PageContext, *, from_left: bool = False) -> PageContext | None:
    """The lesson with a model that predicts the next token; see `forced`."""
    kind = ctx.model.config.architecture
    fits = kind == "decoder-only" if from_left else kind != "encoder-only"
    needs = f"a model that predicts {'each token only from those before it' if from_left else 'the next token'}"
    return lesson.fallback_model(ctx, needs, fits=fits, instead="tiny-english")


def say_too_short() -> None:
    st.info("A single token has no next token. Type a longer text.", icon=icons.WRITE)


@cached_for_all
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
    """The chosen prediction; at first the one with the largest loss."""
    chosen = controls.pinned()
    return int(found.losses.argmax()) if chosen is None else min(chosen, len(found.ids) - 1)


FILLER = "fill-in"
"""The shipped model trained on masked words."""

SPAN_MODELS = PROJECT / "assets" / "recipe"
"""The folder of the model trained on spans. It is not in the menu: it does not continue an ordinary text."""


def tasks(ctx: PageContext) -> None:
    with lesson.control_row("tasks"):
        draw = inputs.slider("Random seed", 0, 50, 0, key="draw")
    found = forced(ctx, from_left=True)
    filler = models.needed(FILLER)
    if found is None or filler is None:
        return
    losses = found.losses
    asked = [
        Piece(whole(read), (f"→ {whole(target)}", decimal(float(loss)))) for read, target, loss in
        zip(found.reads[:MOST_TOKENS], found.targets[:MOST_TOKENS], losses[:MOST_TOKENS], strict=True)
    ]  # fmt: skip
    hidden, mean = _masked(filler, ctx.text, draw)
    rows = [
        Row("the next token", f"loss {decimal(float(losses.mean()))}", asked),
        Row("masked tokens", f"loss {decimal(mean)}", hidden),
        *_spans(ctx.text, draw),
    ]
    titles = ("task", "mean", "what the model reads; underneath, the answer and its loss")
    data = Pieces(caption="", titles=titles, rows=rows)
    show_plain_view("pieces", data=data.payload(), key="tasks")
    st.markdown(
        "Their losses are not comparable. **The next token** is predicted at every position, from the left. **Masked "
        f"tokens** (BERT): 15% are predicted from both sides (by {FILLER}); of these, 80% become the mask, 10% a "
        "random token, and 10% stay. BERT also learned next-sentence prediction. **Spans** "
        "(T5): 15% are cut out in runs of about three, which a decoder writes; on held-out text its loss is 5.07 nats "
        "per token; token frequencies alone reach 6.38."
    )


def _masked(model: Model, text: str, draw: int) -> tuple[list[Piece], float]:
    ids, read, asked, losses = _draw(model, text, draw)
    boxes = []
    for n, ((before, name), now) in enumerate(zip(_named(model, ids), read, strict=True)):
        below = (f"→ {whole(name)}", decimal(float(losses[n]))) if asked[n] else ()
        shown = name if now == before else model.vocabulary[now]
        boxes.append(Piece(whole(shown), below, "mark" if now == MASK else "new" if now != before else ""))
    return boxes[:MOST_TOKENS], float(losses[asked].mean())


def _named(model: Model, ids: list[int]) -> list[tuple[int, str]]:
    return list(zip(ids, model.tokenizer.encoding_of(ids, max_len=len(ids)).tokens, strict=True))


@cached_for_all
def _draw(model: Model, text: str, draw: int) -> tuple[list[int], list[int], np.ndarray, np.ndarray]:
    """Tokens before and after masking, the masked positions, and −ln P of each true token."""
    ids = np.array([model.tokenizer.ids(text)[: model.config.max_len]])
    read, asked = corruption.masked(
        ids, np.ones_like(ids, dtype=bool), np.random.default_rng(draw), mask=MASK, vocab_size=model.config.vocab_size
    )
    log_p = log_softmax(model.trace(read[0].tolist(), sites=("logits",))["logits"])
    return ids[0].tolist(), read[0].tolist(), asked[0], -log_p[range(len(ids[0])), ids[0]]


def _spans(text: str, draw: int) -> list[Row]:
    try:
        model = models.of_folder("spans", SPAN_MODELS)
    except ModelUnavailable as error:
        st.info(f"Span corruption needs a model that is missing. {markdown.plain(str(error))}", icon=icons.INFO)
        return []
    reads, writes, losses = _left_out(model, text, draw)
    if not writes:
        return [Row("spans: input", "too short", _boxes(model, reads))]
    counted = losses[[index not in _marks(model) for index, _ in writes]]
    return [
        Row("spans: input", "", _boxes(model, reads)),
        Row("spans: output", f"loss {decimal(float(counted.mean()))}", _boxes(model, writes, losses)),
    ]


def _marks(model: Model) -> range:
    """The special tokens of spans: one more than the spans in the longest text that the model reads."""
    return range(SPANS, SPANS + corruption.n_spans(model.config.max_len) + 1)


@cached_for_all
def _left_out(model: Model, text: str, draw: int) -> tuple[list[tuple[int, str]], list[tuple[int, str]], Array]:
    """The tokens that are read, those to be written, each with its name, and −ln P of each of these."""
    ids = model.tokenizer.ids(text)[: model.config.max_len]
    hidden = corruption.spans(len(ids), np.random.default_rng(draw))
    marks = [(index, f"⟨{n}⟩") for n, index in enumerate(_marks(model), start=1)]
    reads, writes = corruption.left_out(_named(model, ids), hidden, marks=marks)
    if not writes:
        return reads, writes, np.zeros(0)
    source, target = ([index for index, _ in tokens] for tokens in (reads, writes))
    log_p = log_softmax(model.trace(source, target=target, sites=("logits",))["logits"])
    return reads, writes, -log_p[range(len(target)), target]


def _boxes(model: Model, tokens: Sequence[tuple[int, str]], losses: Sequence[float] | Array = ()) -> list[Piece]:
    below: list[tuple[str, ...]] = [(decimal(float(loss)),) for loss in losses] or [()] * len(tokens)
    return [
        Piece(whole(name), note, "mark" if index in _marks(model) else "")
        for (index, name), note in zip(tokens, below, strict=True)
    ]
