"""What is installed: pinned, locked, explained, and nothing that the app does not import."""

import json
import re
import tomllib

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


def test_the_lock_holds_every_pin() -> None:
    locked = {name: pin(one) for name, one in requirements("requirements.lock").items()}
    wanted = PINNED["requirements.txt"] | PINNED["requirements-dev.txt"]
    stale = {name: version for name, version in wanted.items() if locked.get(name) != version}
    assert not stale, f"requirements.lock does not hold {stale}: run `make lock`"


def test_no_file_of_requirements_names_a_registry() -> None:
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
