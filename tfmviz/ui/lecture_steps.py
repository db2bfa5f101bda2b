"""Walks through the app for a lecture: files that list addresses, each with speaker notes.

`assets/lectures/L3.toml` is the walk "L3". An address inside a walk ends in `lecture=L3&step=store`. A step keeps its
name when it moves, within a lecture or into another. Addresses once held its number; `numbers.json` knows those.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from tfmviz.paths import PROJECT
from tfmviz.ui import controls, icons, projector, url
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.router import PAGES, address
from tfmviz.words import markdown

FOLDER = PROJECT / "assets" / "lectures"

MINUTES = 1.75
"""Of a step in front of a class."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of a walk.

    Attributes:
        id: its name in addresses, for good, and unique among all walks; its number in a file that names none.
        section: the part of the walk that it belongs to; "" before the first.
        choices: of the page's address: text, model, layer, head, an open tab …
        say: the speaker notes.
        show: the key of the figure in question and a part of it: the names of a cell, a row, a column, a mark or words
            in it, as `tfmvizWhere` finds them. Empty: the open tab. It is not part of the address.
        holds: the condition for `say` to be true; read by `tests/pages/claims.py` only.
    """

    id: str
    section: str
    page: str
    choices: dict[str, str]
    say: str
    show: tuple[str, ...]
    holds: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lecture:
    name: str
    title: str
    steps: tuple[Step, ...]

    @property
    def minutes(self) -> int:
        return round(MINUTES * len(self.steps))

    def address(self, number: int) -> str:
        """The address of a step, counted from 1, relative to any page; on a projector it stays on the projector."""
        step = self.steps[number - 1]
        parts = step.choices | {"lecture": self.name, "step": step.id}
        parts |= {"projector": "1"} if projector.is_on() else {}
        return address(step.page, parts)


def read_lecture(path: Path) -> Lecture:
    """The walk in a file.

    Raises:
        ValueError: the file does not contain a walk; gives the reason in a sentence.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        section, steps = "", []
        for n, entry in enumerate(found["steps"], start=1):
            section = str(entry.get("section", section))
            steps.append(_step(entry | {"section": section}, n))
        walk = Lecture(name=path.stem, title=str(found["title"]), steps=tuple(steps))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is not a walk: {type(error).__name__}, {error}.") from error
    if not steps:
        raise ValueError(f"{path.name} has no steps.")
    return walk


def _step(entry: dict[str, object], number: int) -> Step:
    name = str(entry.pop("id", number))
    section, page, say = (str(entry.pop(key)) for key in ("section", "page", "say"))
    if page not in {known.name for known in PAGES}:
        raise ValueError(f"there is no page {page}")
    holds = entry.pop("holds", [])
    if not isinstance(holds, list):
        raise ValueError(f"what holds on {page} is no list")
    show = tuple(shlex.split(str(entry.pop("show", ""))))
    choices = {key: str(value) for key, value in entry.items()}
    return Step(id=name, section=section, page=page, choices=choices, say=say, show=show, holds=tuple(map(str, holds)))


@cache
def walks() -> tuple[dict[str, Lecture], tuple[str, ...]]:
    """Walks by their names, and a sentence about each invalid file. Files are read once."""
    found, problems = {}, []
    for path in sorted(FOLDER.glob("*.toml"), key=lambda path: [int(n) for n in re.findall(r"\d+", path.stem)]):
        try:
            found[path.stem] = read_lecture(path)
        except ValueError as error:
            problems.append(str(error))
    return found, tuple(problems)


def find(lecture: str, step: str) -> tuple[Lecture, int] | None:
    """The walk and the number of the step, counted from 1; None if there is no such lecture.

    Args:
        lecture: the one in the address. The step may have moved into another since.
        step: its name, or a present or former number; anything else is the first.
    """
    found, _ = walks()
    at = {one.id: (walk, n) for walk in found.values() for n, one in enumerate(walk.steps, start=1)}
    if step in at and not step.isdecimal():
        return at[step]
    if lecture in (numbers := _numbers()):
        return at[numbers[lecture][(controls.nearest_index(step, len(numbers[lecture]) + 1) or 1) - 1]]
    walk = found.get(lecture)
    return (walk, controls.nearest_index(step, len(walk.steps) + 1) or 1) if walk else None


@cache
def _numbers() -> dict[str, list[str]]:
    """Names by lecture and number, as in old addresses."""
    return json.loads((FOLDER / "numbers.json").read_text(encoding="utf-8"))


def show_step() -> None:
    """Inside a walk: the notes, and the links to the neighbouring steps, at the lower edge of the window."""
    if not url.has("lecture"):
        return
    name = url.text("lecture")
    found = find(name, url.text("step"))
    if found is None:
        st.info(f"There is no lecture {markdown.code(name)}. The menu lists all.", icon=icons.INFO)
        return
    walk, number = found
    with st.container(key="lecture"):
        show_plain_view("walk", data=_around(walk, number))


def present() -> None:
    """Replaces the page by the presenter's with `presenter=1`: another window of this browser sends its content
    (`views/walk/pair.ts`).
    """
    show_plain_view("presenter", data=None)


def _around(walk: Lecture, number: int) -> dict[str, str | int | list[str]]:
    last = len(walk.steps)
    return {
        "step": walk.steps[number - 1].id,
        "chosen": " ".join(walk.steps[number - 1].choices),
        "title": walk.title,
        "section": walk.steps[number - 1].section,
        "minutes": walk.minutes,
        "place": f"{number} of {last}",
        "say": walk.steps[number - 1].say,
        "next": walk.steps[number].say if number < last else "",
        "show": list(walk.steps[number - 1].show),
        "back": walk.address(number - 1) if number > 1 else "",
        "on": walk.address(number + 1) if number < last else "",
        "all": "./lectures",
    }
