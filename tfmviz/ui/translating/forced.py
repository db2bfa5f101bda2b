"""The model is made to write: the beginning of the translation, or all words of a reference."""

from __future__ import annotations

import numpy as np

from tfmviz import zoo
from tfmviz.analysis.calibration import log_softmax
from tfmviz.plots.cells import Axis, Cells, Form, amounts, probability
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import inputs
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson, line
from tfmviz.ui.translating import references
from tfmviz.words import markdown
from tfmviz.words.labels import END, visible
from tfmviz.words.numbers import decimal, per_cent


def beginning(here: Lesson) -> None:
    with line("begins"):
        begins = inputs.text_input("The translation begins with", "", key="begins", max_chars=300)
    model = here.model
    given = model.tokenizer.encode(begins, max_len=model.config.max_len - 2).ids
    ids, p = _written(model, here.text, tuple(given))
    words = [END if index in model.tokenizer.marks.ends else visible(model.vocabulary[index]) for index in ids]
    text = model.tokenizer.decode([index for index in ids if index not in model.tokenizer.marks.ends])
    show("forced", _probabilities(p, words, len(given)))
    log_p, (free_ids, free_p) = float(np.log(p).sum()), _written(model, here.text, ())
    free = model.tokenizer.decode([index for index in free_ids if index not in model.tokenizer.marks.ends])
    is_at_once = len(ids) == len(given) + 1 and ids[-1] in model.tokenizer.marks.ends
    end = " The model ends the text right after your words." if is_at_once else ""
    result(
        f"**{markdown.plain(text.strip())}** (log p(e | f) = Σᵢ log p(eᵢ | f, e₁ … eᵢ₋₁) = {decimal(log_p)} nats). On "
        f"its own it writes “{markdown.plain(free.strip())}” ({decimal(float(np.log(free_p).sum()))} nats).{end}"
    )


def _probabilities(p: Array, words: list[str], n_given: int) -> Cells:
    """What the model gives each word, (word,); the first ones are the reader's."""
    return Cells(
        p[None, None],
        Axis("", ("p",)),
        Axis("word", [f"[{word}]" if n < n_given else word for n, word in enumerate(words)]),
        probability("probability"),
        form=Form(digits=1, percent=True),
        texts=[[per_cent(value) for value in p.tolist()]],
        notes=[["given by you" if n < n_given else "chosen by the model" for n in range(len(words))]],
        row_height=44,
    )


@shared
def _written(model: Model, text: str, given: tuple[int, ...]) -> tuple[tuple[int, ...], Array]:
    """The tokens of a greedy translation, its mark at the end included, and the probability of each."""
    steps = zoo.writing.generate(model, text, given=given, max_new_tokens=model.config.max_len).steps
    return tuple(step.token for step in steps), np.array([step.probability for step in steps])


def losses(here: Lesson) -> None:
    """The loss at every word of a reference, after the right words and after the model's own."""
    with line("reference"):
        reference = references.ask(here)[:1]
    if not reference:
        references.say_none()
        return
    ids = tuple(here.model.tokenizer.encode(reference[0], max_len=here.model.config.max_len - 2).ids)
    if not ids:
        references.say_none()
        return
    forced, free, wrote = _losses(here.model, here.text, ids)
    vocabulary = here.model.vocabulary
    ends = here.model.tokenizer.marks.ends
    words, own = ([END if index in ends else visible(vocabulary[index]) for index in row] for row in (ids, wrote))
    show("losses", _two_losses(np.stack([forced, free]), words, own))
    parts = next((n for n, (a, b) in enumerate(zip(ids, wrote, strict=True)) if a != b), None)
    where = (
        "The model's own words are the same."
        if parts is None
        else f"They diverge at word {parts + 1}, where the model writes “{markdown.plain(own[parts])}” instead of "
        f"“{markdown.plain(words[parts])}” ({per_cent(float(np.exp(-forced[parts])))})."
    )
    result(
        f"In training the decoder reads the correct words (upper row); the mean loss is "
        f"**{decimal(float(forced.mean()))} nats**. In use it reads its own (lower row): "
        f"**{decimal(float(free.mean()))} nats**. {where}"
    )


def _two_losses(both: Array, words: list[str], wrote: list[str]) -> Cells:
    """The loss at each word after the right words and after the model's own, (2, word), and what it wrote itself."""
    return Cells(
        both[None],
        Axis("after", ("the correct words", "its own words")),
        Axis("word of the reference", words),
        amounts(both, "loss in nats"),
        form=Form(name="loss ", digits=2, unit=" nats"),
        texts=[[decimal(value) for value in row] for row in both.tolist()],
        notes=[[""] * len(words), [f"the model wrote “{word}”" for word in wrote]],
        row_height=40,
    )


@shared
def _losses(model: Model, text: str, ids: tuple[int, ...]) -> tuple[Array, Array, tuple[int, ...]]:
    """−log p of each token of a reference after the reference's own words and after the model's, and these words.

    The model's translation is filled with its last token, the mark at the end, where it is shorter.
    """
    end = model.tokenizer.marks.ends[:1]
    written = (*zoo.writing.generate(model, text).ids, *(end * len(ids)))[: len(ids)]
    found = []
    for target in (ids, written):
        log_p = log_softmax(model.trace(text, sites=("logits",), target=target[:-1])["logits"])
        found.append(-log_p[np.arange(len(ids)), list(ids)])
    return found[0], found[1], written
