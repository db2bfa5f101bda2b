"""Declares a tab by its drawing, purpose and inputs; the rest follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.ui import comparison, guess, head_comparison, lesson, url
from tfmviz.ui.guess import Question
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.inputs import segmented_control
from tfmviz.ui.lesson import CHOICES, PageContext, hide_all_but, where_it_predicts


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab of a page, with its address, its entry in the search and what is hidden while it is open.

    Attributes:
        draw: called for A and for B in a comparison.
        purpose: what to look at and why (Markdown); may be empty.
        question: to guess before seeing the figure; "" where there is nothing to guess.
        inputs: those of `CHOICES` that it reads; None: the row's.
        aliases: former titles that are now a choice within this tab, and the choice by its key. Addresses with such a
            title open there; a tab with the title of its first choice opens as it is.
        differs: draws the difference below A and B.
        alone: why comparing means nothing here, in a sentence; "" where the tab compares.
        intact: it runs the model as it is, so that a head that is off changes nothing.
    """

    title: str
    draw: Callable[[PageContext], object]
    purpose: str = ""
    question: str | Question = ""
    _: KW_ONLY
    inputs: Sequence[str] | None = None
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    differs: Callable[[HeadComparison], object] | None = None
    alone: str = ""
    intact: bool = False


def tabs(
    key: str, ctx: PageContext, *parts: Tab, ctx_b: PageContext | None = None, inputs: Sequence[str] = CHOICES
) -> None:
    """Draws a row of tabs and computes only the open one.

    Args:
        key: name of the row in the address.
        inputs: of tabs without their own.
    """
    asked = url.text(key)
    renamed = {title: (tab.title, choices) for tab in parts for title, choices in tab.aliases.items()}
    title, choices = renamed.get(asked, (asked, {}))
    if title != asked and key not in st.session_state:
        url.choose({key: title, **choices})
    for place, tab in zip(st.tabs([tab.title for tab in parts], key=key, bind="query-params"), parts, strict=True):
        if place.open:
            with place:
                read = inputs if tab.inputs is None else tab.inputs
                hide_all_but(read)
                if tab.purpose:
                    st.markdown(tab.purpose)
                with guess.first(tab.question, name=key), where_it_predicts():
                    _compare(key, tab, ctx, ctx_b, read)


def _compare(key: str, tab: Tab, ctx: PageContext, ctx_b: PageContext | None, inputs: Sequence[str]) -> None:
    if ctx_b is None or (why := tab.alone or _same(tab, ctx, ctx_b, inputs)):
        if ctx_b:
            st.caption(why)
        tab.draw(ctx)
        return
    both = head_comparison.compare(ctx, ctx_b)
    comparison.draw(key, both, tab.draw)
    if tab.differs:
        tab.differs(both)


def _same(tab: Tab, ctx: PageContext, ctx_b: PageContext, inputs: Sequence[str]) -> str:
    """The reason why A and B are equal in a tab that reads nothing of what differs; else ""."""
    if ctx_b.edits:
        return "This tab runs the model with all of its heads." if tab.intact else ""
    if ctx.model is not ctx_b.model and "model" not in inputs:
        return "This tab has models of its own: A and B are the same here."
    if ctx.text != ctx_b.text and "text" not in inputs:
        return "This tab does not read the sentence: A and B are the same here."
    return ""


def either(label: str, key: str, parts: Mapping[str, Callable[[PageContext], object]]) -> Callable[[PageContext], None]:
    """A tab with a choice within, named `key` in the address, which draws only the chosen part."""

    def draw(ctx: PageContext) -> None:
        parts[segmented_control(label, list(parts), key=key, required=True, line=lesson.control_row(key))](ctx)

    return draw


def parts(
    key: str, ctx: PageContext, *those: Tab, inputs: Sequence[str] = CHOICES, line: DeltaGenerator | None = None
) -> None:
    """Parts of a tab under a choice: a second row of tabs would look like the first.

    Args:
        key, inputs: as of `tabs`.
        line: where the choice stands; None: in a line of its own.
    """
    found = {tab.title: tab for tab in those}
    tab = found[segmented_control("Show", list(found), key=key, required=True, line=line or lesson.control_row(key))]
    hide_all_but(inputs if tab.inputs is None else tab.inputs)
    if tab.purpose:
        st.markdown(tab.purpose)
    tab.draw(ctx)
