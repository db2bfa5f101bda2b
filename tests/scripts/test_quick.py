"""`make quick` chooses the tests nearest to what has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import quick
from scripts.quick import ELSEWHERE, LAST, ROOT, TABLES, in_it, in_turn, nearest_tests

THERE = (
    "tests/model/test_attention.py",
    "tests/model/test_block.py",
    "tests/record/test_tap.py",
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
    "tfmviz/record/tap.py": "tests/record/test_tap.py",
    "tfmviz/record/edits.py": "tests/record",
    "tfmviz/ui/masks/lab.py": "tests/pages/test_masks.py",
    "tfmviz/ui/stream/lens.py": "tests/pages/stream/test_lens.py",
    "tfmviz/ui/stream/river.py": "tests/pages/stream",
    "tfmviz/ui/lesson.py": "tests/pages",
    "tfmviz/ui/cache.py": "tests/ui/test_cache.py",
    "tests/ui/three_lines.py": "tests/ui",
    "pages/masks.py": "tests/pages/test_masks.py",
    "tfmviz/views/explorer/lines.tsx": "tests/views/explorer",
    "deploy/haproxy.cfg": "tests/deploy",
    "deploy/serve.py": "tests/deploy/test_serve.py",
    "tfmviz/__main__.py": "tests/package/test_command.py",
    "requirements.txt": "tests/package/test_requirements.py",
    "tests/model/test_block.py": "tests/model/test_block.py",
    "tests/model/helpers.py": "tests/model",
    "tests/app.py": None,
    "tests/browser/test_masks.py": None,
    "tfmviz/fuse.py": None,
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
    changed = ["tfmviz/positions/alibi.py", "tfmviz/ui/lesson.py", "README.md"]
    nearest = ["tests/positions/test_alibi.py", "tests/positions/test_schemes.py"]
    assert in_turn(changed) == [*nearest, *in_it("tests/pages", ROOT)]
    assert in_turn(["tfmviz/positions/schemes.py"]) == nearest[1:]
    assert in_turn([]) == []
    assert in_turn(["tfmviz/ui/compared.py"])[0] == "tests/pages/test_beside_pages.py"
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
    waits = "import time\ndef test_waits(): time.sleep(4)"
    assert run_tests(tmp_path, 3, test_a=waits)
