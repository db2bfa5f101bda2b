"""The position scheme of CONTRIBUTING.md, followed to the letter: its three blocks of code, and nothing else."""

import re
import sys
import textwrap
from collections.abc import Callable
from types import ModuleType

import pytest

from tests.browser import ROOT
from tfmviz.positions.schemes import SCHEMES, Scheme

NAME = "logarithmic"


def _blocks() -> list[str]:
    """The class, the entry, the test."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = text.split("\n## A position scheme\n")[1].split("\n## ")[0]
    return [textwrap.dedent(block) for block in re.findall(r"```(?:python)?\n(.*?)```", recipe, flags=re.DOTALL)]


def follow(patch: pytest.MonkeyPatch) -> dict[str, Callable[[], None]]:
    """Puts the scheme into the table, until the patch is undone. Returns the recipe's own tests."""
    code, entry, checks = _blocks()
    module = ModuleType(f"tfmviz.positions.{NAME}")
    patch.setitem(sys.modules, module.__name__, module)
    exec(code, vars(module))
    ((name, scheme),) = eval(f"{{{entry}}}", {"Scheme": Scheme}).items()
    patch.setitem(SCHEMES, name, scheme)
    assert name == NAME
    written: dict[str, Callable[[], None]] = {}
    exec(checks, written)
    return {test: function for test, function in written.items() if test.startswith("test_")}
