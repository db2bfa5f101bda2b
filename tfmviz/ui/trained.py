"""Runs in the address (`run=…`); their finished models are in the menu."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from tfmviz import paths, zoo
from tfmviz.record.model import Model
from tfmviz.runs.folder import ADDRESS, Folder, NoSuchRun
from tfmviz.ui import url
from tfmviz.zoo import Entry, ModelUnavailable

KEY = "run"
"""The name of the runs in the address; their addresses are separated by commas."""

MOST_RUNS = 4

_PREFIX = "run-"


def addresses() -> list[str]:
    """The runs in the address, or those that were there before a link left them out."""
    asked = url.text(KEY, default=st.session_state.get(KEY, ""))
    found = [one for one in dict.fromkeys(asked.split(",")) if ADDRESS.fullmatch(one)][:MOST_RUNS]
    st.session_state[KEY] = ",".join(found)
    return found


def put(found: list[str]) -> None:
    url.choose({KEY: ",".join(found[:MOST_RUNS])})


def keep_in_address() -> None:
    """Puts the runs into the address again: a link to another page leaves them out."""
    put(addresses())


def name_of(address: str) -> str:
    return _PREFIX + address


def is_one(name: str) -> bool:
    return name.startswith(_PREFIX) and ADDRESS.fullmatch(name.removeprefix(_PREFIX)) is not None


def entries() -> tuple[Entry, ...]:
    found = []
    for address in addresses():
        try:
            folder = Folder.at(paths.runs(), address)
        except NoSuchRun:
            continue
        if folder.is_finished:
            found += [replace(entry, name=name_of(address)) for entry in zoo.catalogue(folder.path)]
    return tuple(found)


def load(name: str) -> Model:
    """The finished model of a run. Raises: ModelUnavailable."""
    try:
        folder = Folder.at(paths.runs(), name.removeprefix(_PREFIX))
    except NoSuchRun as error:
        raise ModelUnavailable(f"{name} is gone: runs are cleared away after a day.") from error
    return replace(zoo.load(folder.model.name, folder.path), name=name)
