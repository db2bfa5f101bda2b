"""Mutants: small, of the right kind, the same for the same seed, and gone when the script is."""

import sys
from pathlib import Path

import pytest

from scripts.mutate import Change, Mutants, changes, commands, draw, killer, ran, told
from scripts.quick import ROOT, git

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

ENDS = b"""def best(row: Array) -> int:
    return softmax(row, 1).argmax(axis=2)
def said(row: Array) -> str:
    return names[row.argmin()] if max(row) else none
show(alt=names[-1], size=3, text=f"{softmax(row).max()}")
"""

NAMED = b"""const n = Math.max(a, b) + 1;
const altitude = (2);
put(node, { tabIndex: 1 });
node.hidden = true;
"""


def mutants(path: str, code: bytes, of: Mutants = changes) -> set[str]:
    """The lines that each mutant changes, without what the file says at first."""
    before = set(code.decode().splitlines())
    changed = [set(one.apply(code).decode().splitlines()) - before for one in of(path, code)]
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


def test_the_most_becomes_the_least_wherever_it_is_called() -> None:
    python = mutants("a.py", ENDS)
    assert {"return softmax(row, 1).argmin(axis=2)", "return names[row.argmax()] if max(row) else none"} < python
    assert "return names[row.argmin()] if min(row) else none" in python
    assert 'show(alt=names[-1], size=3, text=f"{softmax(row).min()}")' in python
    assert "const n = Math.min(a, b) + 1;" in mutants("a.ts", NAMED)


def test_what_is_seen_lies_where_words_are_made_or_a_pointer_and_a_screen_reader_are_told() -> None:
    assert mutants("a.py", ENDS, told) == {
        "return names[row.argmax()] if max(row) else none",
        "return names[row.argmin()] if min(row) else none",
        "return names[row.argmin()] if (not (max(row))) else none",
        'show(size=3, text=f"{softmax(row).max()}")',
        'show(alt=names[1], size=3, text=f"{softmax(row).max()}")',
        'show(alt=names[-2], size=3, text=f"{softmax(row).max()}")',
        'show(alt=names[-1], size=3, text=f"{softmax(row).min()}")',
    }
    assert mutants("a.ts", NAMED, told) == {"put(node, { tabIndex: 2 });", "node.hidden = false;"}


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
    (tmp_path / "conftest.py").write_text("import a")
    (tmp_path / "a.py").write_text("n = 1 + ''")
    assert killer(tmp_path, [command], 60)[-1:] == ["--collect-only"], "no test could begin"


def test_a_view_is_asked_in_chromium_last_and_what_takes_too_long_kills_nothing(tmp_path: Path) -> None:
    assert killer(tmp_path, [[sys.executable, "-c", "import signal; signal.pause()"]], 0.1) == []
    quick, *_, browser = commands("tfmviz/views/steps/explain.ts")
    assert quick[0] == "node"
    assert browser[-1] == "tests/browser/test_masks.py"
    scripts = [path for path in git("ls-files", "tfmviz/views") if path.endswith((".ts", ".tsx"))]
    speaking = {path.split("/")[2]: path for path in scripts if told(path, (ROOT / path).read_bytes())}
    for view, path in speaking.items():
        assert commands(path)[-1][-1].startswith(("tests/browser/", "tests/site")), view


def test_a_mutant_is_asked_by_the_tests_that_ran_its_statement(tmp_path: Path) -> None:
    code = b"N = 1\ndef f(x):\n    if x:\n        return (\n            1)\n    return 2\ndef g():\n    return 3\n"
    (tmp_path / "tfmviz").mkdir()
    (tmp_path / "tfmviz" / "a.py").write_bytes(code)
    (tmp_path / "test_a.py").write_text(
        "from threading import Thread\nfrom tfmviz.a import f, g\n"
        "def test_one(): assert f(1) == 1\n"
        "def test_beside():\n    beside = Thread(target=f, args=[1]); beside.start(); beside.join()\n"
        "def test_two(): assert f(0) == 2\n"
        "def test_fails(): assert f(0) == 1\n"
    )
    of = ran(tmp_path)

    def asked(part: bytes) -> set[str]:
        at = code.index(part)
        commands = of(Change("tfmviz/a.py", at, at, b""), code)
        return {part.rpartition("::")[2] for command in commands for part in command}

    assert {"test_one", "test_beside"} <= asked(b"1)")
    assert "test_two" not in asked(b"1)")
    assert {"test_one", "test_beside", "test_two"} <= asked(b"x:\n")
    assert {"test_one", "test_two"} <= asked(b"1\ndef"), "it runs at import"
    assert not {"test_one", "test_two"} & asked(b"3")
    assert "test_fails" not in asked(b"2")
