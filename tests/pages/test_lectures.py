"""Every walk of a lecture can be read; each of its steps is a page with an open tab, and true of what it shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, open_page, pictures, views, words
from tests.pages.claims import Shown, number
from tests.pages.tabs import UI, WITHIN, rows
from tfmviz.places import PROJECT
from tfmviz.ui import walks
from tfmviz.ui.walks import Step

FILES = sorted(walks.FOLDER.glob("*.toml"))

STEPS = [(path.stem, n, step) for path in FILES for n, step in enumerate(walks.read(path).steps, start=1)]

TOLD_TO_VIEWS = {"stage", "zoom", "start", "token", "at", "shown"}
"""What pages read from the address themselves and hand to a view in the browser."""

OF_NO_WIDGET = TOLD_TO_VIEWS | {"off", "guess", "taken", "reads"}
"""What the address says without a widget of that name; everything else belongs to one."""


def titles_of(page: str) -> dict[str, list[str]]:
    """The tabs of a page by the name of their row in the address, those within tabs too."""
    found = rows(PROJECT / "pages" / f"{page}.py")
    for path in WITHIN.values() if page == "positions" else ():
        found |= rows(UI / "positions" / path)
    return found


def opened(name: str, number: int, step: Step) -> AppTest:
    address = step.choices | {"lecture": name, "step": str(number)}
    return open_page(step.page, **address)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_a_walk_with_something_to_say_at_each_step(path: Path) -> None:
    walk = walks.read(path)
    assert walk.title.startswith(path.stem)
    for step in walk.steps:
        assert 10 <= len(step.say) <= 110, f"{path.name}: one line, please: {step.say}"


def test_all_files_are_walks_in_the_order_of_the_lectures() -> None:
    found, problems = walks.walks()
    assert problems == ()
    assert [int(name[1:]) for name in found] == sorted(int(name[1:]) for name in found)
    assert {f"L{n}" for n in range(3, 9)} <= set(found)


@pytest.mark.parametrize(("name", "number", "step"), STEPS, ids=[f"{name}-{n}" for name, n, _ in STEPS])
def test_a_step_is_a_page_and_a_tab_that_show_what_it_says(name: str, number: int, step: Step) -> None:
    rows_of_tabs = titles_of(step.page)
    for key, value in step.choices.items():
        if key in rows_of_tabs:
            assert value in rows_of_tabs[key], f"{step.page} has no tab {value}"
    app = opened(name, number, step)
    assert not app.error
    for key, value in step.choices.items():
        if key not in OF_NO_WIDGET:
            assert key in app.session_state, f"nothing on {step.page} reads {key}"
            assert str(app.session_state[key]) == value
    drawn = set(views(app)) - {"walk"} | set(charts(app))
    assert drawn or app.table or app.code or app.get("plotly_chart")
    assert "is unavailable" not in words(app)
    assert step.holds, "a step says what must hold there"
    shown = Shown(app, step)
    if "with" in step.choices and "token" in step.choices:  # no view is told, its row is framed
        assert str(pictures(app)["side_a"][0]["frames"][0]["top"]) == step.choices["token"]
    for key in (TOLD_TO_VIEWS if "with" not in step.choices else set()) & set(step.choices):
        assert f"{key}: {step.choices[key]}" in shown.text, f"the page does not open at this {key}"
    for claim in step.holds:
        shown.check(claim)


def test_every_stage_that_a_step_names_exists() -> None:
    """An unknown one would be shown as the first."""
    source = (PROJECT / "tfmviz" / "views" / "steps" / "stages.ts").read_text(encoding="utf-8")
    named = {step.choices["stage"] for _, _, step in STEPS if "stage" in step.choices}
    assert named <= set(re.findall(r'^    id: "(\w+)"', source, flags=re.MULTILINE))


@pytest.fixture(scope="module")
def a_step() -> Shown:
    step = walks.walks()[0]["L4"].steps[0]
    return Shown(opened("L4", 1, step), step)


@pytest.mark.parametrize(
    "claim",
    [
        "2 < 1",
        "0.5 = 0.6",
        "75% > 0.75",
        'shows "a sentence that is not there"',
        "cell steps mask sat mat = 1",
        "cell steps mask sat nobody = 1",
        "cell steps mask sat The = closed",
        "attention L1H2 sat mat > 0",
        "attention L1H2 sat cat = attention L1H2 sat The",
        'said "a number {} that is not there" > 0',
    ],
)
def test_a_false_claim_is_found(claim: str, a_step: Shown) -> None:
    with pytest.raises(AssertionError):
        a_step.check(claim)


@pytest.mark.parametrize(
    ("text", "value"), [("1,024 of them", 1024), ("−0.5", -0.5), ("12%", 0.12), ("−3.1·10⁻⁴", -3.1e-4), ("−∞", -np.inf)]
)
def test_a_number_is_read_as_pages_write_it(text: str, value: float) -> None:
    assert number(text) == pytest.approx(value)


def line(app: AppTest) -> dict[str, str]:
    """What the line of a walk gets."""
    found: dict[str, str] = json.loads(views(app)["walk"].json)
    return found


def test_a_step_shows_its_line_and_the_ways_back_and_on() -> None:
    walk = walks.walks()[0]["L3"]
    shown = line(opened("L3", 2, walk.steps[1]))
    assert (shown["title"], shown["say"]) == (walk.title, walk.steps[1].say)
    assert shown["place"] == f"2 of {len(walk.steps)}"
    assert shown["back"].endswith("lecture=L3&step=1")
    assert shown["on"].endswith("lecture=L3&step=3")


def test_the_first_step_has_no_way_back_and_the_last_none_on() -> None:
    walk = walks.walks()[0]["L4"]
    last = len(walk.steps)
    assert line(opened("L4", 1, walk.steps[0]))["back"] == ""
    assert line(opened("L4", last, walk.steps[-1]))["on"] == ""


def test_on_a_projector_the_ways_stay_on_the_projector() -> None:
    assert line(open_page(lecture="L3", step="1", projector="1"))["on"].endswith("projector=1")
    assert "projector" not in line(open_page(lecture="L3", step="1"))["on"]


@pytest.mark.parametrize("name", ["L99", "<script>alert(1)</script>", "../../etc/passwd", "`x`", "老王", "x" * 5000])
def test_an_unknown_lecture_is_said_to_be_unknown(name: str) -> None:
    app = open_page(lecture=name, step="1")
    assert "There is no lecture" in app.info[0].value
    assert "walk" not in views(app)


@pytest.mark.parametrize(
    ("step", "shown"), [("0", 1), ("-3", 1), ("999", None), ("x", 1), ("", 1), ("nan", 1), ("2.6", 3)]
)
def test_an_odd_step_is_the_nearest_that_exists(step: str, shown: int | None) -> None:
    last = len(walks.walks()[0]["L3"].steps)
    assert line(open_page(lecture="L3", step=step))["place"] == f"{shown or last} of {last}"


def test_outside_a_lecture_there_is_no_line() -> None:
    assert "walk" not in views(open_page())


def test_the_page_lists_every_step_as_a_link() -> None:
    app = open_page("lectures")
    listed = json.loads(views(app)["lectures"].json)
    assert [lecture["title"] for lecture in listed] == [walk.title for walk in walks.walks()[0].values()]
    links = {tuple(step) for lecture in listed for step in lecture["steps"]}
    assert {say for say, _ in links} == {step.say for _, _, step in STEPS}
    ends = {address.split("lecture=")[1] for _, address in links}
    assert ends == {f"{name}&step={number}" for name, number, _ in STEPS}


@pytest.mark.parametrize(
    "text",
    ["title = 3", "[[steps]]", 'title = "x"\nsteps = []', 'title = "x"\n[[steps]]\npage = "nowhere"\nsay = "x"', "= ="],
)
def test_a_file_that_is_no_walk_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "L0.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"L0\.toml"):
        walks.read(path)
