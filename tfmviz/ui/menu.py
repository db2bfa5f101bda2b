from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import streamlit as st

from tfmviz import paths
from tfmviz.record.facts import Facts
from tfmviz.ui import icons, models, own
from tfmviz.ui.figures import show_choice
from tfmviz.ui.model_names import named
from tfmviz.words.markdown import code, plain

COMMAND = "python -m tfmviz.huggingface openai-community/gpt2 --name gpt2"
"""The command that adds a model of the reader's."""


OWN = "/own"
"""The menu's report for a model of the reader's; no model has this name."""


def loadable() -> dict[str, Facts]:
    """Warns of models that cannot be loaded, and stops the run if none can."""
    entries = models.entries()
    for entry in entries:
        if entry.problem:
            st.warning(f"The model {code(entry.name)} is unavailable. {plain(entry.problem)}", icon=icons.WARNING)
    found: dict[str, Facts] = {entry.name: entry.config for entry in entries if entry.config is not None}
    if not found:
        st.error("There is no model to show. Restore the folder `assets/models/`, or see README.md.")
        st.stop()
    return found


def choose(configs: Mapping[str, Facts]) -> str:
    """The select box is out of sight. It keeps the choice from page to page and in the address, which holds the box's
    content and not the displayed names: these may change.
    """
    names = list(configs)
    chosen = st.selectbox("Model", names, key="model", bind="query-params", index=names.index(models.usual(names)))
    data = {
        "models": json.dumps([asdict(one) for one in named(configs)]),  # for records Streamlit would import pandas
        "chosen": chosen,
        "command": COMMAND,
        "folder": _folder(),
        "converts": own.is_open(),
    }
    show_choice("models", data=data, on_pick=pick)
    own.show_if_asked()
    return chosen


def pick(model: object) -> None:
    if model == OWN:
        own.ask()
    elif model in models.names():
        st.session_state["model"] = model


def _folder() -> str:
    """A path without the name of the user who runs the app."""
    folder, home = paths.own_models(), Path.home()
    return f"~/{folder.relative_to(home).as_posix()}" if folder.is_relative_to(home) else str(folder)
