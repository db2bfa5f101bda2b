"""The box that finds anything: a button, Ctrl K, and a list that shrinks with every letter."""

from tfmviz.views.shared import script, style

JS = script("find/view.ts")
CSS = style("find")
