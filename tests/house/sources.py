"""What the house tests look at: the project's Python files and what stands in them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.browser import ROOT

PACKAGE = ROOT / "tfmviz"

MODULES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))
LESSONS = [page for page in PAGES if page.stem not in ("contents", "home", "lectures")]
"""Pages about a sentence."""


def name_of(path: Path) -> str:
    """A path as people name it, from the project's folder on."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module or name, as a dotted path from the top (`tfmviz.ui.models`), and the line it stands in."""

    path: str
    line: int

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.path.split("."))


def imports(path: Path) -> Iterator[Import]:
    """Everything a file imports from outside the standard library, inside functions too."""
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.Import(names=names):
                paths = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), level=0, names=names):
                paths = [f"{module}.{alias.name}" for alias in names]
            case ast.ImportFrom(level=level) if level:
                raise ValueError(f"{name_of(path)}:{node.lineno}: imports are written in full, from `tfmviz` on.")
            case _:
                continue
        yield from (Import(one, node.lineno) for one in paths if one.split(".")[0] not in sys.stdlib_module_names)


def called(call: ast.Call) -> str:
    """Name of what is called, without what it is an attribute of."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
