"""A switch for each head, MLP and layer of a model.

The view gets {"columns": titles of all but the first, "rows": [{"name", "parts": [a part or null]}], "done": what
happens to a part, "Off" or "× 0.5"}. A part is [its code, its name]; a row's first is the whole layer.
"""

from __future__ import annotations

from tfmviz.views.shared import script, style

JS = script("parts/view.tsx")
CSS = style("parts")
