"""The stage: a sentence that is edited where it stands, and by arcs where three heads look from its words."""

from tfmviz.views.shared import script, style

JS = script("home/view.ts")
CSS = style("home")
