from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from tfmviz.ui import icons

AFTER = 1.0
"""Seconds before the progress of a pass is shown."""

Asks = tuple[str, str]


class Progress:
    def __init__(self) -> None:
        self._began = 0.0
        self._count = 0
        self._place: DeltaGenerator | None = None
        self._bar: DeltaGenerator | None = None

    def tell(self, asks: Asks, done: int, of: int) -> None:
        """Draws how many layers are done in place of the figures; removes it at the end of the pass."""
        if not done:
            self._began = time.monotonic()
        elif done == of and self._place is not None:
            self._place.empty()
            self._place = None
        elif done < of and time.monotonic() - self._began > AFTER:
            if self._place is None:
                self._place = st.empty()
                self._count += 1
                with self._place.container(horizontal=True, vertical_alignment="center"):
                    self._bar = st.progress(0.0)
                    st.button("Stop", key=f"stop_{self._count}", on_click=lambda: st.session_state.update(stopped=asks))
            assert self._bar is not None
            self._bar.progress(done / of, f"{done} of {of} layers")


def give_way() -> None:
    """Lets a run end at its next yield point if its reader has pressed Enter or a button of this part of the page
    again.

    Streamlit would finish it first, because a fragment's run does not redraw its surroundings. So a run of the whole
    page starts again.
    """
    run, part = get_script_run_ctx(suppress_warning=True), ThreadState.get().fragment_id
    if run is None or run.script_requests is None or part is None:
        return
    requests: Any = run.script_requests
    with requests._lock:
        asked = requests._rerun_data
        if requests._state is ScriptRequestType.RERUN and part in asked.fragment_id_queue and not asked.is_auto_rerun:
            part_alone = bool(run.fragment_ids_this_run)
            parts = asked.fragment_id_queue if part_alone else []
            requests._rerun_data = replace(asked, fragment_id_queue=parts, is_fragment_scoped_rerun=part_alone)


def hold_if_stopped(asks: Asks) -> None:
    """Ends a run that its reader has stopped, until they ask again."""
    if st.session_state.get("stopped", asks) != asks:
        del st.session_state["stopped"]
    if "stopped" in st.session_state:
        st.info("Stopped.", icon=icons.CUT)
        st.button("Compute", key="unstop", on_click=lambda: st.session_state.pop("stopped"))
        st.stop()
