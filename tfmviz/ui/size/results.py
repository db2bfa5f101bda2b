"""The lectures' tables of published results: translation, summaries, sizes of known models."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import streamlit as st

from tfmviz.analysis.parameters import PUBLISHED, counts
from tfmviz.places import PROJECT
from tfmviz.ui import inputs, lesson
from tfmviz.ui.figures import show
from tfmviz.views.counts import Table
from tfmviz.words.numbers import in_words


@cache
def _read() -> dict[str, dict[str, Any]]:
    return tomllib.loads((PROJECT / "assets" / "results.toml").read_text(encoding="utf-8"))


def tables() -> None:
    found = _read()
    with lesson.line("results"):
        name = inputs.segmented_control("Results", list(found), default="translation", key="results")
    table = dict(found[name])
    says = table.pop("says")
    show("result_table", Table(**table) if table else _sizes())
    st.markdown(says)


def _sizes() -> Table:
    """Parameters of known models: counted, and as their authors give them."""
    return Table(
        caption="Parameters of known models",
        columns=("model", "d_model", "layers", "exact", "authors"),
        rows=[
            (
                name,
                f"{known.design.d_model:,}",
                str(known.design.n_layers),
                f"{sum(counts(known.design).values()):,}",
                f"{in_words(known.said)} ({known.source})",
            )
            for name, known in PUBLISHED.items()
        ],
        sortable=True,
    )
