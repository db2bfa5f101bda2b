"""Altair, imported when the first chart is made: half a second for which no first picture waits.

    from tfmviz.plots import alt
    alt.Chart(alt.NamedData("rows")).mark_line().encode(x=alt.X("x:Q"))

Channels are objects, as here: Altair parses a string such as "x:Q" in their place forty times as slowly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from altair import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        # Altair looks into a pandas that another reader's thread may be importing just now, and fails on half of it.
        import_module("pandas")
        import altair
        from altair.utils import schemapi

        schemapi.disable_debug_mode()  # tests hold every specification against the schema; here it would take long
        return getattr(altair, name)
