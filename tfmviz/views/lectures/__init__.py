"""The list of lectures: every step is a link."""

from tfmviz.views.shared import script, style

JS = script("lectures/view.ts")
CSS = style("lectures")
