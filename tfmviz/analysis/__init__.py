"""Numbers about a trace: pure numpy, no torch, no Streamlit."""
