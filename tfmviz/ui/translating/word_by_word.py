"""The translation that grows word by word: what the view in the browser gets, and what it reports."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.predictions import softmax
from tfmviz.record.trace import Trace
from tfmviz.ui import controls, side
from tfmviz.ui.figures import show_view
from tfmviz.ui.lesson import Lesson, line
from tfmviz.ui.translating import attention
from tfmviz.ui.translators import TRANSFORMER
from tfmviz.views import translating as view


def draw(here: Lesson) -> None:
    with line("heads"):
        which = attention.choose()
    trace, about = here.trace, here.short_name
    if not side.is_b() and st.session_state.setdefault("translating_about", about) != about:  # another text or model
        st.session_state["translating_about"] = about
        controls.put({"shown": "", "at": ""})
    data = {
        "about": about,
        "source": attention.sources(trace),
        "steps": _steps(here, trace, which),
        "heads": attention.named(here, which),
    }
    show_view(
        "translating",
        js=view.JS,
        css=view.CSS,
        data=data,
        selection={"shown": _asked("shown"), "step": _asked("at")},
        on_report=lambda report: _follow(about, report),
    )
    attention.encoder(here, which)
    if here.model.name == TRANSFORMER and zoo.translators():
        address = urlencode({"seen": "Alignments", "text": here.text})
        st.markdown(f"[Recurrent translators align the same sentence](./bottleneck?{address}).")


def _steps(here: Lesson, trace: Trace, which: str) -> list[dict[str, Any]]:
    """Every word that is written; see `views/translating/steps.ts`."""
    weights = attention.crossing(here, trace, which)
    p = softmax(trace["logits"])
    tokens = [*trace.target.ids[1:], int(p[-1].argmax())]
    return [
        {
            "reads": reads,
            "writes": writes,
            "p": _short(p[n, token]),
            "weights": [_short(weight) for weight in weights[n]],
        }
        for n, (reads, writes, token) in enumerate(
            zip(attention.reads(trace), attention.writes(trace), tokens, strict=True)
        )
    ]


def _short(share: float) -> float:
    """Four digits that count; what is not finite is nothing."""
    return float(f"{share:.4g}") if np.isfinite(share) else 0.0


def _asked(key: str) -> int | None:
    value = st.query_params.get(key, "")
    return int(value) if re.fullmatch(r"[0-9]{1,3}", value) else None


def _follow(about: str, report: dict[str, Any]) -> None:
    """Puts the reported choice into the address, unless it belongs to another text."""
    if report["about"] == about:
        shown, step = report["shown"], report["step"]
        controls.put({"shown": "" if shown is None else str(int(shown)), "at": "" if step is None else str(int(step))})
