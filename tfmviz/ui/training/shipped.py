"""The runs that made the shipped models, as their logs tell them."""

from __future__ import annotations

import math

import streamlit as st

from tfmviz import zoo
from tfmviz.places import PROJECT
from tfmviz.plots import learning
from tfmviz.record.trace import Array
from tfmviz.runs import records
from tfmviz.runs.records import Records
from tfmviz.ui import controls, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show, theme
from tfmviz.words import markdown

LOGS = PROJECT / "assets" / "training"

TWIN = "twins-"
"""How the names of the models begin that differ in one thing only."""

CHOSEN = "the chosen model"

SHOWN = ("the twins", "the others", "all", CHOSEN)


@shared
def log_of(name: str) -> Records:
    """What the run of a shipped model wrote; about 200 of its steps were kept."""
    return records.read(LOGS / f"{name}.jsonl")


def logs() -> list[str]:
    """Names of the models whose log is here."""
    return sorted(path.stem for path in LOGS.glob("*.jsonl"))


def curves() -> None:
    """Loss, learning rate and length of the gradient of the shipped models, over their steps."""
    figure, line = st.container(), lesson.line("shipped")
    shown = line.radio("Runs", SHOWN, horizontal=True, key="runs", bind="query-params")
    if shown != CHOSEN:
        lesson.hide("model")
    names = _names(shown)
    if not names:
        figure.info(f"There is no log of {markdown.code(controls.choice().model)} here.")
        return
    found = {name: log_of(name) for name in names}
    with figure:
        _chart(found)
    st.markdown(_in_words(found, shown))
    _table(found)


def _names(shown: str) -> list[str]:
    there = logs()
    match shown:
        case "the twins":
            return [name for name in there if name.startswith(TWIN)]
        case "the others":
            return [name for name in there if not name.startswith(TWIN)]
        case "the chosen model":
            return [name for name in there if name == controls.choice().model]
    return there


def _chart(found: dict[str, Records]) -> None:
    def lines(column: str) -> dict[str, tuple[Array, Array]]:
        return {name.removeprefix(TWIN): (log.steps, getattr(log, column)) for name, log in found.items()}

    columns = {
        "loss of the batch, nats per token": lines("loss"),
        "learning rate": lines("learning_rate"),
        "length of the gradient, before clipping": lines("grad_norm"),
    }
    sizes = sorted({entry.config.vocab_size for entry in zoo.catalogue() if entry.name in found and entry.config})
    levels = [(math.log(size), f"log {size:,} = {math.log(size):.2f}") for size in sizes]  # of pure chance
    show(
        "shipped_curves",
        learning.log_panels(columns, theme=theme(), levels=levels),
        alt="; ".join(
            f"{name}: loss {log.loss[0]:.2f} at first, {log.loss[-1]:.2f} at last" for name, log in found.items()
        ),
    )


def _in_words(found: dict[str, Records], shown: str) -> str:
    if shown == "the twins":
        best = min(found, key=lambda name: found[name].held_out[-1])
        return (
            "The dotted line is chance, log V. The twins differ in one thing each. Lowest on held-out text: "
            f"**{best.removeprefix(TWIN)}**. The unmasked twin reads the answers, so its loss means nothing."
        )
    return "These models differ in vocabulary and task: compare shapes, not heights."


def _table(found: dict[str, Records]) -> None:
    st.table(
        {
            "model": list(found),
            "updates": [f"{log.steps[-1]:,.0f}" for log in found.values()],
            "loss at first": [f"{log.loss[0]:.2f}" for log in found.values()],
            "at last": [f"{log.loss[-1]:.2f}" for log in found.values()],
            "held out, at last": [f"{log.held_out[-1]:.2f}" for log in found.values()],
            "longest gradient": [f"{log.grad_norm.max():.1f}" for log in found.values()],
        }
    )
    st.caption("Held out: eight batches, measured during training.")
