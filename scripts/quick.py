"""The checks of a change, within about 20 seconds: `make quick`, or `python -m scripts.quick`.

A change is the difference from the main branch, committed or not. Ruff, mypy and `scripts.lint` check everything (mypy
has a cache), and where a script or a style has changed, so do Biome, tsc and the scripts' tests. Of the other tests
those that need no browser run in parallel, in one process, as a second one takes longer to start than it saves: the
files nearest to the change, then the tests of the whole room, then the rest of a folder, then the cost of imports. They
stop after 15 seconds of processor time, however busy the machine is, and list the files not reached. Where none has
ended, nothing has passed. A change that passes here can still fail in `make test`.
"""

from __future__ import annotations

import fnmatch
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]

SECONDS = 15
"""Processor time of the tests."""

MAIN = ("origin/main", "main")
"""The base of a change: the first of these branches that exists."""

PYTHON = (sys.executable, "-m")
NPM = ("npm", "run", "--silent")

ELSEWHERE = {
    "tfmviz/__main__.py": "tests/package/test_command.py",
    "pyproject.toml": "tests/package",
    "scripts/lint.py": "tests/house/test_lint.py",
    "scripts/draw_rooms.py": "tests/house/test_lint.py",
    "requirements.txt": "tests/package/test_requirements.py",
    "requirements-dev.txt": "tests/package/test_requirements.py",
    "requirements.lock": "tests/package/test_requirements.py",
}
"""Files whose tests lie where their names do not lead."""

TABLES = {
    "tfmviz/positions/": "tests/positions/test_schemes.py",
    "tfmviz/model/": "tests/model/test_transformer.py",
    "tfmviz/plots/": "tests/plots/test_charts.py",
    "tfmviz/zoo/": "tests/zoo/test_writing.py",
    "tfmviz/views/engine/": "tests/engine/test_parity.py",
    "tfmviz/ui/comparison.py": "tests/pages/test_beside_pages.py",
}
"""The tests of a whole room, by the room; a tab with a comparison is tested by those of all pages."""

LAST = "tests/house/test_imports.py"
"""The tests of every change."""

OUTCOMES = re.compile(r"(?P<file>\S+\.py) (?P<each>[.FEsxX]*)")
"""pytest's line for a file: a letter for each test that has ended, a dot for one that passed."""

LIMITED = ("sh", "-c", 'ulimit -c 0 && ulimit -S -t "$0" && exec "$@"')
"""Runs a command that the system ends, by SIGXCPU, after the given seconds of processor time."""


def main() -> None:
    checks = [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("scripts.lint",), ("mypy",)]
    commands = [[*PYTHON, *check] for check in checks]
    paths = changed()
    if any(Path(path).suffix in (".ts", ".tsx", ".js", ".css") or Path(path).match("tfmviz/*.json") for path in paths):
        commands += [[*NPM, script] for script in ("check", "test")]
    with ThreadPoolExecutor(1) as beside:
        others = [beside.submit(said_by, command) for command in commands]
        passed = run_tests(list(dict.fromkeys([*in_turn(paths), LAST])))
        for other in others:
            ended = other.result()
            print(ended.stdout, end="", flush=True)
            passed &= ended.returncode == 0
    sys.exit(not passed)


def said_by(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The output of a check, in one piece, as it runs in parallel with the tests."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}  # npm, node
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def in_turn(paths: Iterable[str], root: Path = ROOT) -> list[str]:
    """Files of tests to run: the nearest to the change, then tables of their rooms, and folders."""
    paths = list(paths)
    nearest = sorted(nearest_tests(paths, root))
    tables = [table for room, table in TABLES.items() if fnmatch.filter(paths, f"{room}*")]
    files = [one for one in nearest if one.endswith(".py")]
    folders = [one for one in nearest if not one.endswith(".py")]
    return list(dict.fromkeys([*files, *tables, *(file for one in folders for file in in_it(one, root))]))


def in_it(folder: str, root: Path) -> list[str]:
    """The files of tests in a folder: pytest would run one that is also named separately at the folder's turn."""
    return sorted(str(file.relative_to(root)) for file in (root / folder).rglob("test_*.py"))


def run_tests(tests: Sequence[str], seconds: int = SECONDS, root: Path = ROOT) -> bool:
    """True if at least one test of these files and folders passed, and none failed.

    The first failure ends them, and so does the limit, in seconds of processor time. The files not reached are listed.
    """
    print("Tests:", *tests, flush=True)
    command = [*LIMITED, str(seconds), *PYTHON, "pytest", "--verbose", "--exitfirst", "-m", "not browser", *tests]
    reached, passed = tests[0], False
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        for line in running.stdout:
            print(line.rstrip("\n"), flush=True)  # the last one may be broken off
            if outcomes := OUTCOMES.match(line):
                reached = outcomes["file"]
                passed |= "." in outcomes["each"]
    if is_late := running.returncode == -signal.SIGXCPU:
        left = tests[tests.index(reached) + 1 :] or ["what follows there"]
        print(f"Stopped after {seconds} processor seconds in {reached}. Not reached:", *left)
    if not passed:
        print("No test has passed: nothing was asked of", *tests)
    return passed and (is_late or running.returncode == 0)


def changed() -> list[str]:
    """Paths that differ from the main branch and still exist."""
    base = next((found for name in MAIN if (found := git("merge-base", "HEAD", name))), ["HEAD"])[0]
    listed = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return [name for name in listed if (ROOT / name).exists()]


def git(*arguments: str) -> list[str]:
    """Lines of output; none on failure."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def nearest_tests(paths: Iterable[str], root: Path = ROOT) -> set[str]:
    """The tests nearest to each of these files; none for one without tests.

    `tests/` mirrors the rooms. The tests of `tfmviz/a/b/c.py` are the first of these that there is:
    `tests/a/b/test_c.py`, `tests/a/b/c/`, `tests/a/test_b.py`, `tests/a/b/`, `tests/test_a.py`, `tests/a/`.
    Those of `tfmviz/ui/` lie in `tests/pages/`, where a page is opened, but for files that have one in `tests/ui/`.
    """
    return {nearest for path in paths if (nearest := _nearest(Path(path), root))}


def _nearest(path: Path, root: Path) -> str | None:
    if path.parts[:2] == ("tests", "browser"):
        return None
    if path.name.startswith("test_"):
        return str(path)
    if path.as_posix() in ELSEWHERE:
        return ELSEWHERE[path.as_posix()]
    if path.parts[:2] == ("tfmviz", "ui"):
        if (root / (own := Path("tests", *path.parts[1:-1], f"test_{path.stem}.py"))).exists():
            return str(own)
        path = Path("pages", *path.parts[2:])
    elif path.parts[0] in ("tfmviz", "tests"):
        path = path.relative_to(path.parts[0])
    place = Path("tests", path.with_suffix(""))
    while place != Path("tests"):
        candidates = (place.with_name(f"test_{place.name}.py"), place)
        if found := next((one for one in candidates if (root / one).exists()), None):
            return str(found)
        place = place.parent
    return None


if __name__ == "__main__":
    main()
