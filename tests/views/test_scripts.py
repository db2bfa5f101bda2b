"""How JavaScript modules become one script for each view."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.node import VIEWS, node
from tfmviz.plots.theme import DARK, LIGHT, Theme, variables
from tfmviz.views.shared import script, style

MODULES = sorted(VIEWS.rglob("*.js"))
IMPORTED = {
    (module.parent / name).resolve()
    for module in MODULES
    for name in re.findall(r'^import \{[^}]*\} from "(\.[^"]+)"', module.read_text(encoding="utf-8"), re.MULTILINE)
}
ENTRIES = [module for module in MODULES if module not in IMPORTED]
"""What nobody imports is where a script begins, or is not used at all."""


def complaints(text: str) -> str:
    """What node says of the syntax of a module; "" if it finds no fault, such as a name that is declared twice."""
    return node("--input-type=module", "--check", "-", given=text).stderr


def test_scripts_begin_at_a_view_or_where_this_list_says() -> None:
    others = {str(entry.relative_to(VIEWS)) for entry in ENTRIES if entry.name != "view.js"}
    of_site = {f"site/{name}.js" for name in ("site", "below", "whole_model", "steps", "masks", "turning")}
    assert others == {"shared/relay.js", "explorer/standalone.js"} | of_site
    assert {entry.parent.name for entry in ENTRIES} >= {"explorer", "steps", "masks", "lens", "turning", "bars"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: str(path.relative_to(VIEWS)))
def test_a_script_stands_alone_and_no_two_of_its_modules_declare_the_same_name(entry: Path) -> None:
    text = script(str(entry.relative_to(VIEWS)))
    assert complaints(text) == ""
    assert not re.search(r"^import\b", text, re.MULTILINE)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.name == "view.js"], ids=lambda p: p.parent.name)
def test_python_gives_the_browser_the_script_of_the_view(entry: Path) -> None:
    package = importlib.import_module(f"tfmviz.views.{entry.parent.name}")
    assert script(f"{entry.parent.name}/view.js") == package.JS
    assert "export default" in package.JS


NO_FIGURES = {
    *(
        "engine",
        "find",
        "frame",
        "guess",
        "keys",
        "lectures",
        "live",
        "models",
        "offers",
        "parts",
        "question",
        "site",
        "walk",
    )
}
"""Menus, boxes, keys; and a page whose figures are those of the explorer."""


@pytest.mark.parametrize("view", sorted({entry.parent.name for entry in ENTRIES} - {"shared", "engine"} - NO_FIGURES))
def test_every_figure_has_the_bar_with_its_values_and_files(view: str) -> None:
    assert any(re.search(r"\b(?:this\.bar|figureBar)\(", module.read_text()) for module in (VIEWS / view).glob("*.js"))


def write(folder: Path, **sources: str) -> str:
    """Modules in a folder; returns the path of the first."""
    for name, text in sources.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return str(folder / f"{next(iter(sources))}.js")


def test_modules_are_put_in_once_and_after_what_they_import(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        entry='import { left } from "./left.js";\nimport { right } from "./right.js";\n\nexport default left;\n',
        left='import {\n  base,\n} from "./base.js";\n\nexport const left = base;\n',
        right='import { base } from "./base.js";\n\nexport const right = base;\n',
        base="// A comment.\n\n/**\n * Another.\n */\nexport const base = 'import // kept';\n",
    )
    expected = "const base = 'import // kept';\n\nconst left = base;\n\nconst right = base;\n\nexport default left;\n"
    assert script(entry) == expected


def test_modules_that_import_each_other_are_refused(tmp_path: Path) -> None:
    entry = write(tmp_path, a='import { b } from "./b.js";\n', b='import { a } from "./a.js";\n')
    with pytest.raises(ValueError, match=r"import each other: a\.js, b\.js"):
        script(entry)


@pytest.mark.parametrize(
    "line",
    [
        'import * as all from "./b.js";',
        'import { b as c } from "./b.js";',
        'import b from "./b.js";',
        'import { b } from "elsewhere";',
        "export { b };",
        'export * from "./b.js";',
    ],
)
def test_a_form_that_cannot_be_joined_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ValueError, match=r"a\.js: .* is not a form"):
        script(write(tmp_path, a=f"{line}\n", b="export const b = 1;\n"))


def test_the_check_sees_a_name_that_is_declared_twice(tmp_path: Path) -> None:
    entry = write(tmp_path, a='import { b } from "./b.js";\nconst n = b;\n', b="const n = 1;\nexport const b = n;\n")
    assert "'n' has already been declared" in complaints(script(entry))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(VIEWS)))
def test_modules_stay_readable(module: Path) -> None:
    lines = module.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400
    assert max(map(len, lines)) <= 120


def test_the_theme_alone_knows_its_colours() -> None:
    """A view that writes one by hand would keep the old one when the theme changes. Outside of the app nobody sets
    Streamlit's own variables, so what stands for them is written where they are missing.
    """
    known = {value.lower() for theme in (LIGHT, DARK) for value in variables(theme).values()} - {"#ffffff"}
    files = {path: re.sub(r"--st-[^;]*", "", path.read_text(encoding="utf-8")) for path in VIEWS.rglob("*.*s")}
    written = {str(path): known & set(re.findall(r"#[0-9a-f]{6}\b", text.lower())) for path, text in files.items()}
    assert len(files) > 100
    assert not {name: colours for name, colours in written.items() if colours}


@pytest.mark.parametrize(("theme", "start"), [(LIGHT, ".view{"), (DARK, '.view[data-dark="true"]{')])
def test_views_get_every_colour_of_the_theme_in_both_modes(theme: Theme, start: str) -> None:
    rule = style("steps").split(start)[1].split("}")[0]
    assert dict(part.removeprefix("--").split(":") for part in rule.rstrip(";").split(";")) == variables(theme)
    roles = re.search(r"const ROLES = \[([^\]]*)\];\nROLES.push\(([^)]*)\)", (VIEWS / "shared/colours.js").read_text())
    assert roles is not None
    assert set(re.findall(r'"(\w+)"', roles[0])) <= set(variables(theme))
