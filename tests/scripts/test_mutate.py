"""Mutants: small, of the right kind, the same for the same seed, and gone when the script is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.mutate import Change, changes, commands, draw, killer

PYTHON = b'''"""A docstring with 1 < 2."""
from __future__ import annotations
def f(x: int | None, *, height: int = 3) -> str:
    if x > 0 and -x:
        return g(x, "1 + 1", size=7, height=5)
    return f"{x[0]} of 1"
'''

SCRIPT = b"""// 1 < 2
const a = x < 1 && f(-y, "a < b");
"""


def mutants(path: str, code: bytes) -> set[str]:
    """The lines that each mutant changes, without what the file says at first."""
    before = set(code.decode().splitlines())
    changed = [set(one.apply(code).decode().splitlines()) - before for one in changes(path, code)]
    assert all(len(lines) == 1 for lines in changed)
    return {line.strip() for lines in changed for line in lines}


def test_python_is_changed_where_it_acts_and_not_where_it_explains_or_looks() -> None:
    assert mutants("a.py", PYTHON) == {
        "def f(x: int | None, *, height: int = 4) -> str:",
        "if (not (x > 0 and -x)):",
        "if x >= 0 and -x:",
        "if x > 1 and -x:",
        "if x > 0 or -x:",
        "if x > 0 and x:",
        'return g(x, "1 + 1", height=5)',
        'return g(x, "1 + 1", size=8, height=5)',
        'return f"{x[1]} of 1"',
    }


def test_scripts_are_changed_outside_of_comments_and_strings() -> None:
    assert mutants("a.ts", SCRIPT) == {
        'const a = x <= 1 && f(-y, "a < b");',
        'const a = x < 2 && f(-y, "a < b");',
        'const a = x < 1 || f(-y, "a < b");',
        'const a = x < 1 && f(y, "a < b");',
    }


def test_a_seed_draws_the_same_mutants_and_takes_all_rooms_in_turn() -> None:
    files = {f"tfmviz/{room}/a.py": PYTHON for room in ("model", "ui/one", "ui/two")}
    drawn = draw(files, 6, seed=1)
    assert drawn == draw(files, 6, seed=1) != draw(files, 6, seed=2)
    assert {one.path for one in drawn[:3]} == {one.path for one in drawn[3:]} == set(files)
    assert len(set(drawn)) == 6
    assert len(draw(files, 1000, seed=1)) == 27, "no more than there are"


@pytest.mark.parametrize(("code", "killed"), [(b"n = 1", False), (b"n = 2", True)])
def test_a_mutant_is_killed_by_the_first_test_that_fails(code: bytes, killed: bool, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(Change("a.py", 4, 5, code[4:]).apply(b"n = 1"))
    odd = "import pytest\nfrom a import n\n@pytest.mark.parametrize('x', ['a b'])\ndef test_one(x): assert n == 1\n"
    (tmp_path / "test_a.py").write_text(f"{odd}def test_two(): assert n == 1")
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "test_a.py"]
    assert killer(tmp_path, [command], 60)[-1:] == (["test_a.py::test_one[a b]"] if killed else [])


def test_a_view_is_asked_in_chromium_last_and_what_takes_too_long_kills_nothing(tmp_path: Path) -> None:
    assert killer(tmp_path, [[sys.executable, "-c", "import signal; signal.pause()"]], 0.1) == []
    quick, *_, browser = commands("tfmviz/views/steps/explain.ts")
    assert quick[0] == "node"
    assert browser[-1] == "tests/browser/test_explorer.py"
