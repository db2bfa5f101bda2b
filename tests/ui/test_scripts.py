"""The scripts of views as files: each is there under the name that is sent for it."""

import re

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.classroom.crowd import together
from tfmviz.ui import scripts
from tfmviz.views.shared import VIEWS, script

NAMES = sorted(path.parent.name for path in VIEWS.glob("*/view.ts*"))


def answer(name: str) -> Response:
    return together(scripts._answer(Request({"type": "http", "path_params": {"name": name}})))


def pieces_of(name: str) -> set[str]:
    """The names of a piece and of all that it imports, directly or not."""
    found, left = set[str](), {name}
    while left:
        found.add(name := left.pop())
        left |= set(re.findall(r'"\./(\w+\.js)"', bytes(answer(name).body).decode())) - found
    return found


def test_the_lines_that_are_sent_fetch_the_script_where_it_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_served", True)
    for view in NAMES:
        name, lines = scripts.name_of(view), scripts.sent(view)
        assert f'import(new URL("views/{name}"' in lines, view
        assert len(lines) < 200
        pieces = {name: answer(name) for name in pieces_of(name)}
        for piece in pieces.values():
            assert piece.status_code == 200, view
            assert "immutable" in piece.headers["cache-control"]
            assert piece.headers["content-type"].split(";")[0] == "text/javascript"
        assert "as default" in bytes(pieces[name].body).decode(), view
    monkeypatch.setattr(scripts, "_served", False)
    assert all(scripts.sent(name) == script(f"{name}/view.ts") for name in NAMES)
    for name in ("", "view.js", "../split.json", "../app.py", "..%2fapp.py", "0" * 20 + ".js"):
        assert answer(name).status_code == 404, name


def names(listed: str, side: int) -> set[str]:
    """Of `a as b,c` what stands before (0) or after (-1) `as`."""
    return {part.split(" as ")[side].strip() for part in listed.split(",") if part.strip()}


def test_a_piece_exports_what_others_import_of_it() -> None:
    """Two shared modules that export one name would export none, which only a browser would tell."""
    code = scripts._files()
    exported = {
        piece: set[str]().union(*(names(listed, -1) for listed in re.findall(r"export\s*\{([^}]*)\}", js)))
        for piece, js in code.items()
    }
    imports = [
        (piece, other, names(listed, 0))
        for piece, js in code.items()
        for listed, other in re.findall(r'import\s*\{([^}]*)\}\s*from\s*"\./(\w+\.js)"', js)
    ]
    assert len(imports) > len(NAMES)
    assert [(piece, other, missing) for piece, other, used in imports if (missing := used - exported[other])] == []
