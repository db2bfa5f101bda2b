"""The header of every page, and a notice when the connection is lost.

The view gets {"title": of the open page, "groups": [{"name", "short", "pages": [[title, address, its question]]}]}; a
page in no group is a group without a name.
"""

from tfmviz.views.shared import script, style

JS = script("frame/view.ts")
CSS = style("frame")
