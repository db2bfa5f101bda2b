"""The walls: who may import whom. The rule is docs/rooms.toml; these tests name the line that breaks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from scripts import draw_rooms
from scripts.draw_rooms import Room
from tests.house.sources import LESSONS, MODULES, PACKAGE, PAGES, imports, name_of

ROOMS = draw_rooms.read()

WHERE = "see docs/architecture.md, Rooms"


def room_of(path: Path) -> str:
    """The first folder below `tfmviz/`, or the module itself."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def breaches(path: Path, room: Room) -> Iterator[str]:
    """A sentence for each import that this room, or this file of it, may not have."""
    packages = {*room.packages, *room.files.get(path.stem, ())}
    for found in imports(path):
        ours = found.parts[0] == "tfmviz"
        wanted = found.parts[1] if ours else found.parts[0]
        if wanted != room.name and wanted not in (room.rooms if ours else packages):
            yield f"{name_of(path)}:{found.line}: `{room.name}` may not import {wanted}: {WHERE}"


def test_a_room_imports_only_what_it_may() -> None:
    complaints = [
        breach for path in MODULES if room_of(path) in ROOMS for breach in breaches(path, ROOMS[room_of(path)])
    ]
    assert not complaints, "\n".join(complaints)


def test_every_module_lies_in_a_room_of_the_file_and_every_room_exists() -> None:
    rooms = {room_of(path) for path in MODULES}
    new, gone = rooms - ROOMS.keys(), ROOMS.keys() - rooms
    assert not new, f"docs/rooms.toml does not say what may be imported by {', '.join(sorted(new))}; {WHERE}"
    assert not gone, f"docs/rooms.toml names rooms that are gone: {', '.join(sorted(gone))}"


def test_a_room_may_import_only_rooms_above_it(tmp_path: Path) -> None:
    circle = tmp_path / "rooms.toml"
    circle.write_text('[a]\nwhat=""\nrooms=["b"]\npackages=[]\n[b]\nwhat=""\nrooms=["a"]\npackages=[]\n')
    with pytest.raises(ValueError, match="a imports b, which does not stand above it"):
        draw_rooms.read(circle)


def test_the_document_shows_the_rooms_of_the_file() -> None:
    text = draw_rooms.DOCUMENT.read_text(encoding="utf-8")
    up_to_date = draw_rooms.document(text, ROOMS) == text
    assert up_to_date, "docs/architecture.md shows other rooms than docs/rooms.toml: run `make format`."


def test_the_picture_has_an_arrow_for_what_no_other_arrow_says() -> None:
    rooms = {name: Room(name, "", below, ()) for name, below in {"a": (), "b": ("a",), "c": ("a", "b")}.items()}
    assert draw_rooms.picture(rooms).splitlines()[2:-1] == ["    b --> a", "    c --> b"]


def test_forbidden_imports_are_seen_wherever_they_stand(tmp_path: Path) -> None:
    module = tmp_path / "x.py"
    module.write_text(
        "import json\nfrom tfmviz import zoo\nfrom tfmviz.ui.models import load\n\ndef f():\n    import torch.nn\n"
    )
    room = Room("analysis", "", ("zoo",), ("numpy",))
    assert list(breaches(module, room)) == [
        f"x.py:3: `analysis` may not import ui: {WHERE}",
        f"x.py:6: `analysis` may not import torch: {WHERE}",
    ]


# Inside `ui`: the frame lies flat, each page has a folder.

UI = PACKAGE / "ui"
FOLDERS = {path.name for path in UI.iterdir() if (path / "__init__.py").exists()}


def page_folders(path: Path) -> dict[str, int]:
    """The page folders a file imports, and in which line."""
    found = (one for one in imports(path) if one.parts[:2] == ("tfmviz", "ui") and one.parts[2] in FOLDERS)
    return {one.parts[2]: one.line for one in found}


def in_other_folders(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        own = path.parent.name
        for folder, line in page_folders(path).items():
            if folder != own:
                where = f"{name_of(path)}:{line}"
                yield f"{where}: `{own}` may not import the page `{folder}`; what two use belongs to the frame"


def test_a_page_knows_its_own_folder_and_the_frame_knows_none() -> None:
    complaints = list(in_other_folders(sorted(UI.rglob("*.py"))))
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("page", LESSONS, ids=name_of)
def test_a_page_is_built_from_the_frame_and_one_folder(page: Path) -> None:
    others = [f"line {one.line}: {one.path}" for one in imports(page) if one.parts[:2] != ("tfmviz", "ui")]
    others = [other for other in others if not other.endswith(": streamlit")]
    assert not others, f"{name_of(page)} imports more than Streamlit and `tfmviz.ui`: {'; '.join(others)}"
    folders = page_folders(page)
    assert len(folders) == 1, f"{name_of(page)} imports {len(folders)} page folders ({', '.join(folders)}), not one"


def test_no_two_pages_share_a_folder() -> None:
    owners: dict[str, list[str]] = {}
    for page in PAGES:
        for folder in page_folders(page):
            owners.setdefault(folder, []).append(page.name)
    shared = {folder: pages for folder, pages in owners.items() if len(pages) > 1}
    assert not shared, f"what two pages use belongs to the frame: {shared}"
    assert not FOLDERS - owners.keys(), f"no page uses tfmviz/ui/{', '.join(sorted(FOLDERS - owners.keys()))}"
