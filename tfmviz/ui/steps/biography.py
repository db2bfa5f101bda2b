from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.biography import words
from tfmviz.analysis.biography.file import FILE, HeadCatalog, HeadProfile, NoBiographies, load, unlike
from tfmviz.constants import ATTENTION_KINDS, TILE_MASKED
from tfmviz.paths import PROJECT
from tfmviz.record.trace import kind_of
from tfmviz.ui import controls, inputs, lesson, models, steps
from tfmviz.ui.cache import read_lines
from tfmviz.ui.controls import Selection
from tfmviz.ui.figures import result, show_choice, show_table
from tfmviz.ui.lesson import PageContext
from tfmviz.views import heads as view
from tfmviz.views.payload import thumbnails
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, per_cent

MEASURES: dict[str, Callable[[HeadProfile], float]] = {
    "distance": lambda found: found.distance,
    "first token": lambda found: found.first,
    "sharpness": lambda found: found.sharp,
    "copying": lambda found: found.copying,
    "damage": lambda found: found.damage[0],
}
"""Axes of the map: tokens away, shares of attention, the eigenvalue score, nats."""

SHOWN, TRANSLATED = 20, 5
"""Examples that are listed, and those in a translator's decoder: each has to be translated first."""


NAMED = 10
"""Heads named on the map: those with the largest shares behind their claims."""


def biography(ctx: PageContext) -> None:
    if (book := models.book(ctx.model)) is None:
        steps.finder(ctx)
        return
    ctx = replace(ctx, choice=_opened(ctx, book))
    map_, line = st.container(), lesson.control_row("map")
    known = [name for name in MEASURES if name != "distance" or not ctx.choice.layer.endswith("cross_attn")]
    x, y = (
        inputs.selectbox(label, known, known.index(first), key=key, line=line)
        for label, key, first in (("x-axis", "map_x", known[0]), ("y-axis", "map_y", "sharpness"))
    )
    with map_:
        kind = kind_of(ctx.choice.layer)
        places = [(layer, head, found) for layer, head, found in book.all() if kind_of(layer) == kind]
        chosen = next(n for n, place in enumerate(places) if place[:2] == (ctx.choice.layer, ctx.choice.head))
        points = [_point(ctx, layer, head, found, (x, y)) for layer, head, found in places]
        best = sorted(
            (n for n, (*_, found) in enumerate(places) if found.held), key=lambda n: -words.score(places[n][2])
        )
        for n in best[:NAMED]:
            points[n]["word"] = _name(*places[n][:2])
        (n, of), (held, made) = book.coverage, book.precision

        def pick(index: object) -> None:
            if isinstance(index, int) and 0 <= index < len(places):
                controls.look_at(*places[index][:2])

        data = {
            "caption": f"Filled: a claim about this head held up elsewhere ({n} of {of} heads; {held} of {made} "
            "claims).",
            "axes": [_axis(name, [point[key] for point in points]) for name, key in ((x, "x"), (y, "y"))],
            "points": points,
            "chosen": chosen,
        }
        show_choice("heads", key="heads_map", data=data, on_pick=pick)
    found = book.heads[ctx.choice.layer][ctx.choice.head]
    sentence = markdown.plain(words.summary_text(found, book)).replace("\\. ", ". ")  # our full stops
    result(f"Head **{_name(ctx.choice.layer, ctx.choice.head)}** {sentence}")
    lines, stack = read_lines(PROJECT / "assets" / "texts" / book.texts), ctx.model.writes_from
    ahead = stack == "decoder"  # the predicted token is the next one
    worst = []
    for text, place, rise in found.worst:
        if text >= len(lines):
            continue
        tokens = models.tokens_read(ctx.model, lines[text], stack)
        if rise > 0 and place + ahead < len(tokens):
            worst.append(f"“{markdown.plain(visible(tokens[place + ahead]))}” (+{rise:.2f})")
    if worst:
        st.markdown(f"Removing it raises the loss most on these tokens: {', '.join(worst)}.")
    left, right = st.columns([3, 2])
    with left:
        rows = []
        shown = TRANSLATED if models.translates(ctx.model) and ctx.choice.layer.startswith("decoder.") else SHOWN
        for text, query, key, share in found.examples[:shown]:
            if text >= len(lines):
                continue  # someone has shortened the file
            queries = keys = models.tokens_read(ctx.model, lines[text], ctx.choice.layer.split(".")[0])
            if ctx.choice.layer.endswith("cross_attn"):
                keys = models.tokens_read(ctx.model, lines[text], "encoder")
            if query < len(queries) and key < len(keys):
                rows.append([f"{visible(queries[query])} → {visible(keys[key])}", per_cent(share), lines[text]])
        columns = ["pair", "share", "sentence"]
        show_table("head_examples", caption="Sharpest attention", columns=columns, rows=rows, low=True)
    with right:
        _alike(ctx, found)


