"""A page is one short lesson, is listed in the README, and says in words what its figures show."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import ROOT
from tests.house.sources import LESSONS, MODULES, PACKAGE, PAGES, called, name_of, tree_of

DRAWS = re.compile(r"(plotly|altair|vega_lite|line|bar|area|scatter|graphviz|pydeck)_chart|pyplot|image")
"""Streamlit's own ways to show a picture."""


@pytest.mark.parametrize("path", LESSONS, ids=name_of)
def test_a_page_is_one_lesson(path: Path) -> None:
    tree = tree_of(path)
    assert ast.get_docstring(tree), f"{name_of(path)} does not say its lesson: give it a docstring"
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert not classes, (
        f"{name_of(path)} defines {', '.join(classes)}: classes belong to the page's folder in tfmviz/ui/"
    )
    drawn = ast.unparse(tree.body[-1]).startswith("lesson.page(")
    assert drawn, f"{name_of(path)} must end with `lesson.page(…)`, which sees to the router, the sentence and the turn"
    done = [node for node in tree.body[1:-1] if not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)]
    assert not done, f"{name_of(path)}:{done[0].lineno}: only what `lesson.page` draws runs again after Enter"


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_does_no_arithmetic(path: Path) -> None:
    lines = [node.lineno for node in ast.walk(tree_of(path)) if isinstance(node, ast.BinOp) and not joins_text(node)]
    assert not lines, f"{name_of(path)}:{lines[0]}: arithmetic belongs to `analysis`, see docs/architecture.md, Rooms"


def joins_text(operation: ast.BinOp) -> bool:
    parts = [node for node in ast.walk(operation) if isinstance(node, ast.Constant | ast.JoinedStr)]
    return any(isinstance(part, ast.JoinedStr) or isinstance(part.value, str) for part in parts)


def test_the_readme_lists_every_page_once() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("\n## Pages\n")[1].split("\n## ")[0]
    listed = Counter(re.findall(r"^\| .*\(`/(\w*)`\) \|", table, re.MULTILINE))
    addresses = {"" if path.stem == "home" else path.stem for path in PAGES}
    missing, gone = addresses - listed.keys(), listed.keys() - addresses
    assert not missing, f"missing from the page table of README.md: {', '.join(sorted(missing))}"
    assert not gone, f"in the page table of README.md, but not in pages/: {', '.join(sorted(gone))}"
    assert listed.total() == len(addresses), f"more than once in the page table of README.md: {listed.most_common(1)}"


def silent_figures(path: Path, tree: ast.Module) -> Iterator[str]:
    """A sentence for each figure without words, or drawn past `ui/figures.py`, which asks for them."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        where, name = f"{name_of(path)}:{node.lineno}", called(node)
        if DRAWS.fullmatch(name) and path != PACKAGE / "ui" / "figures.py":
            yield f"{where}: `{name}` says nothing to who cannot see it; use `ui.figures.show(…, alt=…)`"
        words = [keyword.value for keyword in node.keywords if keyword.arg == "alt"]
        if name in ("show", "show_cells", "show_space") and not any(
            ast.unparse(word) not in ("''", "None") for word in words
        ):
            yield f"{where}: a figure without words; say in `alt=` what it shows"


def test_every_figure_says_in_words_what_it_shows() -> None:
    paths = [*PAGES, *(path for path in MODULES if "ui" in path.parts)]
    complaints = [complaint for path in paths for complaint in silent_figures(path, tree_of(path))]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("source", "silent"),
    [
        ("show(f, key='a', alt='bars')", 0),
        ("figures.show(f, key='a', alt=words)", 0),
        ("show(f, key='a')", 1),
        ("show_cells(c, key='a')", 1),
        ("show_cells(c, key='a', alt='numbers')", 0),
        ("show(f, key='a', alt='')", 1),
        ("st.altair_chart(f)", 1),
        ("st.line_chart(f)", 1),
    ],
)
def test_a_silent_figure_is_found(source: str, silent: int) -> None:
    assert len(list(silent_figures(PACKAGE / "ui" / "x.py", ast.parse(source)))) == silent


def test_no_rule_asks_the_whole_page_what_it_holds() -> None:
    """Chromium would then match all elements anew whenever one comes or goes."""
    found = [
        f"{name_of(path)}: {rule}"
        for path in PACKAGE.rglob("*.css")
        for rule in re.findall(r"(?:\bbody|\bhtml|:root|\.stApp)[^\s,{]*:has\(.*", path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)
