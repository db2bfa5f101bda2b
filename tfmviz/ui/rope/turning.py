"""RoPE as two arrows that turn with their positions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.plots.pairs import pairs
from tfmviz.ui import controls, live
from tfmviz.ui.figures import show, show_view, theme
from tfmviz.ui.rope.helices import helices
from tfmviz.ui.rope.subject import Subject, own_theta
from tfmviz.views import turning
from tfmviz.words.labels import visible
from tfmviz.words.numbers import tiny

TURN = re.compile(r"\d{1,5}(\.\d{1,5}){3}")
"""Key, pair and both positions of the arrows, as the address has them."""


def turned(shown: Subject) -> None:
    """Two arrows, and below them, if that is wanted, the ways of two pairs through space."""
    arrows(shown)
    lengths(shown)
    if st.toggle("In three dimensions, beside sinusoids", key="helix", bind="query-params"):
        helices(shown)


def arrows(shown: Subject) -> None:
    if st.session_state.setdefault("turning_tokens", shown.tokens) != shown.tokens:  # positions of another sentence
        st.session_state["turning_tokens"] = shown.tokens
        controls.put({"turn": ""})
    asked = st.query_params.get("turn", "")
    if not shown.note:
        live.follow(shown.here, "turning")
    show_view(
        "turning",
        js=turning.JS,
        css=turning.CSS,
        data=turning.payload(
            shown.trace, shown.layer, shown.head, own_theta(shown), max_len=shown.model.config.max_len
        ),
        selection={
            "token": controls.pinned(),
            "turn": asked if TURN.fullmatch(asked) else "",
        },
        on_report=_follow,
    )


def _follow(report: dict[str, Any]) -> None:
    turn = str(report["turn"])
    controls.remember(int(report["token"]), {"turn": turn} if TURN.fullmatch(turn) else {})


def lengths(shown: Subject) -> None:
    before, after = (np.linalg.norm(shown.of_head(site), axis=-1) for site in ("q", "rot_q"))
    k_before, k_after = (np.linalg.norm(shown.of_head(site), axis=-1) for site in ("k", "rot_k"))
    change = max(float(np.abs(after / before - 1).max()), float(np.abs(k_after / k_before - 1).max()))
    st.markdown(
        f"Turning keeps lengths (here to within **{tiny(change)}**). Since q and k turn separately, RoPE works with "
        "linear attention (Su et al. 2021)."
    )
    show(
        pairs(
            shown.tokens,
            before,
            after,
            series=("before turning", "after"),
            title="length of q",
            token_title="token",
            top=None,
            theme=theme(),
        ),
        key="lengths",
        alt="Lengths of the queries: "
        + "; ".join(f"“{visible(t)}” {a:.2f} → {b:.2f}" for t, a, b in zip(shown.tokens, before, after, strict=True)),
    )
