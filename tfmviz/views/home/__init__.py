"""The first look: a sentence whose words show by arcs where one head looks from them, and a box for another one."""

from tfmviz.views.shared import script, style

JS = script("home/view.ts")
CSS = style("home")
