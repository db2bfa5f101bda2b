"""The menu of models: a button with the name of the chosen one, and all of them by purpose."""

from tfmviz.views.shared import script, style

JS = script("models/view.ts")
CSS = style("models")
