"""Lectures: walks through the app, step by step, with speaker notes for each step (L1 to L11)."""

import streamlit as st

from tfmviz.ui import lectures, router

router.ensure_routed()
st.markdown(
    "Start one, press F for the projector, go on with → and ←. N opens a presenter's window: the lines move there."
)
lectures.overview()
