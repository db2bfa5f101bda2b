from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.plots.paths import Series, against_length
from tfmviz.ui import icons, lesson
from tfmviz.ui.figures import show, show_table, theme
from tfmviz.ui.held_out import outdated
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal, per_cent

FILE = zoo.MODELS.parent / "training" / "bottleneck.json"

NAMES = {
    "seq2seq-none": "no attention",
    "seq2seq-dot": "dot product",
    "seq2seq-bilinear": "bilinear",
    "seq2seq-additive": "additive",
    "always the commonest": "most common word",
}


def measured() -> None:
    """Nothing if it was measured on other weights."""
    lesson.hide_line("bottleneck")
    try:
        found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        st.info("There are no measurements yet; `python -m scripts.measure_bottleneck` creates them.", icon=icons.INFO)
        return
    if outdated(found):
        return
    rows, names = found["lengths"], list(found["weights"])
    series = {NAMES[name]: _series(rows, "bleu", name, _score) for name in names}
    show("bleu", against_length(series, title="BLEU", theme=theme()))
    show_table(
        "bleu_table",
        caption="BLEU with 95% intervals",
        columns=("source", "texts", "words", *(NAMES[name] for name in names)),
        rows=[
            (
                _length(row),
                f"{row['texts']:,}",
                decimal(row["words"], ".1f"),
                *(_score(row["bleu"][name]) for name in names),
            )
            for row in rows
        ],
    )

    def share(value: list[float]) -> str:
        return f"{per_cent(value[0])} ({per_cent(value[1])} to {per_cent(value[2])})"

    rows = found["probe"]["lengths"]
    series = {NAMES[name]: _series(rows, "right", name, share) for name in rows[0]["right"]}
    show(
        "first_word",
        against_length(series, title="first word read correctly", percent=True, theme=theme()),
        title="How often can a linear classifier read the first word from hₙ?",
    )
    st.markdown(f"Measured by {markdown.code(found['command'])}, seed {found['seed']}.")


def _series(rows: list[dict[str, Any]], what: str, name: str, tooltips: Callable[[list[float]], str]) -> Series:
    return Series(
        x=np.array([row["words"] for row in rows]),
        values=np.array([row[what][name] for row in rows]),
        tooltips=[f"{NAMES[name]}, {_length(row)}: {tooltips(row[what][name])}" for row in rows],
    )


def _length(row: dict[str, Any]) -> str:
    return f"up to {row['most']} words" if row["most"] else "pairs alone"


def _score(value: list[float]) -> str:
    return f"{decimal(value[0], '.1f')} ({decimal(value[1], '.1f')}–{decimal(value[2], '.1f')})"
