"""What every page has: a menu that marks its open group and closes after a tap, and a word when the server is away."""

from tfmviz.views.shared import script, style

JS = script("frame/view.ts")
CSS = style("frame")
