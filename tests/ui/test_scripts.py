"""The scripts of views as files: each is there under the name that is sent for it."""

from __future__ import annotations

import importlib
import re

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.classroom.crowd import together
from tfmviz.ui import scripts
from tfmviz.views.shared import RELAY_JS, VIEWS

SENT = {
    folder.parent.name: importlib.import_module(f"tfmviz.views.{folder.parent.name}").JS
    for folder in sorted(VIEWS.glob("*/view.ts"))
} | {"relay": RELAY_JS}


def answer(name: str) -> Response:
    return together(scripts._answer(Request({"type": "http", "path_params": {"name": name}})))


def pieces_of(name: str) -> set[str]:
    """The names of a piece and of all that it imports, directly or not."""
    found, left = set[str](), {name}
    while left:
        found.add(name := left.pop())
        left |= set(re.findall(r'"\./(\w+\.js)"', bytes(answer(name).body).decode())) - found
    return found


def test_where_nothing_serves_them_the_scripts_themselves_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_served", False)
    assert all(scripts.sent(js) == js for js in SENT.values())


@pytest.mark.parametrize("view", SENT)
def test_the_lines_that_are_sent_fetch_the_script(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_served", True)
    name = scripts.name_of(SENT[view])
    lines = scripts.sent(SENT[view])
    assert f'import(new URL("views/{name}"' in lines
    assert len(lines) < 200
    pieces = {name: answer(name) for name in pieces_of(name)}
    assert all(piece.status_code == 200 for piece in pieces.values())
    assert all("immutable" in piece.headers["cache-control"] for piece in pieces.values())
    assert {piece.headers["content-type"].split(";")[0] for piece in pieces.values()} == {"text/javascript"}
    assert "as default" in bytes(pieces[name].body).decode()


def test_another_script_is_sent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_served", True)
    assert scripts.sent("export default () => {};\n") == "export default () => {};\n"


@pytest.mark.parametrize("name", ["", "view.js", "../split.json", "../app.py", "..%2fapp.py", "0" * 20 + ".js"])
def test_nothing_else_is_served(name: str) -> None:
    assert answer(name).status_code == 404
