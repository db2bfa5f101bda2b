"""The presenter's window of a lecture: the line, the next one, and the time, all sent by another window."""

from tfmviz.views.shared import script, style

JS = script("presenter/view.tsx")
CSS = style("presenter")
