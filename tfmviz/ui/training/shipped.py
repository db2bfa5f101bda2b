"""The runs that made the shipped models, as their logs tell them."""

from __future__ import annotations

import math

import streamlit as st

from tfmviz import zoo
from tfmviz.places import PROJECT
from tfmviz.plots import panels
from tfmviz.plots.dots import held_out
from tfmviz.record.trace import Array
from tfmviz.runs import records
from tfmviz.runs.records import Records
from tfmviz.ui import controls, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show, theme
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
        figure.info(f"There is no training log of {markdown.code(controls.choice().model)}.")
        return
    found = {name: log_of(name) for name in names}
    last = {name: float(log.held_out[-1]) for name, log in found.items()}
    best = min(last, key=lambda name: last[name])
    bright = best
    if len(found) > 1:
        shorts = {_short(name): name for name in names}
        bright = shorts[line.selectbox("Highlight", list(shorts), names.index(best), key="bright", bind="query-params")]
    with figure:
        show(
            "shipped_losses",
            held_out({_short(n): loss for n, loss in last.items()}, bright=_short(bright), theme=theme()),
        )
        _chart(found, bright)
    result(_in_words(best, shown))
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


def _short(name: str) -> str:
    return name.removeprefix(TWIN)


def _chart(found: dict[str, Records], bright: str) -> None:
    def lines(column: str) -> dict[str, tuple[Array, Array]]:
        return {_short(name): (log.steps, getattr(log, column)) for name, log in found.items()}

    columns = {
        "training loss, nats per token": lines("loss"),
        "learning rate": lines("learning_rate"),
        "norm of the gradient, before clipping": lines("grad_norm"),
    }
    sizes = {entry.config.vocab_size for entry in zoo.catalogue() if entry.name in found and entry.config}
    # Of pure chance; several would be printed on each other.
    levels = [(math.log(size), f"ln {size:,} = {math.log(size):.2f}") for size in sizes] if len(sizes) == 1 else []
    show(
        "shipped_curves",
        panels.log_panels(columns, theme=theme(), levels=levels, bright=_short(bright)),
        title=f"Training curves, {_short(bright)} highlighted",
    )


def _in_words(best: str, shown: str) -> str:
    if shown == "the twins":
        return (
            "The dotted line is chance, ln V. The twins, identically trained, differ in one respect; on held-out text "
            f"**{_short(best)}** has the lowest loss. The unmasked twin reads the answers, so its loss means nothing."
        )
    return "These models differ in vocabulary and task, so compare the curves' shapes, not their heights."


def _table(found: dict[str, Records]) -> None:
    st.table(
        {
            "model": list(found),
            "updates": [f"{log.steps[-1]:,.0f}" for log in found.values()],
            "first loss": [f"{log.loss[0]:.2f}" for log in found.values()],
            "last loss": [f"{log.loss[-1]:.2f}" for log in found.values()],
            "held-out loss": [f"{log.held_out[-1]:.2f}" for log in found.values()],
            "largest gradient norm": [f"{log.grad_norm.max():.1f}" for log in found.values()],
        }
    )
    st.caption("The held-out loss is the mean over eight batches.")
