"""The scripts of the views: what is committed is what their modules are bundled to, and each stands alone."""

import re
from pathlib import Path

from streamlit.components.v2.component_path_utils import ComponentPathUtils

from tests.browser import ROOT
from tests.node import VIEWS, node
from tfmviz.plots.theme import DARK, LIGHT, variables
from tfmviz.views.shared import DIST, script, style

MODULES = [path for path in VIEWS.rglob("*.ts*") if path.name != "kernel.ts"]  # in another language, AssemblyScript
COMPONENTS = sorted(path.parent.name for path in VIEWS.glob("*/view.ts*"))


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.js*"))}


def test_what_is_committed_is_what_the_modules_are_bundled_to(tmp_path: Path) -> None:
    built = node(str(ROOT / "scripts" / "build_views.mjs"), str(tmp_path))
    assert built.returncode == 0, built.stderr
    fresh, committed = contents(tmp_path), contents(DIST)
    assert {name for name in fresh | committed if fresh.get(name) != committed.get(name)} == set(), "npm run build"


def test_a_script_that_travels_stands_alone_and_is_what_python_gives() -> None:
    """A saved page and Streamlit take it as one text, not as a file's name; nothing in it may end the script early."""
    alone = contents(DIST / "alone")
    assert len(alone) > 30
    assert not [name for name, text in alone.items() if re.search(r"\bimport\s*[{\"']|\bfrom\s*\"\.|</script", text)]
    assert not [name for name, text in alone.items() if not ComponentPathUtils.looks_like_inline_content(text)]
    given = {}
    for view in COMPONENTS:
        given[view] = script(f"{view}/view.ts")
        assert " as default" in given[view], view
    assert given == {view: alone[f"{view}/view.js"] for view in COMPONENTS}


NO_FIGURES = {"doors", "engine", "find", "frame", "guess", "home", "keys", "lectures", "live", "models", "offers"}
NO_FIGURES |= {"parts", "presenter", "question", "selection", "site", "sliders", "walk"}
"""Menus, boxes, keys, the first page; and a page whose figures are those of the explorer."""


def test_every_figure_has_its_bar_and_modules_stay_readable() -> None:
    lines = {module: module.read_text(encoding="utf-8").splitlines() for module in MODULES}
    assert not [str(module) for module, text in lines.items() if max(map(len, text)) > 120]
    for view in {*COMPONENTS} - NO_FIGURES:
        text = "".join(path.read_text(encoding="utf-8") for path in MODULES if path.parent.name == view)
        assert re.search(r"\b(?:this\.bar|figureBar)\(", text), view


def test_views_get_every_colour_of_the_theme_in_both_modes() -> None:
    for theme, start in ((LIGHT, ".view{"), (DARK, '.view[data-dark="true"]{')):
        rule = style("steps").split(start)[1].split("}")[0]
        assert dict(part.removeprefix("--").split(":") for part in rule.rstrip(";").split(";")) == variables(theme)
    roles = re.search(r"const ROLES = \[([^\]]*)\];\nROLES.push\(([^)]*)\)", (VIEWS / "shared/colours.ts").read_text())
    assert roles is not None
    assert set(re.findall(r'"(\w+)"', roles[0])) <= set(variables(LIGHT)) & set(variables(DARK))
