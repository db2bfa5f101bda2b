"""One index of all terms, pages, tabs, models and steps of lectures; only terms are written for it
(`assets/terms.toml`).

A browser fetches it when the box is first opened.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tfmviz import zoo
from tfmviz.paths import PROJECT
from tfmviz.ui import lecture_steps
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.model_names import named
from tfmviz.ui.router import DEFAULT, PAGES, Page, address
from tfmviz.views import lectures

TERMS = PROJECT / "assets" / "terms.toml"

WITHIN = {"Naive ideas": "naive.py", "Sinusoidal": "sinusoidal.py", "Learned": "learned.py"}
"""Tabs of the page on positions that have parts, and the files in `ui/positions` that draw those."""

_served = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """An entry of the index.

    Attributes:
        also: other words for it.
        says: what it answers, in one line.
        place: title of its page.
        address: relative to any page.
    """

    kind: Literal["term", "page", "tab", "model", "step"]
    title: str
    also: str = ""
    says: str
    place: str
    address: str


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab as listed in its page's source.

    Attributes:
        choices: what opens it, in the address.
        question: the one that a class can guess, or else the first sentence of its result; "" if neither is a plain
            text.
    """

    title: str
    choices: dict[str, str]
    question: str


def box() -> None:
    data = {
        "entries": "" if _served else _as_json(),  # a list of records would make Streamlit import pandas
        "at": "find.json",
    }
    show_plain_view("find", data=data)


def route() -> Route:
    global _served
    _served = True
    return Route("/find.json", _answer)


async def _answer(_: Request) -> Response:
    return Response(_as_json(), media_type="application/json", headers={"Cache-Control": "public, max-age=600"})


@cache
def _as_json() -> str:
    return json.dumps([asdict(entry) for entry in entries()], ensure_ascii=False)


@cache
def entries() -> tuple[Entry, ...]:
    """All but the reader's runs."""
    return (*_terms(), *_pages_and_tabs(), *_models(), *_steps())


def tabs(page: Page) -> Iterator[Tab]:
    """Calls of `tabs` in the page's source, and tabs within tabs."""
    for key, tab in _rows(page.file):
        inner = Path(__file__).parent / "positions" / WITHIN.get(tab.title, "")
        if page.name != "positions" or tab.title not in WITHIN:
            yield tab
            continue
        for _, part in _rows(inner):
            yield Tab(part.title, {key: tab.title} | part.choices, part.question)


def contents() -> None:
    groups: dict[str, list[lectures.Entry]] = {}
    for page in PAGES:
        if page.name not in (DEFAULT, "contents"):
            folded = [(tab.title, address(page.name, tab.choices)) for tab in tabs(page)]
            entry: lectures.Entry = {
                "title": page.title,
                "address": address(page.name),
                "says": [page.answers],
                "takes": "",
                "shows": [],
                "folded": [("", folded)] if folded else [],
            }
            groups.setdefault(page.group or "For a class", []).append(entry)
    data = lectures.payload(groups, of="tabs", keeps=True)
    show_plain_view("lectures", data=data, key="tabs")


def _rows(path: Path) -> Iterator[tuple[str, Tab]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tabs", "parts"):
            key = str(ast.literal_eval(node.args[0]))
            for part in node.args[2:]:
                assert isinstance(part, ast.Call)
                title = str(ast.literal_eval(part.args[0]))
                earlier = [ast.literal_eval(word.value) for word in part.keywords if word.arg == "aliases"]
                within = {name: chosen for names in earlier for name, chosen in names.items() if chosen}
                for name, chosen in (within or {title: {}}).items():
                    yield key, Tab(name, {key: title} | chosen, _question_of(part))


def _question_of(tab: ast.Call) -> str:
    *_, words = tab.args[2:] or [ast.Constant("")]
    if isinstance(words, ast.Call):
        words = words.args[0]
    text = words.value if isinstance(words, ast.Constant) else ""
    return text.split(". ")[0].rstrip(".") if isinstance(text, str) else ""


def _terms() -> Iterator[Entry]:
    titles = {page.name: page.title for page in PAGES}
    for term in tomllib.loads(TERMS.read_text(encoding="utf-8"))["terms"]:
        title, also, says, page = (term.pop(key) for key in ("title", "also", "says", "page"))
        yield Entry(kind="term", title=title, also=also, says=says, place=titles[page], address=address(page, term))


def _pages_and_tabs() -> Iterator[Entry]:
    for page in PAGES:
        yield Entry(
            kind="page", title=page.title, also=page.group, says=page.answers, place="", address=address(page.name)
        )
        for tab in tabs(page):
            where = address(page.name, tab.choices)
            yield Entry(kind="tab", title=tab.title, says=tab.question or page.answers, place=page.title, address=where)


def _models() -> Iterator[Entry]:
    for one in named({entry.name: entry.config for entry in zoo.catalogue() if entry.config}):
        where = address("explorer", {"model": one.model})
        also, says = f"model {one.model}", f"{one.line} {one.size}."
        yield Entry(kind="model", title=one.name, also=also, says=says, place="", address=where)


def _steps() -> Iterator[Entry]:
    for walk in lecture_steps.walks()[0].values():
        for n, step in enumerate(walk.steps, start=1):
            place = f"{walk.title}, step {n}"
            where = address(step.page, {**step.choices, "lecture": walk.name, "step": step.id})
            yield Entry(kind="step", title=step.say, says="", place=place, address=where)
