"""The tabs of every page, as its source lists them; `lesson.tabs` puts their titles into the address."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.browser import ROOT
from tfmviz.places import PROJECT

UI = ROOT / "tfmviz" / "ui"

Address = dict[str, str]
"""Parameters of an address."""


def _calls(path: Path) -> Iterator[tuple[str, dict[ast.expr | None, ast.expr], dict[str, tuple[str, Address]]]]:
    """Every row of tabs in a file: its name, its parts, and the titles that are a choice within one of them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lesson.tabs":
            key, parts = node.args
            assert isinstance(key, ast.Constant)
            assert isinstance(parts, ast.Dict)
            earlier = {word.arg: ast.literal_eval(word.value) for word in node.keywords}.get("earlier", {})
            yield str(key.value), dict(zip(parts.keys, parts.values, strict=True)), earlier


def rows(path: Path) -> dict[str, list[str]]:
    """The rows of tabs in a file: the titles by the name of the row."""
    return {
        key: [str(title.value) for title in parts if isinstance(title, ast.Constant)] for key, parts, _ in _calls(path)
    }


def within(path: Path) -> dict[str, list[Address]]:
    """Tabs with a choice within, by their titles: the parameters that the choice has in an address."""
    found: dict[str, list[Address]] = {}
    for _, _, earlier in _calls(path):
        for tab, choices in earlier.values():
            if choices:
                found.setdefault(tab, []).append(choices)
    return found


WITHIN = {"Naive ideas": "naive.py", "Sinusoidal": "sinusoidal.py", "Learned": "learned.py"}
"""Tabs of the page on positions that hold tabs, and the files that draw those."""


def addresses(page: str) -> list[Address]:
    """The addresses of all tabs of a page, with each choice that was a tab before.

    One without parameters if the page has no tabs.
    """
    found: list[Address] = []
    file = PROJECT / "pages" / f"{page}.py"
    for key, titles in rows(file).items():
        for title in titles:
            inner = rows(UI / "positions" / WITHIN[title]) if page == "positions" and title in WITHIN else {}
            choices = [{name: part} for name, parts in inner.items() for part in parts] or within(file).get(title, [{}])
            found += [{key: title} | choice for choice in choices]
    return found or [{}]
