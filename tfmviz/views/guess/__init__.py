"""A button, and the key G, that hide a figure until the class has guessed."""

from tfmviz.views.shared import script, style

JS = script("guess/view.ts")
CSS = style("guess")
