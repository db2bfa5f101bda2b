"""`make quick` chooses the tests nearest to what has changed; `make test` fails when any of its parts fails."""

import os
import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from scripts import quick
from scripts.quick import ELSEWHERE, LAST, ROOT, TABLES, in_it, in_turn, nearest_tests
from tests.sweep import KEPT, SWEEP, is_swept

THERE = (
    "tests/model/test_attention.py",
    "tests/model/test_block.py",
    "tests/pages/test_masks.py",
    "tests/pages/stream/test_lens.py",
    "tests/views/explorer/test_payload.py",
    "tests/deploy/test_serve.py",
    "tests/ui/test_cache.py",
    "tests/ui/three_lines.py",
)

NEAREST = {
    "tfmviz/model/attention.py": "tests/model/test_attention.py",
    "tfmviz/model/cache.py": "tests/model",
    "tfmviz/ui/masks/effects.py": "tests/pages/test_masks.py",
    "tfmviz/ui/stream/lens.py": "tests/pages/stream/test_lens.py",
    "tfmviz/ui/lesson.py": "tests/pages",
    "tfmviz/ui/cache.py": "tests/ui/test_cache.py",
    "tests/ui/three_lines.py": "tests/ui",
    "pages/masks.py": "tests/pages/test_masks.py",
    "tfmviz/views/explorer/lines.tsx": "tests/views/explorer",
    "deploy/haproxy.cfg": "tests/deploy",
    "tfmviz/__main__.py": "tests/package/test_command.py",
    "requirements.txt": "tests/package/test_requirements.py",
    "tests/model/test_block.py": "tests/model/test_block.py",
    "tests/model/helpers.py": "tests/model",
    "tests/app.py": None,
    "tfmviz/deadline.py": None,
    "README.md": None,
}


def test_the_nearest_tests_are_found_and_each_is_named_once(tmp_path: Path) -> None:
    for name in THERE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = {changed: nearest_tests([changed], tmp_path) for changed in NEAREST}
    assert found == {changed: {nearest} if nearest else set() for changed, nearest in NEAREST.items()}
    assert nearest_tests(["tfmviz/model/a.py", "tfmviz/model/b.py"], tmp_path) == {"tests/model"}


def test_every_test_named_in_a_table_or_of_ui_exists() -> None:
    pairs = [*ELSEWHERE.items(), *TABLES.items(), (LAST, LAST)]
    assert not [name for pair in pairs for name in pair if not any(ROOT.glob(name))]
    tests = {f"tfmviz/ui/{path.name.removeprefix('test_')}": path for path in (ROOT / "tests" / "ui").glob("test_*.py")}
    assert not [name for name in tests if not (ROOT / name).exists()]
    assert nearest_tests(tests) == {str(test.relative_to(ROOT)) for test in tests.values()}


def test_the_nearest_tests_come_first_then_what_all_of_the_room_is_asked() -> None:
    changed = ["tfmviz/positions/rope.py", "tfmviz/ui/lesson.py", "README.md"]
    nearest = ["tests/positions/test_rope.py", "tests/positions/test_schemes.py"]
    assert in_turn(changed) == [*nearest, *in_it("tests/pages", ROOT)]
    assert in_turn(["tfmviz/positions/schemes.py"]) == nearest[1:]
    assert in_turn([]) == []
    assert in_turn(["tfmviz/ui/comparison.py"])[0] == "tests/pages/test_beside_pages.py"
    table, *rest = in_turn(["tfmviz/plots/growth.py"])
    assert table == "tests/plots/test_charts.py"
    assert table not in rest
    assert set(rest) > {"tests/plots/test_cells.py"}


def run_tests(root: Path, seconds: int = 300, **tests: str) -> bool:
    """What it says of files with these tests, in a project that asks pytest to be as quiet as ours does."""
    (root / "pytest.ini").write_text("[pytest]\naddopts = -q\nmarkers = browser")
    for name, text in tests.items():
        (root / f"{name}.py").write_text(text)
    return quick.run_tests([f"{name}.py" for name in tests], seconds=seconds, root=root)


def test_it_passes_when_a_test_has_passed_and_none_has_failed(tmp_path: Path) -> None:
    assert run_tests(tmp_path, test_a="def test_right(): pass")
    for no in (
        "def test_wrong(): assert False",
        "def test_right(): pass\ndef test_wrong(): assert False",
        "import nowhere",
        "import pytest\n@pytest.mark.browser\ndef test_seen(): pass",
        "import pytest\ndef test_left_out(): pytest.skip()",
        "",
    ):
        assert not run_tests(tmp_path, test_a=no), no


@pytest.mark.parametrize("first_passes", [True, False])
def test_what_was_not_reached_is_said_and_counts_only_beside_what_has_passed(
    first_passes: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    endless = "def test_endless():\n    while True: pass"
    first = "def test_first(): pass" if first_passes else endless
    last = "def test_never_reached(): assert False"
    assert run_tests(tmp_path, 3, test_a=first, test_b=endless, test_c=last) == first_passes
    reached, left = ("test_b.py", "test_c.py") if first_passes else ("test_a.py", "test_b.py test_c.py")
    assert f"Stopped after 3 processor seconds in {reached}. Not reached: {left}\n" in capfd.readouterr().out


def test_waiting_for_another_process_costs_no_time_of_the_processor(tmp_path: Path) -> None:
    assert run_tests(tmp_path, 3, test_a="import time\ndef test_waits(): time.sleep(4)")


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
