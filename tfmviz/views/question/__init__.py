"""A question that a class answers before it sees the values: by a click on a token, or with a word."""

from tfmviz.views.shared import script, style

JS = script("question/view.ts")
CSS = style("question")
