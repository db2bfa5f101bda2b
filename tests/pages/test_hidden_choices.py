"""A page shows those choices that something on its open tab reads, and hides the others."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from tests.app import open_page, views
from tests.pages import tabs
from tests.pages.tabs import Address, addresses
from tfmviz.paths import PROJECT
from tfmviz.ui import router
from tfmviz.ui.lesson import CHOICES, OUT_OF_SIGHT
from tfmviz.ui.router import PAGES

ENGLISH = {"text": "The dog saw a small bird, and the bird saw the dog.", "model": "tiny-english"}
FRENCH = {"text": "Le chien est dans la maison.", "model": "french-english"}
HEAD = {"layer": "1", "head": "2"}
OTHERS = {"text": "A friend of mine was here.", "layer": "2", "head": "3", "kind": "encoder"}
"""Another value of each choice, which all these models have."""

OPENS_WITH = {
    page: choices
    for choices, pages in {
        "": "training complexity",
        "model": "size",
        "text": "counting ladder positions positions_compare",
        "text model": "tokens bottleneck explorer writing recipe",
        "text model kind": "residual_stream",
        "text model layer": "translating",
        "text model kind layer": "feed_forward normalisation",
        "text model kind layer head": "whole_model step_by_step why masks positions_rope switch_off efficient",
    }.items()
    for page in pages.split()
}
"""The choices that are shown on every page as the menu opens it."""


def shown(app: AppTest) -> list[str]:
    rules = "".join(element.proto.body for element in app.get("html"))
    return [choice for choice in CHOICES if OUT_OF_SIGHT[choice] not in rules]


def drawn(page: str, address: Address) -> list[bytes]:
    """All that a page sends besides its choices, the sentence box and downloads, which are numbered anew, in order."""
    return list(_sent(open_page(page, **address).main))


def _sent(block: Block) -> Iterator[bytes]:
    for child in block.children.values():
        if getattr(child, "key", None) in ("line-choices", "text", "example"):
            continue
        if isinstance(child, Block):
            yield from _sent(child)
        elif child.type != "download_button":
            assert child.proto is not None
            yield child.proto.SerializeToString()


def base(page: str, choices: list[str]) -> Address:
    """An address at which all these choices have another value."""
    translates = page in ("translating", "bottleneck") or ("kind" in choices and "model" not in choices)
    return (FRENCH if translates else ENGLISH) | HEAD


def other(start: Address, choices: list[str]) -> Address:
    found = start | {choice: OTHERS[choice] for choice in choices if choice in OTHERS}
    if start["model"] == "tiny-english":
        found.pop("kind", None)
    if "model" in choices:
        found["model"] = "reverse" if start["model"] == "french-english" else "twins-sinusoidal"
        if found["model"] == "reverse":  # which has one layer
            found["layer"] = "0"
    return found


@pytest.mark.parametrize("others", [False, pytest.param(True, marks=pytest.mark.soak)])
@pytest.mark.parametrize("page", [page for page in OPENS_WITH if page != "explorer"])  # whose picture chooses them
def test_what_is_hidden_changes_nothing(page: str, others: bool) -> None:
    """`make test` asks the first tab of each page, `make soak` the others."""
    for tab in addresses(page)[1:] if others else addresses(page)[:1]:
        hidden = [choice for choice in CHOICES if choice not in shown(open_page(page, **tab))]
        start = base(page, hidden)
        assert not hidden or drawn(page, start | tab) == drawn(page, other(start, hidden) | tab), tab


def test_a_page_opens_with_the_choices_that_it_reads() -> None:
    opened = {page.name: " ".join(shown(open_page(page.name))) for page in router.PAGES if page.group}
    assert opened == OPENS_WITH


@pytest.mark.parametrize("page", OPENS_WITH)
def test_what_is_shown_changes_something(page: str) -> None:
    idle = []
    for choice in OPENS_WITH[page].split():
        start = base(page, [choice]) | ({"heads": "one head"} if (page, choice) == ("translating", "layer") else {})
        if drawn(page, start) == drawn(page, other(start, [choice])):
            idle.append(choice)
    # for converted models: no shipped translator has the schemes of that page
    assert idle == (["kind"] if page == "positions_rope" else [])


def test_a_choice_comes_into_sight_where_something_begins_to_read_it() -> None:
    assert "head" in shown(open_page("translating", heads="one head"))
    for page, address, choices in (
        ("training", {"learned": "The shipped models"}, []),
        ("training", {"learned": "The shipped models", "runs": "the chosen model"}, ["model"]),
        ("training", {"probe": "your sentence"}, ["text"]),
        ("size", {"design": "BERT base"}, []),
    ):
        assert shown(open_page(page, **address)) == choices, address
    assert "kind" not in shown(open_page("positions_rope", model="french-english"))
    app = open_page("counting", model="twins-rope", layer="2", head="1").switch_page("pages/masks.py").run()
    assert {"model", "layer", "head"} <= set(shown(app))
    assert [app.number_input(key=key).value for key in ("layer", "head")] == [2, 1]
    assert app.selectbox(key="model").value == "twins-rope"


def test_a_row_has_at_most_seven_tabs_and_an_old_address_opens_its_tab_and_choice() -> None:
    """What answers one question is a choice within one of them; `either` joins those that belong together."""
    moved: list[tuple[str, dict[str, str], str, dict[str, str]]] = [
        ("tokens", {"tokens": "Every vocabulary"}, "vocabularies", {"cut": "Every vocabulary"}),
        ("tokens", {"tokens": "Four ways"}, "four_ways", {}),
        ("efficient", {"method": "All of them"}, "together", {"method": "All of them"}),
    ]
    for page, old, figure, choice in moved:
        app = open_page(page, text="The cat sat.", **old)
        assert choice.items() <= {key: app.query_params[key] for key in app.query_params}.items()
        assert figure in views(app)
    files = [PROJECT / "pages" / f"{page.name}.py" for page in PAGES]
    assert [(file.name, key) for file in files for key, parts in tabs.rows(file) if len(parts) > 7] == []
