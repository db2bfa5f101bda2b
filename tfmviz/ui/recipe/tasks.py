"""Self-supervision: one text as three tasks (the next word, masked words, spans), and what the models lose at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.calibration import log_softmax
from tfmviz.constants import MASK
from tfmviz.places import PROJECT
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.text import corruption
from tfmviz.text.tokenizer import SPANS
from tfmviz.ui import icons, inputs, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.recipe import forcing
from tfmviz.views import pieces
from tfmviz.views.pieces import Piece, Pieces, Row
from tfmviz.words import markdown
from tfmviz.words.labels import whole
from tfmviz.words.numbers import decimal
from tfmviz.zoo import ModelUnavailable

FILLER = "fill-in"
"""The shipped model that was trained on masked words."""

SPAN_MODELS = PROJECT / "assets" / "recipe"
"""The folder of the model that was trained on spans. It is not in the menu: of an ordinary text it writes nothing."""

MOST = 60
"""Tokens of the text that are shown."""


def tasks(here: Lesson) -> None:
    with lesson.line("tasks"):
        draw = inputs.slider("Random seed", 0, 50, 0, key="draw")
    found = forcing.forced(here, from_left=True)
    filler = models.needed(FILLER)
    if found is None or filler is None:
        return
    losses = found.losses
    asked = [
        Piece(whole(read), (f"→ {whole(target)}", decimal(float(loss)))) for read, target, loss in
        zip(found.reads[:MOST], found.targets[:MOST], losses[:MOST], strict=True)
    ]  # fmt: skip
    hidden, mean = _masked(filler, here.text, draw)
    rows = [
        Row("the next token", f"loss {decimal(float(losses.mean()))}", asked),
        Row("masked tokens", f"loss {decimal(mean)}", hidden),
        *_spans(here.text, draw),
    ]
    titles = ("task", "mean", "what the model reads; underneath, the answer and its loss")
    data = Pieces(caption="", titles=titles, rows=rows)
    show_plain_view("pieces", js=pieces.JS, css=pieces.CSS, data=data.payload(), key="tasks")
    st.markdown(
        "Their losses are not comparable. **The next token** is predicted at every position, from the left. **Masked "
        f"tokens** (BERT): 15% are predicted from both sides (by {FILLER}); of these, 80% become the mask, 10% a "
        "random token, and 10% stay. BERT also learned next-sentence prediction. **Spans** "
        "(T5): 15% are cut out in runs of about three, which a decoder writes; on held-out text its loss is 5.07 nats "
        "per token; token frequencies alone reach 6.38."
    )


def _masked(model: Model, text: str, draw: int) -> tuple[list[Piece], float]:
    """The text as the masked model reads it, with the answers it is asked for, and its mean loss."""
    ids, read, asked, losses = _draw(model, text, draw)
    vocabulary = model.vocabulary
    boxes = []
    for n, (before, now) in enumerate(zip(ids, read, strict=True)):
        below = (f"→ {whole(vocabulary[before])}", decimal(float(losses[n]))) if asked[n] else ()
        boxes.append(Piece(whole(vocabulary[now]), below, "mark" if now == MASK else "new" if now != before else ""))
    return boxes[:MOST], float(losses[asked].mean())


@shared
def _draw(model: Model, text: str, draw: int) -> tuple[list[int], list[int], np.ndarray, np.ndarray]:
    """Tokens before and after masking, which are asked for, and −ln P of each true token."""
    ids = np.array([model.tokenizer.ids(text)[: model.config.max_len]])
    read, asked = corruption.masked(
        ids, np.ones_like(ids, dtype=bool), np.random.default_rng(draw), mask=MASK, vocab_size=model.config.vocab_size
    )
    log_p = log_softmax(model.trace(read[0].tolist(), sites=("logits",))["logits"])
    return ids[0].tolist(), read[0].tolist(), asked[0], -log_p[range(len(ids[0])), ids[0]]


@shared
def _span_model() -> Model:
    return zoo.with_copies(zoo.load("spans", SPAN_MODELS))


def _spans(text: str, draw: int) -> list[Row]:
    try:
        model = _span_model()
    except ModelUnavailable as error:
        st.info(f"Span corruption needs a model that is missing. {markdown.plain(str(error))}", icon=icons.INFO)
        return []
    reads, writes, losses = _left_out(model, text, draw)
    if not writes:
        return [Row("spans: input", "too short", _boxes(model, reads))]
    counted = losses[[index not in _marks(model) for index in writes]]
    return [
        Row("spans: input", "", _boxes(model, reads)),
        Row("spans: output", f"loss {decimal(float(counted.mean()))}", _boxes(model, writes, losses)),
    ]


def _marks(model: Model) -> range:
    """The marks of spans in its vocabulary: one more than there are spans in the longest text that it reads."""
    return range(SPANS, SPANS + corruption.n_spans(model.config.max_len) + 1)


@shared
def _left_out(model: Model, text: str, draw: int) -> tuple[list[int], list[int], Array]:
    """The tokens that are read, those to be written, and −ln P of each of these."""
    ids = model.tokenizer.ids(text)[: model.config.max_len]
    hidden = corruption.spans(len(ids), np.random.default_rng(draw))
    reads, writes = corruption.left_out(ids, hidden, marks=_marks(model))
    if not writes:
        return reads, writes, np.zeros(0)
    log_p = log_softmax(model.trace(reads, target=writes, sites=("logits",))["logits"])
    return reads, writes, -log_p[range(len(writes)), writes]


def _boxes(model: Model, ids: Sequence[int], losses: Sequence[float] | Array = ()) -> list[Piece]:
    """A box for each token, with its loss below it if there are losses."""
    below: list[tuple[str, ...]] = [(decimal(float(loss)),) for loss in losses] or [()] * len(ids)
    return [
        Piece(f"⟨{index - SPANS + 1}⟩", said, "mark")
        if index in _marks(model)
        else Piece(whole(model.vocabulary[index]), said)
        for index, said in zip(ids, below, strict=True)
    ]
