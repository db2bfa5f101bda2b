from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.paths import PROJECT
from tfmviz.plots import panels
from tfmviz.plots.dots import held_out
from tfmviz.plots.lines import DASHES, Axes, Stroke, line_chart, named_lines
from tfmviz.record.trace import Array
from tfmviz.runs.records import Records
from tfmviz.ui import controls, lesson
from tfmviz.ui.cache import read_json, read_log
from tfmviz.ui.figures import result, show, show_columns, theme
from tfmviz.ui.training.desk import EXPERIMENTS
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal

LOGS = PROJECT / "assets" / "training"

TWIN = "twins-"
"""Prefix of the models that differ in one thing only."""

CHOSEN = "the chosen model"


SHOWN = ("the twins", "the others", "all", CHOSEN)


def _short(name: str) -> str:
    return name.removeprefix(TWIN)


LOSS, HELD_OUT = "training loss, nats per token", "held-out loss, nats per token"

CHEAT = "unmasked"
"""The twin that reads the answers: its held-out loss would squeeze all others into a tenth of the chart."""

PANELS = {
    LOSS: ("steps", "loss"),
    HELD_OUT: ("evaluated", "held_out"),
    "learning rate": ("steps", "learning_rate"),
    "norm of the gradient, before clipping": ("steps", "grad_norm"),
    "tokens per second": ("steps", "tokens_per_second"),
}
"""A log's quantities by panel: the names of its steps and of its values in `Records`."""


def lines(logs: Mapping[str, Records], *titles: str) -> dict[str, dict[str, tuple[Array, Array]]]:
    """Steps and values for some of `PANELS`, by the names of the runs."""
    return {
        title: {name: (getattr(log, PANELS[title][0]), getattr(log, PANELS[title][1])) for name, log in logs.items()}
        for title in titles
    }


def chance(vocab_size: int) -> tuple[float, str]:
    """The loss of pure chance in nats, and its name."""
    loss = math.log(vocab_size)
    return loss, f"chance, ln V = {loss:.2f}"


def curves() -> None:
    figure, line = st.container(), lesson.control_row("shipped")
    shown = line.radio("Runs", SHOWN, horizontal=True, key="runs", bind="query-params")
    if shown != CHOSEN:
        lesson.hide("model")
    names = sorted(path.stem for path in LOGS.glob("*.jsonl"))
    if shown == CHOSEN:
        names = [name for name in names if name == controls.choice().model]
    elif shown != "all":
        names = [name for name in names if name.startswith(TWIN) is (shown == "the twins")]
    if not names:
        figure.info(f"There is no training log of {markdown.code(controls.choice().model)}.")
        return
    found = {name: read_log(LOGS / f"{name}.jsonl") for name in names}
    last = {name: float(log.held_out[-1]) for name, log in found.items()}
    best = min(last, key=lambda name: last[name])
    bright = best
    if len(found) > 1:
        shorts = {_short(name): name for name in names}
        bright = shorts[line.selectbox("Highlight", list(shorts), names.index(best), key="bright", bind="query-params")]
    told = {_short(name): loss for name, loss in last.items() if shown == CHOSEN or _short(name) != CHEAT}
    with figure:
        show("shipped_losses", held_out(told, bright=_short(bright), theme=theme()))
        by_short = {_short(name): log for name, log in found.items()}
        titles = [title for title in list(PANELS)[:4] if title != HELD_OUT]
        sizes = {entry.config.vocab_size for entry in zoo.catalogue() if entry.name in found and entry.config}
        # Pure chance; the labels of several would overlap.
        levels = [(math.log(size), f"ln {size:,} = {math.log(size):.2f}") for size in sizes] if len(sizes) == 1 else []
        show(
            "shipped_curves",
            panels.log_panels(lines(by_short, *titles), theme=theme(), levels=levels, bright=_short(bright)),
            title=f"Training curves, {_short(bright)} highlighted",
        )
    result(
        f"On held-out text **{_short(best)}** has the lowest loss. The twins, identically trained, differ in one "
        "respect. The dotted line is chance, ln V. The unmasked twin reads the answers, so its loss means nothing."
        if shown == "the twins"
        else "These models differ in vocabulary and task, so compare the curves' shapes, not their heights."
    )
    show_columns(
        "shipped_runs",
        {
            "model": list(found),
            "updates": [f"{log.steps[-1]:,.0f}" for log in found.values()],
            "first loss": [f"{log.loss[0]:.2f}" for log in found.values()],
            "last loss": [f"{log.loss[-1]:.2f}" for log in found.values()],
            "held-out loss": [f"{log.held_out[-1]:.2f}" for log in found.values()],
            "largest gradient norm": [f"{log.grad_norm.max():.1f}" for log in found.values()],
        },
        caption="The held-out loss is the mean over eight batches.",
    )


def experiments() -> dict[str, Records]:
    found = {name: read_log(LOGS / "class" / f"{name.replace(' ', '-')}.jsonl") for name in EXPERIMENTS}
    return {name: log for name, log in found.items() if len(log.steps)}


def what_to_expect() -> None:
    """Held-out text shows nothing of copying: it repeats too little for two layers to gain by it."""
    if found := experiments():
        points = {name: (log.steps, log.loss) for name, log in found.items()}
        tooltips = "{}, step {:,.0f}: {:.2f} nats".format
        axes = Axes("step", "training loss, nats per token", 280)
        drawn = named_lines(points, tooltips, theme=theme(), dot=0)
        show("beforehand", line_chart(drawn, axes, theme=theme(), words=list(points)))


def what_experiments_show() -> None:
    if found := experiments():
        st.markdown(
            "These runs were made beforehand with the settings of “Experiment”. "
            + " ".join(
                f"**{name.capitalize()}** ({found[name].steps[-1]:,.0f} updates): {sentence}"
                for name, (_, sentence) in EXPERIMENTS.items()
                if name in found
            )
        )


DUPLICATES = PROJECT / "assets" / "duplicates" / "measured.json"

READ = {"once": "every story once", "ten-times": "a tenth, ten times"}


def duplicates() -> None:
    """Losses in training and on held-out stories: every one read once, or a tenth ten times, in as many steps."""
    found = read_json(DUPLICATES)
    curves = {}
    for name, label in READ.items():
        for what, points in found[name]["curve"].items():
            steps, values = np.array(points).T
            late = steps >= 250  # the steep beginning is the same in both
            curves[f"{label}, {what}"] = steps[late], values[late]
    # A colour for each run; in training unbroken, held out dashed.
    strokes = [
        Stroke(tint, dash, dot=50 * n) for tint in (theme().text, theme().plain) for n, dash in enumerate(DASHES[:2])
    ]
    drawn = named_lines(curves, "{}, step {:,.0f}: {:.2f}".format, theme=theme(), strokes=strokes)
    show("duplicates", line_chart(drawn, Axes("step", "bits per byte", 340), theme=theme()))
    once, ten = (found[name] for name in READ)
    result(
        f"Bits per byte on the repeated stories: {decimal(once['seen'])} read once, **{decimal(ten['seen'])}** ten "
        f"times; on held-out ones: {decimal(once['held_out'])} and **{decimal(ten['held_out'])}**. Hence training "
        "texts are deduplicated (Lee et al. 2022)."
    )
    st.caption(
        f"A tenth is {found['stories']:,} stories. Reproduce it with `python -m scripts.train_pairs duplicates`."
    )
