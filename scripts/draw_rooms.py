"""Draws the rooms of `docs/rooms.toml` into `docs/architecture.md`: a picture and a table.

    python -m scripts.draw_rooms

`make format` does it too, and `scripts.lint` complains while the document differs from the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ROOT / "docs" / "rooms.toml"
DOCUMENT = ROOT / "docs" / "architecture.md"

BEGIN = "<!-- rooms: made by `python -m scripts.draw_rooms` from rooms.toml -->"
END = "<!-- rooms: end -->"


@dataclass(frozen=True, slots=True)
class Room:
    """A module or folder directly in `tfmviz/`.

    Attributes:
        what: its content.
        rooms: the rooms it may import besides itself.
        packages: the external packages that it may import.
        files: by the name of a file, the further imports of that file alone.
    """

    name: str
    what: str
    rooms: tuple[str, ...]
    packages: tuple[str, ...]
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read(path: Path = ROOMS) -> dict[str, Room]:
    """The rooms in the order of the file.

    Raises:
        ValueError: a room may import one that does not stand above it.
    """
    rooms: dict[str, Room] = {}
    for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if below := [other for other in entry["rooms"] if other not in rooms]:
            raise ValueError(f"{path.name}: {name} imports {below[0]}, which does not stand above it.")
        rooms[name] = Room(name, entry["what"], tuple(entry["rooms"]), tuple(entry["packages"]), entry.get("files", {}))
    return rooms


def document(text: str, rooms: dict[str, Room]) -> str:
    """The text with picture and table of these rooms between the two markers."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{picture(rooms)}\n\n{table(rooms.values())}\n\n{END}{after}"


def picture(rooms: dict[str, Room]) -> str:
    """A Mermaid flow chart: an arrow from each room to those it may import, unless other arrows lead there too."""
    arrows = [f"    {_node(room.name)} --> {_node(other)}" for room in rooms.values() for other in _direct(room, rooms)]
    return "\n".join(["```mermaid", "flowchart TD", *arrows, "```"])


def table(rooms: Iterable[Room]) -> str:
    """A row for each room; the last column names the rooms and, after a semicolon, the packages."""
    rows = [f"| `{_file(room.name)}` | {room.what} | {_may(room)} |" for room in rooms]
    return "\n".join(["| `tfmviz/…` | what lives here | may import |", "|---|---|---|", *rows])


def _direct(room: Room, rooms: dict[str, Room]) -> list[str]:
    reached = {name for other in room.rooms for name in _all_below(other, rooms)}
    return [name for name in room.rooms if name not in reached]


def _all_below(name: str, rooms: dict[str, Room]) -> set[str]:
    """All that a room can reach, without itself."""
    return {found for other in rooms[name].rooms for found in (other, *_all_below(other, rooms))}


def _node(name: str) -> str:
    """Two underscores have a meaning in Mermaid; such a name stands in quotes."""
    return name if name.isalpha() else f'{name.strip("_")}["{name}"]'


def _file(name: str) -> str:
    return f"{name}/" if (ROOT / "tfmviz" / name).is_dir() else f"{name}.py"


def _may(room: Room) -> str:
    alone = [f"{', '.join(packages)} (only `{file}`)" for file, packages in room.files.items()]
    return "; ".join(filter(None, (", ".join(room.rooms), ", ".join([*room.packages, *alone])))) or "–"


def main() -> None:
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8"), read()), encoding="utf-8")


if __name__ == "__main__":
    main()
