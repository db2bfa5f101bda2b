"""The notebooks of the docs run from their first cell to the last, without a network, and show pages."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser import ROOT
from tests.cases import each

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def run(notebook: Path) -> tuple[dict[str, Any], list[Any]]:
    """The names that a notebook leaves, and what each cell shows: the value of its last line."""
    names: dict[str, Any] = {}
    shown = []
    for n, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], f"cell {n} of {notebook.name} holds an output"
        tree = ast.parse("".join(cell["source"]))
        last, where = tree.body[-1], f"{notebook.name}, cell {n}"
        if isinstance(last, ast.Expr):
            tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_", ast.Store())], last.value), last)
        exec(compile(ast.fix_missing_locations(tree), where, "exec"), names)
        shown.append(names.pop("_", None))
    return names, shown


@each("notebook", NOTEBOOKS)
def test_every_cell_runs_and_pages_are_shown(notebook: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        names, shown = run(notebook)
    pages = [value for value in shown if hasattr(value, "_repr_html_")]
    assert len(pages) == {"show_attention": 5, "bring_a_model": 1}[notebook.stem]
    assert all(page._repr_html_().startswith("<iframe") for page in pages)
    if notebook.stem == "bring_a_model":
        assert abs(names["logits"] - names["trace"]["logits"]).max() < 1e-4
        assert names["change"] > 0
