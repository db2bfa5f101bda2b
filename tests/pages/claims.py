"""What a step of a lecture claims, tried on the page that opens at the step's address.

`holds` in a lecture's file lists claims. `"A < B"`, with `<`, `>` or `=`, compares two quantities; a number after `=`
is meant to the digits that are written. `"shows x"` asks whether the page shows a text, in words, in what figures hold,
or as they say it to those who cannot see them. Names with spaces stand in quotes. A quantity is one of

    0.4                             a number, or `closed`, which a masked cell is
    said "length {} at"             the number that the page says in place of {}
    attention L5H3 bank pond        the model's own attention from a query to a key, of the kind the address names
    cell FIGURE ROW COLUMN          what a figure or table shows; ROW and COLUMN are titles, or places from 0 on as #3

In attention and in cells, `store#2` is the second "store". A cell of several matrices side by side has the matrix's
title before its row. A chart has ROW for a line or series and COLUMN for a place on its axis; bars have a name alone.
The stages of a head have a matrix's name before its row. `table` is what stands in Markdown or is a plain table.
"""

import json
import re
import shlex
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.app import charts, pictures, views, words
from tests.traces import read_arrays, read_blob
from tfmviz.constants import ATTENTION_KINDS
from tfmviz.record.trace import kind_of
from tfmviz.ui import models
from tfmviz.ui.lecture_steps import Step
from tfmviz.words.labels import of_queries, visible

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
NUMBER = r"[-−+]?\d[\d,]*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?%?"
SIGNS: dict[str, Callable[[float, float], bool]] = {"<": lambda a, b: a < b, ">": lambda a, b: a > b}


def number(text: str) -> float:
    """The first number in a text as pages write them: 1,024, −0.5, 12%, 3.1·10⁻⁴, −∞; a closed cell holds none."""
    if text == "closed":
        return np.nan
    if "∞" in text:
        return -np.inf if "−" in text else np.inf
    found = re.search(NUMBER, text)
    assert found, f"no number in {text!r}"
    digits, *power = found[0].rstrip("%").replace(",", "").split("·10")
    value = float(digits.translate(POWERS)) * 10.0 ** (int(power[0].translate(POWERS)) if power else 0)
    return value / 100 if found[0].endswith("%") else value


def numbers_in(text: str) -> list[float]:
    return [number(found) for found in re.findall(NUMBER, text)]


def told(app: AppTest, pattern: str) -> list[float]:
    """The numbers in the groups of a pattern that the page's words hold."""
    found = re.search(pattern, words(app))
    assert found, f"the page does not say {pattern!r}"
    return list(map(number, found.groups()))


def place(names: Sequence[str], name: str) -> int:
    """Where a name stands: "store#2" is the second "store", "#2" the place 2."""
    if re.fullmatch(r"#\d+", name):
        return int(name[1:])
    found = re.fullmatch(r"(.+)#(\d+)", name)
    name, count = (found[1], int(found[2])) if found else (name, 1)
    at = [n for n, other in enumerate(names) if other.strip() == name]
    assert len(at) >= count, f"no {name!r}, the {count}th, in {list(names)}"
    return at[count - 1]


