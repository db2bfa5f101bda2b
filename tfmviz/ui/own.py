"""A reader's model, from the menu to the explorer: opened by `tfmviz --convert`, for those who know its token.

Only this dialog's buttons and boxes choose what is converted, never the address, and typed text is compared with the
models that exist (`runs.converting`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import streamlit as st

from tfmviz import paths, zoo
from tfmviz.runs.converting import Converting, Job, NotPossible
from tfmviz.runs.manager import CANNOT_WRITE
from tfmviz.ui import icons
from tfmviz.words.markdown import plain

_converting: Converting | None = None


def open_desk(folder: Path) -> None:
    """Makes this server convert models for those who know the token that it prints."""
    global _converting
    _converting = Converting(folder, paths.own_models(), tell=lambda text: print(text, flush=True))


def is_open() -> bool:
    return _converting is not None


def ask() -> None:
    """Opens the dialog in the next run; for the menu's callback."""
    st.session_state["own_asked"] = is_open()


def show_if_asked() -> None:
    if st.session_state.pop("own_asked", False) and _converting is not None:
        _dialog()


@st.dialog("Your own model", width="medium")
def _dialog() -> None:
    converting = _converting
    assert converting is not None
    if problem := st.session_state.pop("own_problem", ""):
        st.warning(plain(problem), icon=icons.WARNING)
    if not st.session_state.get("own_admitted"):
        _token(converting)
        return
    job = converting.job()
    if job is None:
        _choose(converting)
    else:
        st.fragment(_watch, run_every=1.0 if job.state == "running" else None)(converting, job.state == "running")
    if names := converting.own():
        with st.expander("Remove a model"):
            st.selectbox("To remove", names, index=None, placeholder="Choose", key="own_gone")
            st.button("Remove", key="own_remove", on_click=_remove, disabled=not st.session_state.get("own_gone"))


def _token(converting: Converting) -> None:
    if converting.is_closed:
        st.warning("Too many wrong tokens. Restart the server.", icon=icons.WARNING)
        return
    st.text_input("Token from the terminal", key="own_token", max_chars=40, on_change=_enter, autocomplete="off")


def _enter() -> None:
    assert _converting is not None
    if _converting.admits(st.session_state["own_token"]):
        st.session_state["own_admitted"] = True
    elif not _converting.is_closed:
        st.session_state["own_problem"] = "Wrong token."
    st.session_state["own_token"] = ""


def _choose(converting: Converting) -> None:
    found = converting.sources()
    st.selectbox(
        f"A folder in {plain(converting.folder.name)}",
        found,
        index=None,
        placeholder="Choose" if found else "none",
        key="own_folder",
    )
    st.text_input("Or from the Hub", key="own_hub", max_chars=200, placeholder="openai-community/gpt2")
    st.text_input("Call it", key="own_name", max_chars=64, placeholder="as there")
    st.button("Look", key="own_look", on_click=_look)


def _look() -> None:
    given = st.session_state["own_folder"] or st.session_state["own_hub"].strip()
    name = st.session_state["own_name"].strip() or given.rpartition("/")[2]
    _do("look", given, name)


def _try(failed: str, act: Callable[[Converting], object]) -> None:
    assert _converting is not None
    try:
        act(_converting)
    except NotPossible as error:
        st.session_state["own_problem"] = str(error)
    except OSError:
        st.session_state["own_problem"] = f"{failed}: {CANNOT_WRITE}."


def _do(step: Literal["look", "convert"], given: str, name: str) -> None:
    _try("Not started", lambda converting: converting.start(step, given, name))


def _watch(converting: Converting, ran: bool) -> None:
    if st.session_state.pop("own_left", False):
        st.rerun()
    job = converting.job()
    if job is None or (job.state == "running") != ran:
        ask()
        st.rerun()
    _said(job)
    if job.state == "running":
        st.button("Stop", key="own_stop", on_click=converting.stop)
        return
    if job.state == "done" and job.step == "look":
        st.button("Convert it", type="primary", key="own_go", on_click=_do, args=("convert", job.given, job.name))
    if job.state == "done" and job.step == "convert" and job.name in zoo.available():
        st.button("Show it", type="primary", key="own_show", on_click=_show, args=(job.name,))
    st.button("Another model", key="own_again", on_click=_forget)


def _said(job: Job) -> None:
    what = f"{'Converting' if job.step == 'convert' else 'Looking at'} {plain(job.given)}"
    if job.state == "running":
        st.progress(job.share, f"{what} …")
    if job.says:
        st.code(job.says, language=None, wrap_lines=True)


def _show(name: str) -> None:
    _forget()
    st.session_state["model"] = name
    st.session_state["own_left"] = True


def _forget() -> None:
    _try("Not removed", Converting.forget)


def _remove() -> None:
    _try("Not removed", lambda converting: converting.remove(st.session_state["own_gone"] or ""))
    st.session_state["own_gone"] = None
