"""Figures: arrays and labels in, Plotly out. One theme; no torch, no Streamlit."""