class Shown:
    """A step's page as its claims read it."""

    def __init__(self, app: AppTest, step: Step) -> None:
        self.app, self.step = app, step

    @cached_property
    def text(self) -> str:
        """Everything that the page says, in words and in figures, without the line of the lecture itself."""
        app = self.app
        more = [str(e.value) for e in [*app.caption, *app.text, *app.code, *app.success]]
        more += [table.value.to_string() for table in app.table]
        more += [said_by(view) for key, view in views(app).items() if key != "walk"]
        for chart in charts(app).values():
            drawn = chart["tables"]
            more += [
                *drawn["summary"]["summary"],
                *(str(word).replace("\n", " ") for word in drawn.get("words", {}).get("word", ())),
                json.dumps(chart["spec"], ensure_ascii=False),
            ]
        return re.sub(r"\*\*|`` ?| ?``|\\(?=[.|()])|\"", "", "\n".join([words(app), *more]))

    def said(self, pattern: str) -> float:
        before, after = map(re.escape, pattern.split("{}"))
        found = re.search(f"{before}({NUMBER}){after}", self.text)
        assert found, f"the page does not say {pattern!r}"
        return number(found[1])

    def attention(self, head: str, query: str, key: str) -> float:
        chosen = self.app.session_state
        trace = models.trace(models.load(str(chosen["model"])), str(chosen["text"]))
        layer, n = map(int, re.fullmatch(r"L(\d+)H(\d+)", head).groups())  # type: ignore[union-attr]
        kind = self.step.choices.get("kind", "")
        sites = [site for site in trace.layers if int(site.split(".")[1]) == layer]
        (site,) = [site for site in sites if ATTENTION_KINDS[kind_of(site)] == kind] if kind else sites
        queries, keys = of_queries(trace, site), [visible(token) for token in trace.axes(site)[1].tokens]
        return float(trace[f"{site}.pattern"][n, place(queries, query), place(keys, key)])

    def cell(self, figure: str, *names: str) -> float:
        if figure in (drawn := pictures(self.app)):
            return of_cells(*drawn[figure], names)
        if figure in (drawn_charts := charts(self.app)):
            return of_chart(drawn_charts[figure]["tables"]["rows"], names)
        if figure == "table" and figure not in views(self.app):
            return self.of_table(*names)
        view = views(self.app)[figure]
        if view.component_name == "tfmviz_steps":
            header, arrays = read_arrays(bytes(view.bytes))
            return float(arrays[names[0]][place(header["queries"], names[1]), place(header["keys"], names[2])])
        table = json.loads(view.json)
        is_bars = view.component_name == "tfmviz_bars"
        rows = table if is_bars else table["rows"]
        row = rows[place([str(row[0]) for row in rows], names[0])]
        return float(row[1]) if is_bars else number(row[place(table["columns"], names[1])])

    def of_table(self, row: str, column: str) -> float:
        tables = [(list(map(str, t.value.columns)), t.value.astype(str).values.tolist()) for t in self.app.table]
        for lines in re.findall(r"(?:^\|.*\|\n?)+", words(self.app), flags=re.MULTILINE):
            head, _, *rest = [[part.strip() for part in line.strip("| ").split("|")] for line in lines.splitlines()]
            tables.append((head, rest))
        for columns, rows in tables:
            if column in columns and row in (names := [str(cells[0]).strip() for cells in rows]):
                return number(rows[names.index(row)][columns.index(column)])
        raise AssertionError(f"no table has {row!r}, {column!r}")

    def quantity(self, parts: Sequence[str]) -> float:
        kind, *rest = parts
        if kind in ("said", "attention", "cell"):
            return float(getattr(self, kind)(*rest))
        assert not rest, f"no quantity: {' '.join(parts)}"
        return number(kind)

    def check(self, claim: str) -> None:
        parts = shlex.split(claim)
        if parts[0] == "shows":
            (asked,) = parts[1:]
            assert asked in self.text, claim
            return
        (at,) = [n for n, part in enumerate(parts) if part in {*SIGNS, "="}]
        left, right = self.quantity(parts[:at]), self.quantity(parts[at + 1 :])
        same = np.isclose(left, right, rtol=0, atol=to_digits(parts[at + 1 :]), equal_nan=True)
        assert same if parts[at] == "=" else SIGNS[parts[at]](left, right), f"{claim}: {left} and {right}"


def said_by(view: Any) -> str:
    """The data of a view as text, without its arrays."""
    data = read_blob(bytes(view.bytes))[0] if view.bytes else json.loads(view.json)
    return json.dumps(data, ensure_ascii=False)


def to_digits(parts: Sequence[str]) -> float:
    """How far from a written number another may be that rounds to it."""
    if len(parts) > 1:
        return 1e-6
    text = parts[0].rstrip("%")
    return 0.5000001 * 10.0 ** -len(text.partition(".")[2]) / (100 if parts[0].endswith("%") else 1)


def of_cells(header: dict[str, Any], values: Any, names: Sequence[str]) -> float:
    """A cell of a picture: the matrix's title first where there are several, then row and column."""
    matrix = place(header["titles"], names[0]) if header["matrices"] > 1 else 0
    at = []
    for axis, name in zip(("rows", "columns"), names[-2:], strict=True):
        titles = header[axis]["names"] or [re.sub(r"^.*?“(.*)”$", r"\1", s) for s in header[axis]["spoken"] or []]
        at.append(place(titles or [str(n) for n in range(header[axis]["count"])], name))
    return float(values[matrix, at[0], at[1]])


def of_chart(rows: dict[str, list[Any]], names: Sequence[str]) -> float:
    """A mark of a chart: of a line or series at a place, or of a name alone."""
    across = next(key for key in ("token", "x", "name", "norm") if key in rows)
    value = next(key for key in ("y", "value") if key in rows)
    by = next((key for key in ("line", "series") if key in rows), None)
    if by is None or len(names) == 1:
        titles = [str(name).split(" ", 1)[-1].strip("“”") for name in rows[across]]
        return float(rows[value][place(titles, names[-1])])
    chosen = [n for n, line in enumerate(rows[by]) if line.split(" ", 1)[1] == names[0]]
    assert chosen, f"no line {names[0]!r} in {sorted(set(rows[by]))}"
    if across == "x" and not names[1].startswith("#"):
        at = min(chosen, key=lambda n: abs(rows["x"][n] - float(names[1])))
        assert abs(rows["x"][at] - float(names[1])) < 1e-6, f"nothing at {names[1]}"
        return float(rows[value][at])
    titles = [str(rows[across][n]).split(" ", 1)[-1].strip("“”") for n in chosen]
    return float(rows[value][chosen[place(titles, names[1])]])
