"""A button, and the key `?`, that list what the keys do."""

from tfmviz.views.shared import script, style

JS = script("keys/view.ts")
CSS = style("keys")
