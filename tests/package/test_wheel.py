"""The wheel: what travels in it, and that it works in a folder that holds nothing else."""

import configparser
import importlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tfmviz
from tests.browser import ROOT

CARRIED = ("app.py", "pages", "assets", ".streamlit")
"""What lies beside the package in a checkout."""

LARGEST = 95_000_000
"""Bytes of the wheel: a package index takes 100 MB."""


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel would install; built without network, node, and an environment of its own."""
    built, unpacked = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("unpacked")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(built)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=os.environ | {"PATH": ""})
    (wheel,) = built.glob("*.whl")
    assert wheel.stat().st_size <= LARGEST
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    return unpacked


def run(unpacked: Path, folder: Path, *arguments: str) -> str:
    """What Python prints in this folder when the wheel's content is its only tfmviz."""
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tracked() -> set[str]:
    """The files of the project, as git knows them, without those that are deleted and not yet committed."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    return {name for name in listed.stdout.decode().splitlines() if (ROOT / name).exists()}


def test_package_app_pages_settings_and_models_travel_and_nothing_else(unpacked: Path) -> None:
    wanted = {name for name in tracked() if name.startswith("tfmviz/")}
    wanted |= {f"tfmviz/project/{name}" for name in tracked() if name.split("/")[0] in CARRIED}
    found = {str(path.relative_to(unpacked)) for path in (unpacked / "tfmviz").rglob("*") if path.is_file()}
    assert found == wanted


def test_licence_and_attributions_travel(unpacked: Path) -> None:
    (information,) = unpacked.glob("*.dist-info")
    found = {name: (information / "licenses" / name).read_bytes() for name in ("LICENSE", "NOTICE")}
    assert found == {name: (ROOT / name).read_bytes() for name in found}
    metadata = (information / "METADATA").read_text()
    assert "License-Expression: Apache-2.0\n" in metadata
    assert f"Version: {tfmviz.__version__}\n" in metadata


def test_the_command_is_installed_and_explains_itself(unpacked: Path, tmp_path: Path) -> None:
    (information,) = unpacked.glob("*.dist-info")
    scripts = configparser.ConfigParser()
    scripts.read(information / "entry_points.txt")
    module, function = scripts["console_scripts"]["tfmviz"].split(":")
    assert callable(getattr(importlib.import_module(module), function))
    said = run(unpacked, tmp_path, "-m", module, "--help")
    assert "--host" in said
    assert "--port" in said


def test_every_page_runs_and_models_load_from_any_folder(unpacked: Path, tmp_path: Path) -> None:
    """With the carried pages and the carried settings, although the reader's folder has a page of the same name."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "masks.py").write_text("raise SystemExit('a page that is not ours')")
    program = """
import json
import tfmviz
from pathlib import Path
from streamlit.testing.v1 import AppTest
from tfmviz.places import PROJECT
app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=300).run()
for page in ("", *sorted(path.name for path in (PROJECT / "pages").glob("*.py"))):
    if page:
        app.switch_page(f"pages/{page}").run()
    assert not app.exception, (page, app.exception)
    assert not app.error, (page, app.error)
    (header,) = [part.proto.json for part in app.get("bidi_component") if part.proto.component_name == "tfmviz_frame"]
    print(page, json.loads(header)["title"])
print(tfmviz.__file__, *tfmviz.load("tiny-english").trace("The cat").tokens, sep="|")
"""
    *titles, loaded = run(unpacked, tmp_path, "-c", program).splitlines()
    assert len(titles) == 1 + len(list((ROOT / "pages").glob("*.py")))
    assert loaded == f"{unpacked / 'tfmviz' / '__init__.py'}|The| cat"
