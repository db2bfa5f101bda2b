"""The board of a model's parts: a switch for each head, MLP and layer.

The view gets {"columns": what stands over each but the first, "rows": [{"name", "parts": [a part or null]}], "done":
what becomes of a part, "Off" or "× 0.5"}. A part is [its code, its name]; a row's first is the whole layer.
"""

from __future__ import annotations

from tfmviz.views.shared import script, style

JS = script("parts/view.tsx")
CSS = style("parts")
