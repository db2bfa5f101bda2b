"""The only part of the library that knows Streamlit: routing, caches, URL state, shared controls, figures."""
