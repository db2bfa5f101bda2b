"""A page shows those choices that something on its open tab reads, and hides the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from tests.app import open_page
from tests.pages.tabs import Address, addresses
from tfmviz.ui import router
from tfmviz.ui.lesson import CHOICES, OUT_OF_SIGHT

ENGLISH = {"text": "The dog saw a small bird, and the bird saw the dog.", "model": "tiny-english"}
FRENCH = {"text": "Le chien est dans la maison.", "model": "french-english"}
HEAD = {"layer": "1", "head": "2"}
OTHERS = {"text": "A friend of mine was here.", "layer": "2", "head": "3", "kind": "encoder"}
"""Another value of each choice, which all these models have."""

OPENS_WITH = {
    "tokens": "text model",
    "counting": "text",
    "ladder": "text",
    "bottleneck": "text model",
    "explorer": "text model",
    "whole_model": "text model kind layer head",
    "step_by_step": "text model kind layer head",
    "why": "text model kind layer head",
    "feed_forward": "text model kind layer",
    "masks": "text model kind layer head",
    "positions": "text",
    "positions_rope": "text model kind layer head",
    "positions_compare": "text",
    "residual_stream": "text model kind",
    "switch_off": "text model kind layer head",
    "normalisation": "text model kind layer",
    "writing": "text model",
    "translating": "text model layer",
    "recipe": "text model",
    "training": "",
    "complexity": "",
    "efficient": "text model kind layer head",
    "size": "model",
}
"""The choices that are shown on every page as the menu opens it."""

TABS = [
    pytest.param(page, tab, id=f"{page}-{'-'.join(tab.values())}", marks=[pytest.mark.soak] if n else [])
    for page in OPENS_WITH
    for n, tab in enumerate(addresses(page))
]
"""`make test` asks the first tab of each page, `make soak` the others."""


def shown(app: AppTest) -> list[str]:
    """The choices that are in sight."""
    rules = "".join(element.proto.body for element in app.get("html"))
    return [choice for choice in CHOICES if OUT_OF_SIGHT[choice] not in rules]


def drawn(page: str, address: Address) -> list[bytes]:
    """All that a page sends besides its sidebar and the sentence box, in order."""
    return list(_sent(open_page(page, **address).main))


def _sent(block: Block) -> Iterator[bytes]:
    for child in block.children.values():
        if isinstance(child, Block):
            yield from _sent(child)
        elif (
            getattr(child, "key", None) not in ("text", "example") and child.type != "download_button"
        ):  # numbered anew
            assert child.proto is not None
            yield child.proto.SerializeToString()


def base(page: str, choices: list[str]) -> Address:
    """An address at which all these choices have another value."""
    translates = page in ("translating", "bottleneck") or ("kind" in choices and "model" not in choices)
    return (FRENCH if translates else ENGLISH) | HEAD


def other(start: Address, choices: list[str]) -> Address:
    """The same address with other values of some choices."""
    found = start | {choice: OTHERS[choice] for choice in choices if choice in OTHERS}
    if start["model"] == "tiny-english":
        found.pop("kind", None)
    if "model" in choices:
        found["model"] = "reverse" if start["model"] == "french-english" else "twins-sinusoidal"
        if found["model"] == "reverse":  # which has one layer
            found["layer"] = "0"
    return found


def test_the_table_names_every_page_of_the_course() -> None:
    assert list(OPENS_WITH) == [page.name for page in router.PAGES if page.group]


@pytest.mark.parametrize(("page", "expected"), OPENS_WITH.items())
def test_a_page_opens_with_the_choices_that_it_reads(page: str, expected: str) -> None:
    assert shown(open_page(page)) == expected.split()


@pytest.mark.parametrize(("page", "tab"), TABS)
def test_what_is_hidden_changes_nothing(page: str, tab: Address) -> None:
    hidden = [choice for choice in CHOICES if choice not in shown(open_page(page, **tab))]
    if hidden and page != "explorer":  # whose picture chooses them
        start = base(page, hidden)
        assert drawn(page, start | tab) == drawn(page, other(start, hidden) | tab)


SHOWN = [(page, choice) for page, choices in OPENS_WITH.items() for choice in choices.split()]
SHOWN.remove(("positions_rope", "kind"))  # for converted models: no shipped translator has the schemes of that page


@pytest.mark.parametrize(("page", "choice"), SHOWN)
def test_what_is_shown_changes_something(page: str, choice: str) -> None:
    start = base(page, [choice])
    if page == "translating" and choice == "layer":
        start |= {"heads": "one head"}
    assert drawn(page, start) != drawn(page, other(start, [choice]))


def test_a_choice_comes_into_sight_where_something_begins_to_read_it() -> None:
    assert "head" in shown(open_page("translating", heads="one head"))
    assert shown(open_page("training", learned="The shipped models")) == []
    assert shown(open_page("training", learned="The shipped models", runs="the chosen model")) == ["model"]
    assert shown(open_page("training", probe="your sentence")) == ["text"]
    assert shown(open_page("size", design="BERT base")) == []
    assert "kind" not in shown(open_page("positions_rope", model="french-english"))


def test_what_is_hidden_keeps_its_value() -> None:
    app = open_page("complexity", **ENGLISH, layer="2", head="5")
    assert shown(app) == []
    app.switch_page("pages/explorer.py").run()
    assert (app.slider(key="layer").value, app.slider(key="head").value) == (2, 5)
    assert app.text_area(key="text").value == ENGLISH["text"]
