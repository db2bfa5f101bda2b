"""`make test` fails when any of its parts fails, and says what that part said."""

import os
import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tests.browser import ROOT
from tests.sweep import KEPT, SWEEP, is_swept

PROGRAM = """#!/bin/sh
call="$(basename "$0") $*"
echo "said by $call"
case "$call" in *"$BROKEN"*) exit 1;; esac
"""
"""In place of python and npm: fails where it is called for the part that is broken."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with our Makefile, in which everything is set up and every program is `PROGRAM`."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    inputs = ("requirements.txt", "requirements.lock", "requirements-dev.txt", "package.json", "package-lock.json")
    for age, name in enumerate((".venv/test.done", ".venv/app.done", *inputs)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 9 - age))
    programs = (f"scripts/find_{one}.sh" for one in ("chromium", "haproxy", "firefox"))
    for name in (".venv/bin/python", ".venv/bin/npm", *programs):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PROGRAM)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def made(project: Path, broken: str, target: str = "test") -> subprocess.CompletedProcess[str]:
    """Not as a part of the `make` that may run these tests."""
    apart = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    env = apart | {"BROKEN": broken}
    return subprocess.run(["make", target], cwd=project, env=env, capture_output=True, text=True, check=False)


def test_a_part_that_fails_is_named_with_what_it_said_and_all_that_pass_are_a_success(project: Path) -> None:
    for part in ("ruff check", "ruff format", "mypy", "npm run --silent check", "npm run --silent test", "pytest"):
        done = made(project, part)
        assert done.returncode != 0, part
        assert part in "".join(line for line in done.stdout.splitlines() if line.startswith("said by")), part
    for target, asked in (("test", "not soak and not sweep"), ("test-all", "not soak")):
        done = made(project, "no such part", target)
        assert done.returncode == 0, done.stderr
        assert f"pytest -m {asked} --num" in done.stdout


def test_what_is_left_to_the_sweep_exists() -> None:
    assert not [name for name in SWEEP | KEPT if not (ROOT / "tests" / name).exists()]
    assert all(is_swept(PurePosixPath(name) / "test_a.py") for name in SWEEP if not name.endswith(".py"))
    assert not [name for name in KEPT if is_swept(PurePosixPath(name))]
