"""All pages: what each of them answers, in the order of a lecture."""

from tfmviz.ui import find, router

router.ensure_routed()
find.contents()
