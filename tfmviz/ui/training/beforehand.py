"""What to expect: runs of the settings that were tried, made beforehand by the same command."""

from __future__ import annotations

import streamlit as st

from tfmviz.places import PROJECT
from tfmviz.plots import lines
from tfmviz.plots.lines import Axes
from tfmviz.runs import records
from tfmviz.runs.records import Records
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show, theme
from tfmviz.ui.training.desk import EXPERIMENTS


@shared
def log_of(name: str) -> Records:
    """The log of an experiment; empty if it was not made."""
    return records.read(PROJECT / "assets" / "training" / "class" / f"{name.replace(' ', '-')}.jsonl")


def curves() -> None:
    """The training loss of each experiment, against its updates.

    Held-out text says nothing of copying: it repeats too little for two layers to gain by it.
    """
    if found := {name: (log.steps, log.loss) for name in EXPERIMENTS if len((log := log_of(name)).steps)}:
        said = "{}, step {:,.0f}: {:.2f} nats".format
        axes = Axes("step", "training loss, nats per token", 280)
        show("beforehand", lines.curves(found, axes, said, theme=theme(), dot=0))


def words() -> None:
    """What each experiment shows."""
    if found := {name: log for name in EXPERIMENTS if len((log := log_of(name)).steps)}:
        st.markdown(
            "These runs were made beforehand with the settings of “Experiment”. "
            + " ".join(
                f"**{name.capitalize()}** ({log.steps[-1]:,.0f} updates): {EXPERIMENTS[name].says}"
                for name, log in found.items()
            )
        )
