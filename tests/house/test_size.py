"""Files and functions short enough to be read in one go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import ROOT
from tests.house.sources import MODULES, PACKAGE, PAGES, name_of, tree_of

FILE, PAGE = 400, 85
FUNCTION, FIGURE = 40, 50

SOURCES = [*MODULES, *PAGES, ROOT / "app.py"]
SOURCES += [path for folder in ("bench", "scripts", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]


def lays_out_a_figure(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a function of `plots/` that returns a figure: it has many settings and little logic."""
    returned = ast.unparse(function.returns) if function.returns else ""
    return path.is_relative_to(PACKAGE / "plots") and returned.endswith(("Cells", "Chart"))


def long_functions(path: Path, tree: ast.Module) -> Iterator[str]:
    """A sentence for each. A page is one function; how long it may be is said of its file."""
    for node in ast.walk(tree) if path not in PAGES else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            cap = FIGURE if lays_out_a_figure(path, node) else FUNCTION
            if length > cap:
                yield f"{name_of(path)}:{node.lineno}: `{node.name}` has {length} lines; split it, {cap} are the limit"


def test_functions_fit_on_a_screen() -> None:
    complaints = [complaint for path in SOURCES for complaint in long_functions(path, tree_of(path))]
    assert not complaints, "\n".join(complaints)


def test_files_are_about_one_thing() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    complaints = [
        f"{name_of(path)} has {length} lines; split it, {cap} are the limit"
        for path, length in lengths.items()
        if length > (cap := PAGE if path in PAGES else FILE)
    ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("folder", "returns", "cap"), [("plots", "Chart", 50), ("plots", "str", 40), ("ui", "Chart", 40)]
)
def test_limits_count_whole_lines_and_figures_have_their_own(folder: str, returns: str, cap: int) -> None:
    def complaints(length: int) -> int:
        source = "\n".join([f"def f() -> {returns}:", *["    pass"] * (length - 1)])
        return len(list(long_functions(PACKAGE / folder / "x.py", ast.parse(source))))

    assert [complaints(cap), complaints(cap + 1)] == [0, 1]
