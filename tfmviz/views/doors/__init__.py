"""Small pictures of a sentence, each the door to its page."""

from tfmviz.views.shared import script, style

JS = script("doors/view.tsx")
CSS = style("doors")
