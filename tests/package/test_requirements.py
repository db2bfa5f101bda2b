"""What the package asks for and what its wheel holds: packages, pins, files; and that it runs from any folder."""

import configparser
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import tfmviz
from scripts import lint
from tests.browser import ROOT
from tfmviz.__main__ import LOOP


def requirements(name: str) -> dict[str, Requirement]:
    """The packages a file of requirements names itself."""
    lines = (line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    found = [Requirement(line) for line in lines if line and not line.startswith("-")]
    return {canonicalize_name(one.name): one for one in found}


def pin(requirement: Requirement) -> str:
    """The one version it admits."""
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", f"{requirement} is not pinned to the version that was tested"
    return specifier.version


PINNED = {
    name: {key: pin(one) for key, one in requirements(name).items()}
    for name in ("requirements.txt", "requirements-dev.txt")
}


def test_the_app_is_given_what_it_imports_and_no_more() -> None:
    files = lint.sources().like("tfmviz/*.py", "pages/*.py")
    imported = {canonicalize_name(path.split(".")[0]) for file in files for path, _ in lint.imports(file)}
    assert imported - {"tfmviz"} | {LOOP} == PINNED["requirements.txt"].keys()


def test_the_wheel_asks_for_the_same_packages_and_admits_the_tested_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {canonicalize_name(one.name): one for one in map(Requirement, project["dependencies"])}
    assert asked.keys() == PINNED["requirements.txt"].keys()
    refused = [str(one) for name, one in asked.items() if PINNED["requirements.txt"][name] not in one.specifier]
    assert not refused, f"pyproject.toml does not admit the version of requirements.txt: {refused}"


def test_the_lock_holds_every_pin_and_no_file_names_a_registry() -> None:
    locked = {name: pin(one) for name, one in requirements("requirements.lock").items()}
    wanted = PINNED["requirements.txt"] | PINNED["requirements-dev.txt"]
    stale = {name: version for name, version in wanted.items() if locked.get(name) != version}
    assert not stale, f"requirements.lock does not hold {stale}: run `make lock`"
    for path in ROOT.glob("requirements*"):
        assert not re.search(r"://|--(extra-)?index-url|--find-links", path.read_text(encoding="utf-8")), path.name


def explained() -> list[dict[str, str]]:
    """The packages of both tables of docs/decisions/dependencies.md, for the app and for development, with versions."""
    text = (ROOT / "docs" / "decisions" / "dependencies.md").read_text(encoding="utf-8").split("\n## Dependencies\n")[1]
    tables = text.split("For development only:")
    cells = [re.findall(r"^\| (?!package)([^|]+) \|", part, re.MULTILINE) for part in tables]
    names = [[name.partition(" ") for cell in table for name in cell.split(", ")] for table in cells]
    return [{name.lower(): version for name, _, version in table} for table in names]


def test_architecture_says_of_each_direct_dependency_why_it_is_here() -> None:
    """Also of two that no file of requirements names: HAProxy is no Python package, and uv is for `make lock` alone."""
    npm = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    app, development = explained()
    assert app.keys() - {"haproxy"} == PINNED["requirements.txt"].keys()
    assert development.keys() - {"uv"} == PINNED["requirements-dev.txt"].keys() | npm.keys()
    pinned = PINNED["requirements.txt"] | PINNED["requirements-dev.txt"] | npm
    named = {name: version for name, version in (app | development).items() if re.fullmatch(r"[0-9.]+", version)}
    assert named
    assert not [name for name, version in named.items() if not f"{pinned[name]}.".startswith(f"{version}.")]


def test_package_citation_and_changes_name_the_same_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## (\d\S+) \((\S+)\)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest
    assert (cited["version"], cited["date-released"]) == newest.groups()
    assert tfmviz.__version__ == cited["version"]


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


def test_package_app_settings_models_and_attributions_travel_and_nothing_else(unpacked: Path) -> None:
    wanted = {name for name in tracked() if name.startswith("tfmviz/")}
    wanted |= {f"tfmviz/project/{name}" for name in tracked() if name.split("/")[0] in CARRIED}
    found = {str(path.relative_to(unpacked)) for path in (unpacked / "tfmviz").rglob("*") if path.is_file()}
    assert found == wanted
    (information,) = unpacked.glob("*.dist-info")
    for name in ("LICENSE", "NOTICE"):
        assert (information / "licenses" / name).read_bytes() == (ROOT / name).read_bytes()
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
from tfmviz.paths import PROJECT
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
