"""Masks: who may look at whom (L4, L10)."""

import streamlit as st

from tfmviz.ui.router import ensure_routed

ensure_routed()
st.title("Masks")
