"""The converter that readers may start: who is let in, what may be read, and that nothing is lost in silence."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.asking import wait_until
from tests.huggingface.folders import write
from tfmviz.runs.converting import TRIES, Converting, Job, NotPossible

WAITS = ("-c", "import sys, time; print('3 of 4 tensors', flush=True); time.sleep(60)")
FULL = (
    "-c",
    "from tfmviz.huggingface import conversion, __main__ as command\n"
    "def full(*_, **__): raise OSError(28, 'No space left on device')\n"
    "conversion.write_weights = full\nraise SystemExit(command.main())",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one checkpoint, or what looks like one."""
    (tmp_path / "all" / "mine").mkdir(parents=True)
    (tmp_path / "all" / "mine" / "config.json").write_text("{}")
    return tmp_path / "all"


def desk(root: Path, *command: str, told: list[str] | None = None) -> Converting:
    tell: Callable[[str], None] = (told if told is not None else []).append
    return Converting(root, root.parent / "own", tell=tell, command=command or ("-m", "tfmviz.huggingface"))


def until(asked: Converting, is_so: Callable[[Job], bool]) -> Job:
    wait_until(lambda: (job := asked.job()) is not None and is_so(job), "the job is so")
    job = asked.job()
    assert job is not None
    return job


def test_a_token_opens_once_and_wrong_ones_close_the_desk(root: Path) -> None:
    told: list[str] = []
    here = desk(root, told=told)
    token = told[-1].split()[-1]
    assert [here.admits(typed) for typed in ("", "ü\ud800", f" {token} ", token)] == [False, False, True, False]
    assert here.admits(told[-1].split()[-1])
    assert [here.admits("x") for _ in range(TRIES)] == [False] * TRIES
    assert here.is_closed
    assert not here.admits(told[-1].split()[-1])


def test_only_what_lies_in_the_folder_is_read_and_no_typed_path(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "config.json").write_text("{}")
    (root / "linked").symlink_to(outside)
    here = desk(root, *WAITS)
    assert here.sources() == ["mine"]
    for typed in (
        *["../outside", "~", "a/..", "../../etc", "-h", "--name", "a/b/c", "mine/"],
        str(outside),
        "",
        ".",
        "a\nb",
    ):
        with pytest.raises(NotPossible):
            here.start("look", typed, "new")
    (root / "mine" / "model.safetensors").symlink_to(outside / "config.json")
    with pytest.raises(NotPossible, match=r"model\.safetensors leads out"):
        here.start("look", "mine", "new")
    for name in ("", "../a", ".hidden", "-a", "a/b", "a\n"):
        with pytest.raises(NotPossible):
            here.start("look", "openai/gpt", name)
    assert here.job() is None


def test_one_runs_at_a_time_and_the_next_server_finds_and_stops_it(root: Path) -> None:
    first = desk(root, *WAITS)
    first.start("convert", "mine", "new")
    next_one = desk(root, *WAITS)
    job = until(next_one, lambda job: job.share > 0)
    assert (job.state, job.given, job.name, job.share) == ("running", "mine", "new", 0.75)
    for other in (first, next_one):
        with pytest.raises(NotPossible, match="Another"):
            other.start("look", "mine", "new")
    next_one.stop()
    assert until(first, lambda job: job.state != "running").state == "stopped"
    next_one.forget()
    assert first.job() is None


def test_a_process_that_is_killed_is_said_to_be_lost(root: Path) -> None:
    here = desk(root, *WAITS)
    here.start("convert", "mine", "new")
    pid = re.search(r'"pid": (\d+)', (root.parent / "own" / ".desk" / "job.json").read_text())
    assert pid
    os.kill(int(pid[1]), signal.SIGKILL)
    assert until(here, lambda job: job.state != "running").state == "lost"


def test_a_full_disk_leaves_a_sentence_and_no_model(root: Path) -> None:
    write(root / "gpt2", "gpt2")
    here = desk(root, *FULL)
    here.start("convert", "gpt2", "new")
    job = until(here, lambda job: job.state != "running")
    assert job.state == "failed"
    assert "No space left" in job.says
    assert str(root) not in job.says
    assert here.own() == []


def test_a_look_says_size_and_licence_and_what_was_converted_can_be_removed(root: Path) -> None:
    write(root / "gpt2", "gpt2")
    (root / "gpt2" / "README.md").write_text("---\nlicense: mit\n---\n<script>alert(1)</script>")
    here = desk(root)
    here.start("look", "gpt2", "new")
    job = until(here, lambda job: job.state != "running")
    assert (job.state, here.own()) == ("done", [])
    assert re.search(r"licence mit, [\d.]+ MB\.", job.says)
    here.start("convert", "gpt2", "new")
    assert until(here, lambda job: job.state != "running").state == "done"
    assert here.own() == ["new"]
    for name in ("", "..", ".desk", "../all", "other"):
        with pytest.raises(NotPossible):
            here.remove(name)
    here.remove("new")
    assert sorted(path.name for path in (root.parent / "own").iterdir()) == [".desk"]
