"""What the look then writes: a map of keys and words."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.why.reading import folded, largest
from tfmviz.analysis.why.writes import Pushes, pushes
from tfmviz.plots.cells import named
from tfmviz.record.model import Model
from tfmviz.ui import controls, icons, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.why import subject
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, quoted, visible
from tfmviz.words.numbers import counted, decimal, per_cent

RAISED, LOWERED = 6, 4
"""Words that the map shows: those that the head raises most, and those that it lowers most."""

SHOWN = 11
"""Keys with a row of their own."""


def writes(here: Lesson) -> None:
    stack = here.model.writes_from
    if "logits" not in here.trace:
        st.info(lesson.NO_HEAD, icon=icons.INFO)
        return
    if here.model.weights.stacks[stack].readout.transform is not None:
        st.info("After Norm(GELU(x W + b)), logits are not a sum of values.", icon=icons.INFO)
        return
    if not here.choice.layer.startswith(f"{stack}."):
        st.info("Encoders write no words. Choose another kind of attention.", icon=icons.INFO)
        return
    with lesson.line("writes"):
        controls.token_box(of_queries(here.trace, here.choice.layer), here.query, label="Query")
    found = _pushes(here.model, here.text, here.choice.layer, here.choice.head, here.query)
    _in_words(here, found)
    _map(here, found)


@shared
def _pushes(model: Model, text: str, layer: str, head: int, token: int) -> Pushes:
    weights = model.weights.stacks[model.writes_from]
    return pushes(models.trace(model, text), layer, head, token, weights=weights, raised=RAISED, lowered=LOWERED)


def _map(here: Lesson, found: Pushes) -> None:
    keys = [visible(token) for token in here.trace.axes(here.choice.layer)[1].tokens]
    words = [visible(here.model.vocabulary[word]) for word in found.words]
    sizes = np.abs(found.by_key).sum(axis=1)
    kept = sorted(n for n in largest(sizes, SHOWN) if sizes[n] > 0)  # what is masked adds exactly nothing
    values = folded(found.by_key, kept, range(len(words)))[:, :-1]
    row = here.trace[f"{here.choice.layer}.pattern"][here.choice.head, here.query]
    rows = [f"{n} {keys[n]} · {per_cent(float(row[n]))}" for n in kept]
    if others := int((sizes > 0).sum()) - len(kept):
        rows.append(counted(others, "other"))
    values = values[: len(rows)]
    show("writes", subject.terms(values, named(rows, "value of"), named(words, "word"), "added to the logit"))


def _in_words(here: Lesson, found: Pushes) -> None:
    """The word that the head raises most, and the token behind it."""
    keys = here.trace.axes(here.choice.layer)[1].tokens
    best = int(found.by_key[:, 0].argmax())
    word = markdown.plain(visible(here.model.vocabulary[found.words[0]]))
    result(
        f"At {subject.names(here)['query']} this head raises “{word}” most, by "
        f"**{decimal(float(found.by_key[:, 0].sum()), '+.2f')}**; the value of "
        f"{markdown.plain(quoted(keys)[best])} adds **{decimal(float(found.by_key[best, 0]), '+.2f')}**."
    )
