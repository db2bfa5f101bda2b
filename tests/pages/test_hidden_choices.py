"""A page shows those choices of the sidebar that change it, and hides the others."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1.element_tree import Block

from tests.app import open_page
from tests.pages.tabs import Address, addresses
from tfmviz.ui import router

TEXT = "The dog saw a small bird, and the bird saw the dog."
HEAD = {"model": "tiny-english", "layer": "4", "head": "3"}
OTHER_HEAD = {"model": "tiny-english", "layer": "1", "head": "2"}
OTHER_MODEL = {"model": "french-english", "layer": "1", "head": "2"}


def _uses(page: router.Page) -> str:
    """What a page says that it depends on; "" is all."""
    found = re.search(r'^    uses="(\w+)",$', page.file.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


USES = {page.name: _uses(page) for page in router.PAGES if page.group}


def drawn(page: str, choices: Address, tab: Address) -> list[bytes]:
    """All that a page sends besides its sidebar, in order."""
    return list(_sent(open_page(page, text=TEXT, **choices, **tab).main))


def _sent(block: Block) -> Iterator[bytes]:
    for child in block.children.values():
        if isinstance(child, Block):
            yield from _sent(child)
        else:
            assert child.proto is not None
            yield child.proto.SerializeToString()


@pytest.mark.parametrize(
    ("page", "tab"), [(page, tab) for page, uses in USES.items() if uses for tab in addresses(page)]
)
def test_what_is_hidden_changes_nothing(page: str, tab: Address) -> None:
    hidden = {"model": OTHER_HEAD, "nothing": OTHER_MODEL}[USES[page]]
    assert drawn(page, HEAD, tab) == drawn(page, hidden, tab)


@pytest.mark.parametrize("page", [page for page, uses in USES.items() if uses != "nothing"])
def test_what_is_shown_changes_something(page: str) -> None:
    shown = {"model": OTHER_MODEL, "": OTHER_HEAD}[USES[page]]
    assert any(drawn(page, HEAD, tab) != drawn(page, shown, tab) for tab in addresses(page))
