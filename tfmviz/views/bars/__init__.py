"""Probabilities of tokens as horizontal bars, the largest on top: a list that the browser draws in a millisecond. Each
token has one, or two where runs A and B are compared.

Streamlit rebuilds a Plotly chart for every sentence, which costs as much as drawing all heads of the explorer.
"""

from tfmviz.views.shared import script, style

JS = script("bars/view.ts")
CSS = style("bars")
