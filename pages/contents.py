"""All pages with their questions, in the order of a lecture course."""

from tfmviz.ui import router, search

router.ensure_routed()
search.contents()
