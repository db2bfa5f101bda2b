"""Every choice has a key of its own: Streamlit keeps the values of choices from page to page by their keys.

With one key for a slider here and a text box there, who went from page to page saw an error in place of a figure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.browser import ROOT
from tfmviz.ui import sides

FRAME = "the frame"

OF_WALKS = ("lecture", "step", "guess")
"""What the address of a lecture's step holds beside the choices."""


def folder_of(page: Path) -> str:
    """The folder in `ui/` with the parts of a page."""
    folders = [
        node.module.split(".")[2]
        for node in ast.walk(ast.parse(page.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tfmviz.ui.")
    ]
    return folders[0] if folders else page.stem


def sources() -> Iterator[tuple[str, Path]]:
    """Whose it is, and the file."""
    for path in (ROOT / "tfmviz" / "ui").rglob("*.py"):
        yield (FRAME if path.parent.name == "ui" else path.parent.name), path
    for path in (ROOT / "pages").glob("*.py"):
        yield folder_of(path), path


def keys(call: ast.Call) -> Iterator[tuple[str, bool]]:
    """The constant keys of a call, and whether they are those of a choice; else they name a figure or a container."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name == "tabs" and isinstance(call.args[0], ast.Constant):
        yield str(call.args[0].value), True
    if name in ("show_view", "show_plain_view", "show_choice") and isinstance(call.args[0], ast.Constant):
        yield str(call.args[0].value), False
    for keyword in call.keywords:
        if keyword.arg == "key" and isinstance(keyword.value, ast.Constant):
            yield str(keyword.value.value), not name.startswith(("show", "container", "expander"))


def test_no_choice_shares_its_key_with_another_page() -> None:
    owners: dict[str, set[str]] = {}
    choices: set[str] = set()
    for owner, path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for key, is_choice in keys(node) if isinstance(node, ast.Call) else ():
                owners.setdefault(key, set()).add(owner)
                choices |= {key} if is_choice else set()
    assert len(choices) > 150, "the choices are not found any more"
    shared = {key: sorted(pages) for key, pages in owners.items() if key in choices and len(pages) > 1}
    assert not shared, f"give each page a key of its own: {shared}"
    assert choices.isdisjoint(OF_WALKS), "these names belong to the steps of lectures"


def beginnings(call: ast.Call) -> Iterator[str]:
    """How the keys of a call begin, those that are put together too."""
    yield from (key for key, _ in keys(call))
    for keyword in call.keywords:
        if keyword.arg == "key" and isinstance(keyword.value, ast.JoinedStr):
            yield ast.unparse(keyword.value).removeprefix("f")[1:].partition("{")[0]


def test_every_key_that_a_style_or_a_script_names_is_given_to_something() -> None:
    calls = [
        node for _, path in sources() for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
    ]
    given = {key for call in calls for key in beginnings(call)} | {*sides.KEYS}
    files = [path for path in (ROOT / "tfmviz").rglob("*.*") if path.suffix in (".css", ".ts")]
    named = {key for path in files for key in re.findall(r"st-key-(\w+)", path.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert not {key for key in named if not any(one.startswith(key) for one in given)}
