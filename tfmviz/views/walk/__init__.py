"""One step of a lecture: what to say, and links to the steps before and after it, which ← and → follow."""

from tfmviz.views.shared import script, style

JS = script("walk/view.tsx")
CSS = style("walk")
