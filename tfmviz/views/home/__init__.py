"""A sentence that is edited in place, with arcs from its words to where three heads look."""

from tfmviz.views.shared import script, style

JS = script("home/view.ts")
CSS = style("home")
