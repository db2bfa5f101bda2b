"""Lists of links: lectures with their steps, pages with their tabs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from tfmviz.views.shared import script, style

JS = script("lectures/view.tsx")
CSS = style("lectures")


class Entry(TypedDict):
    """Something with a link of its own.

    `folded` are further links, each with its text, under a line that opens, and under names of their own; "" is none.
    This line says `takes`, too. `shows` are some of them with the names of their pages, for which a sign is drawn.
    """

    title: str
    address: str
    says: list[str]
    takes: str
    shows: list[tuple[str, tuple[str, str]]]
    folded: list[tuple[str, list[tuple[str, str]]]]


def payload(groups: Mapping[str, Sequence[Entry]], *, of: str, opens: str = "", keeps: bool = False) -> dict[str, Any]:
    """What the view gets.

    Args:
        groups: the entries by their headings; "" for none.
        of: what is folded: "steps".
        opens: what is written on the link of an entry; "" makes its title the link.
        keeps: whether the links keep the reader's sentence and model.
    """
    return {"of": of, "opens": opens, "keeps": keeps, "groups": json.dumps(list(groups.items()))}
