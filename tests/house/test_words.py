"""How texts for readers are written: alike on all pages, whether Python or the browser writes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import ROOT
from tests.house.sources import MODULES, PACKAGE, PAGES, name_of, tree_of

SHOWN = [*PAGES, *(path for path in MODULES if {"ui", "plots", "views"} & set(path.parts))]
SCRIPTS = sorted((PACKAGE / "views").rglob("*.ts"))

IN_TEXT = re.compile(r"(^|\d|\)) %")
"""A sign after a space; a formatted number ends where the next part of an f-string begins."""

MERGING = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)

IN_SCRIPT = re.compile(r"\} %|\d %[`\"]|\" %")


def spaced(tree: ast.Module) -> Iterator[int]:
    """The lines in which a text says "33 %"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and IN_TEXT.search(node.value):
            yield node.lineno


@pytest.mark.parametrize("path", SHOWN, ids=name_of)
def test_per_cent_is_written_33_per_cent_without_a_space(path: Path) -> None:
    lines = list(spaced(tree_of(path)))
    assert not lines, f"{name_of(path)}:{lines[0]}: write 33%, as `plots.numbers.per_cent` does"


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_scripts_write_per_cent_without_a_space(path: Path) -> None:
    found = IN_SCRIPT.search(path.read_text(encoding="utf-8"))
    assert not found, f"{name_of(path)}: {found[0]!r}: write 33%, as shared/numbers.ts does"


def test_no_file_holds_the_marks_of_a_merge() -> None:
    folders = ("app.py", "README.md", "assets", "bench", "docs", "pages", "scripts", "tests", "tfmviz")
    paths = [
        path for name in folders for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
    ]
    written = [path for path in paths if path.suffix in {".css", ".js", ".md", ".mjs", ".py", ".toml", ".ts"}]
    assert len(written) > 1_000
    complaints = [name_of(path) for path in written if MERGING.search(path.read_text(encoding="utf-8"))]
    assert not complaints, f"two versions stand beside each other in {', '.join(complaints)}"


@pytest.mark.parametrize(
    ("source", "count"), [("'33 % of'", 1), ("f'{x} %'", 1), ("'33% of'", 0), ("f'{x}%'", 0), ("7 % n", 0)]
)
def test_a_space_before_the_sign_is_found(source: str, count: int) -> None:
    assert len(list(spaced(ast.parse(source)))) == count
