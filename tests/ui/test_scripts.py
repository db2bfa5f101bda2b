"""The scripts of views as files: each is there under the name that is sent for it."""

from __future__ import annotations

import importlib

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.classroom.crowd import together
from tfmviz.ui import scripts
from tfmviz.views.shared import RELAY_JS, VIEWS

SENT = {
    folder.parent.name: importlib.import_module(f"tfmviz.views.{folder.parent.name}").JS
    for folder in sorted(VIEWS.glob("*/view.js"))
} | {"relay": RELAY_JS}


def answer(name: str) -> Response:
    return together(scripts._answer(Request({"type": "http", "path_params": {"name": name}})))


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
    found = answer(name)
    assert bytes(found.body).decode() == SENT[view]
    assert found.headers["content-type"].startswith("text/javascript")
    assert "immutable" in found.headers["cache-control"]


def test_another_script_is_sent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_served", True)
    assert scripts.sent("export default () => {};\n") == "export default () => {};\n"


@pytest.mark.parametrize("name", ["", "view.js", "../app.py", "..%2fapp.py", "0" * 20 + ".js"])
def test_nothing_else_is_served(name: str) -> None:
    assert answer(name).status_code == 404
