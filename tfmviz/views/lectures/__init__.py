"""Lists of links: lectures with their steps, pages with their tabs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class Entry(TypedDict):
    """A link.

    `folded` are further links, each with its text, under names ("" is none) and a line that opens, which shows `takes`.
    `shows` are some of them with the names of their pages, for which a sign is drawn.
    """

    title: str
    address: str
    says: list[str]
    takes: str
    shows: list[tuple[str, tuple[str, str]]]
    folded: list[tuple[str, list[tuple[str, str]]]]


def payload(groups: Mapping[str, Sequence[Entry]], *, of: str, opens: str = "", keeps: bool = False) -> dict[str, Any]:
    """The data of the view.

    Args:
        groups: the entries by their headings; "" for none.
        of: what is folded: "steps".
        opens: text of an entry's link; "" makes its title the link.
        keeps: whether the links keep the reader's sentence and model.
    """
    return {"of": of, "opens": opens, "keeps": keeps, "groups": json.dumps(list(groups.items()))}
