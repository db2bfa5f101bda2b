"""Sliders that pictures follow at once, see `views/live`: by name, label, lowest and highest number, and step."""

from tfmviz.views.shared import script, style

JS = script("sliders/view.tsx")
CSS = style("sliders")
