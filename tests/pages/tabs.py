"""The tabs of every page, as its source lists them; `ui/tabs` puts their titles into the address."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from tests.browser import ROOT
from tfmviz.paths import PROJECT
from tfmviz.ui.router import DEFAULT

UI = ROOT / "tfmviz" / "ui"

Address = dict[str, str]
"""Parameters of an address."""


Tab = tuple[str, dict[str, Address]]
"""A tab: its title, and the choices within it by the titles that these had as tabs."""


def rows(path: Path) -> Iterator[tuple[str, list[Tab]]]:
    """Every row of tabs in a file, and of parts of a tab: its name, and its tabs."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tabs", "parts"):
            key, _, *parts = node.args
            yield ast.literal_eval(key), [_tab(part) for part in parts if isinstance(part, ast.Call)]


def _tab(call: ast.Call) -> Tab:
    earlier = next((word.value for word in call.keywords if word.arg == "aliases"), None)
    return ast.literal_eval(call.args[0]), {} if earlier is None else ast.literal_eval(earlier)


WITHIN = {"Naive ideas": "naive.py", "Sinusoidal": "sinusoidal.py", "Learned": "learned.py"}
"""Tabs of the page on positions that have parts, and the files that draw those."""


def parts_of(link: str) -> tuple[str, Address]:
    """The page that a link within the app leads to, and what is chosen there."""
    split = urlsplit(link)
    assert split.path.startswith("./"), link
    return split.path.removeprefix("./") or DEFAULT, dict(parse_qsl(split.query))


def is_there(link: str) -> bool:
    """Whether there are the page and the tab that a link leads to."""
    page, choices = parts_of(link)
    if not (PROJECT / "pages" / f"{page}.py").exists():
        return False
    rows_there = {key for tab in addresses(page) for key in tab}
    opened = {key: value for key, value in choices.items() if key in rows_there}
    return any(opened.items() <= tab.items() for tab in addresses(page))


@cache
def addresses(page: str) -> list[Address]:
    """The addresses of all tabs of a page, with each choice that was a tab before.

    One without parameters if the page has no tabs.
    """
    found: list[Address] = []
    for key, parts in rows(PROJECT / "pages" / f"{page}.py"):
        for title, earlier in parts:
            choices = [choice for choice in earlier.values() if choice]
            if page == "positions" and title in WITHIN:
                choices = [{name: part} for name, inner in rows(UI / "positions" / WITHIN[title]) for part, _ in inner]
            found += [{key: title} | choice for choice in choices or [{}]]
    return found or [{}]
