"""All pages with their questions, in the order of a lecture course."""

from tfmviz.ui import find, router

router.ensure_routed()
find.contents()