def _opened(ctx: PageContext, book: HeadCatalog) -> Selection:
    if controls.has_chosen_head():
        return ctx.choice
    claims = [
        (found.claim.share - found.claim.chance, layer, head)
        for layer, head, found in book.all()
        if kind_of(layer) == kind_of(ctx.choice.layer) and found.claim is not None and found.claim.held
    ]
    if not claims:
        return ctx.choice
    _, layer, head = max(claims)
    return replace(ctx.choice, layer=layer, head=head)


def _point(ctx: PageContext, layer: str, head: int, found: HeadProfile, axes: tuple[str, str]) -> dict[str, Any]:
    x, y = (MEASURES[name](found) for name in axes)
    mask = ctx.trace[f"{layer}.mask"]
    picture = thumbnails(ctx.trace[f"{layer}.pattern"][head : head + 1], mask if mask.ndim == 2 else mask[head])[0]
    return {
        "name": f"head {_name(layer, head)}",
        "about": f"{found.name} {decimal(words.score(found))}" if found.held else "No claim held.",
        "x": x,
        "y": y,
        "kind": found.name if found.held else "",
        "word": "",
        "rows": len(picture),
        "cells": view.cells(picture, masked=TILE_MASKED),
    }


def _axis(name: str, values: Sequence[float]) -> dict[str, Any]:
    low, high = (-1.0, 1.0) if name == "copying" else (min(0.0, *values), max(values))
    return {
        "title": {"distance": "tokens away", "damage": "nats lost without it"}.get(name, name),
        "low": low,
        "high": high,
    }


def _name(layer: str, head: int) -> str:
    """4.3, or in a model of two stacks "encoder 0.1", "cross 0.1"."""
    stack, index, part = layer.split(".")
    return f"{'cross ' if part == 'cross_attn' else 'encoder ' if stack == 'encoder' else ''}{index}.{head}"


def _alike(ctx: PageContext, found: HeadProfile) -> None:
    this = (ctx.model.name, ctx.choice.layer, ctx.choice.head)
    others = [
        (other.name != found.name, unlike(found, other), name, layer, head, other)
        for name, book in _books().items()
        for layer, head, other in book.all()
        if (name, layer, head) != this
    ]
    best = sorted(others, key=lambda row: row[:5])[:6]

    def pick(row: int) -> None:
        name, layer, head = best[row][2:5]
        kind, index = ATTENTION_KINDS[kind_of(layer)], int(layer.split(".")[1])
        for key, value in {"model": name, "kind": kind, "layer": index, "head": head}.items():
            st.session_state[key] = value
        st.session_state["has_chosen_head"] = True

    show_table(
        "heads_alike",
        caption="Heads like this one",
        columns=["head", "claim"],
        rows=[[f"{name} {_name(layer, head)}", other.name] for *_, name, layer, head, other in best],
        picked=-1,
        on_pick=pick,
    )


@st.cache_resource(show_spinner=False)
def _books() -> dict[str, HeadCatalog]:
    """Biographies of all models, whose weights are not loaded for comparison."""
    found = {}
    for name in zoo.available(zoo.MODELS):
        try:
            found[name] = load(zoo.MODELS / name / FILE, None)
        except NoBiographies:
            continue
    return found
