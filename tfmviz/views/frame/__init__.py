"""What every page has: the header, and a word when the server is away.

The view gets {"title": of the open page, "groups": [{"name", "short", "pages": [[title, address, what it answers]]}]};
a page that stands in no group is a group of its own, without a name.
"""

from tfmviz.views.shared import script, style

JS = script("frame/view.ts")
CSS = style("frame")
