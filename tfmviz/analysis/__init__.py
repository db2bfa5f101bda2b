"""Measurements on a trace in pure numpy: no torch, no Streamlit. They raise `NotCaptured` if it lacks a site."""
