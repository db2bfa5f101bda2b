"""What a hostile checkpoint costs, and what a command that is killed leaves behind."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import ROOT
from tests.huggingface.damages import REFUSED
from tests.huggingface.test_folders import run

MOST = 800
"""Megabytes. The command takes 370 to convert a tiny model, most of them the libraries."""


FEW_BYTES = ("norm as long", "vocabulary as long", "without end", "by number", "more values", "too many tensors")
LARGE = [name for name in REFUSED if any(words in name for words in FEW_BYTES)]
"""Damages by which a small file asked for gigabytes."""


CONVERTS_ALL = """
import sys
from pathlib import Path
from tests.huggingface.test_folders import run
from tests.soak.costs import resident

for folder in sys.argv[1:]:
    assert run(Path(folder)) == 1
    print(folder, int(resident("VmHWM")))  # not `ru_maxrss`, which begins at that of the process of the tests
"""

WAITS_IN_THE_MIDDLE = """
import sys
from pathlib import Path
from tests.huggingface.test_folders import run
from tfmviz.huggingface import conversion

def wait(*_):
    print("is writing", flush=True)
    sys.stdin.read()

conversion.compare = wait
run(Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="has no such account of a process")
def test_what_is_refused_takes_no_memory(written: Path, tmp_path: Path, place: Path) -> None:
    folders = [tmp_path / name.replace(" ", "-") for name in LARGE]
    for name, folder in zip(LARGE, folders, strict=True):
        REFUSED[name][0](shutil.copytree(written, folder))
    command = [sys.executable, "-c", CONVERTS_ALL, *map(str, folders)]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=300).stdout
    peaks = {Path(folder).name: int(peak) for folder, peak in re.findall(r"^(/.*) (\d+)$", said, re.MULTILINE)}
    assert len(peaks) == len(LARGE)
    assert {name: peak for name, peak in peaks.items() if peak > MOST} == {}


def test_what_a_killed_command_leaves_goes_and_what_one_is_writing_stays(written: Path, place: Path) -> None:
    def begun() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WAITS_IN_THE_MIDDLE, str(written)]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        while "is writing" not in (line := process.stdout.readline()):
            assert line, "it has ended"
        return process

    def weights() -> set[Path]:
        return set(place.rglob("*.safetensors"))

    killed = begun()
    left = weights()
    alive = begun()
    assert left < weights()  # the first was alive when the second began
    killed.kill()
    killed.communicate()
    try:
        kept = weights() - left
        assert run(written, "--name", "whole") == 0
        assert weights() == {*kept, place / "whole" / "model.safetensors"}
    finally:
        alive.kill()
        alive.communicate()
    assert run(written, "--name", "another") == 0
    assert sorted(path.name for path in place.iterdir()) == ["another", "whole"]
