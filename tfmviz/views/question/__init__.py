"""A question that a class answers before it sees the values: by a click on a token, or in a word of its own."""

from tfmviz.views.shared import script, style

JS = script("question/view.ts")
CSS = style("question")
