"""The logit lens in the browser: a table with a row for every token and a column for every stage of the stream.

The data are {columns, rows, tokens, texts, notes, shades, scale, legend}: names (`tokens` are what the rows are labels
of), then for every row a list with one entry per column. A shade lies in [0, 1]: on the scale "share" a probability,
drawn in teal; on the scale "amount" drawn from faint to strong. `legend` labels the two ends of the scale.
"""

from __future__ import annotations

from tfmviz.views.shared import script, style

JS = script("lens/view.tsx")
CSS = style("lens")
