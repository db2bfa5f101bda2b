"""What to expect: runs of the settings that were tried, made beforehand by the same command."""

from __future__ import annotations

import math

import streamlit as st

from tfmviz.places import PROJECT
from tfmviz.plots import panels
from tfmviz.record.trace import Array
from tfmviz.runs import records
from tfmviz.runs.records import Records
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show, theme
from tfmviz.ui.training.desk import EXPERIMENTS, VOCABULARY


@shared
def log_of(name: str) -> Records:
    """The log of an experiment; empty if it was not made."""
    return records.read(PROJECT / "assets" / "training" / "class" / f"{name.replace(' ', '-')}.jsonl")


def curves() -> None:
    """The loss of each experiment, against its updates."""
    found = {name: log for name in EXPERIMENTS if len((log := log_of(name)).steps)}
    if not found:
        return
    chance = math.log(VOCABULARY)

    def lines(steps: str, column: str) -> dict[str, tuple[Array, Array]]:
        return {name: (getattr(log, steps), getattr(log, column)) for name, log in found.items()}

    show(
        "beforehand",
        panels.log_panels(
            {
                "training loss, nats per token": lines("steps", "loss"),
                "held-out loss, nats per token": lines("evaluated", "held_out"),
            },
            theme=theme(),
            levels=[(chance, f"chance, ln V = {chance:.2f}")],
            heights=(140, 70),
        ),
    )


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
