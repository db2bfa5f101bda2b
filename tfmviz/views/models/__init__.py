"""The menu of models: a button with the name of the chosen one, and all of them by what they are for."""

from tfmviz.views.shared import script, style

JS = script("models/view.ts")
CSS = style("models")
