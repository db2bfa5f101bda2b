"""Every walk of a lecture can be read; each of its steps is a page with an open tab, and true of what it shows."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, open_page, pictures, sent, views, words
from tests.pages.claims import Shown, number
from tests.pages.tabs import UI, WITHIN, rows
from tfmviz.paths import PROJECT
from tfmviz.ui import lecture_steps
from tfmviz.ui.lecture_steps import Step

FILES = sorted(lecture_steps.FOLDER.glob("*.toml"))
STEPS = [
    (path.stem, n, step) for path in FILES for n, step in enumerate(lecture_steps.read_lecture(path).steps, start=1)
]

TOLD_TO_VIEWS = {"stage", "zoom", "start", "token", "at", "shown"}
"""What pages read from the address themselves and hand to a view in the browser."""

OF_NO_WIDGET = TOLD_TO_VIEWS | {"off", "guess", "taken", "reads"}
"""What the address says without a widget of that name; everything else belongs to one."""


def titles_of(page: str) -> dict[str, list[str]]:
    """The tabs of a page by the name of their row in the address, those within tabs too."""
    inner = [UI / "positions" / path for path in WITHIN.values()] if page == "positions" else []
    files = [PROJECT / "pages" / f"{page}.py", *inner]
    return {key: [title for title, _ in parts] for file in files for key, parts in rows(file)}


def opened(name: str, step: Step) -> AppTest:
    address = step.choices | {"lecture": name, "step": step.id}
    return open_page(step.page, **address)


def test_all_files_are_walks_in_order_whose_steps_name_a_figure_and_one_that_is_none_says_so(tmp_path: Path) -> None:
    found, problems = lecture_steps.walks()
    assert problems == ()
    assert list(found) == [f"L{n}" for n in sorted(int(name[1:]) for name in found)]
    assert {f"L{n}" for n in range(3, 9)} <= set(found) == {path.stem for path in FILES}
    assert [name for name, walk in found.items() if not walk.title.startswith(name)] == []
    said = [step.say for _, _, step in STEPS]
    assert [say for say in said if not 10 <= len(say) <= 110] == [], "one line, please"
    assert [(name, n) for name, n, step in STEPS if not step.show] == []
    assert [(name, n) for name, n, _ in STEPS if "show=" in lecture_steps.walks()[0][name].address(n)] == []
    path, empty = tmp_path / "L0.toml", 'title = "x"\n'
    nowhere = '[[steps]]\npage = "nowhere"\nsay = "x"'
    for text in ("title = 3", "[[steps]]", f"{empty}steps = []", empty + nowhere, "= ="):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"L0\.toml"):
            lecture_steps.read_lecture(path)


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_every_step_is_a_page_and_a_tab_that_show_what_it_says(name: str) -> None:
    wrong = {}
    for n, step in [(n, step) for lecture, n, step in STEPS if lecture == name]:
        try:
            check(name, n, step)
        except AssertionError as error:
            wrong[n] = str(error)
    assert wrong == {}


def check(name: str, number: int, step: Step) -> None:
    rows_of_tabs = titles_of(step.page)
    for key, value in step.choices.items():
        assert key not in rows_of_tabs or value in rows_of_tabs[key], f"{step.page} has no tab {value}"
    app = opened(name, step)
    assert not app.error
    for key in step.choices.keys() - OF_NO_WIDGET:
        assert key in app.session_state, f"nothing on {step.page} reads {key}"
        assert str(app.session_state[key]) == step.choices[key]
    drawn = set(views(app)) - {"walk"} | set(charts(app))
    assert drawn or app.table or app.code or app.get("plotly_chart")
    assert "is unavailable" not in words(app)
    assert step.holds, "a step says what must hold there"
    shown = Shown(app, step)
    if "with" in step.choices and "token" in step.choices:  # no view is told, its row is framed
        assert str(pictures(app)["side_a"][0]["frames"][0]["top"]) == step.choices["token"]
    told = TOLD_TO_VIEWS if "with" not in step.choices else set()
    if "chosen_token" in app.session_state:  # a menu of this page has it
        chosen = str(app.session_state["chosen_token"])
        assert chosen == step.choices.get("token", chosen)
        told = told - {"token"}
    for key in told & set(step.choices):
        assert f"{key}: {step.choices[key]}" in shown.text, f"the page does not open at this {key}"
    for claim in step.holds:
        shown.check(claim)


def test_every_stage_that_a_step_names_exists() -> None:
    """An unknown one would be shown as the first."""
    source = (PROJECT / "tfmviz" / "views" / "steps" / "stages.ts").read_text(encoding="utf-8")
    named = {step.choices["stage"] for _, _, step in STEPS if "stage" in step.choices}
    assert named <= set(re.findall(r'^    id: "(\w+)"', source, flags=re.MULTILINE))


def test_a_false_claim_is_found_and_a_number_read_as_pages_write_it() -> None:
    step = lecture_steps.walks()[0]["L4"].steps[0]
    shown = Shown(opened("L4", step), step)
    for claim in (
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
    ):
        with pytest.raises(AssertionError):
            shown.check(claim)
    written = {"1,024 of them": 1024, "−0.5": -0.5, "12%": 0.12, "−3.1·10⁻⁴": -3.1e-4, "−∞": -np.inf}
    assert {text: number(text) for text in written} == pytest.approx(written)


def test_a_step_shows_its_line_and_the_ways_back_and_on() -> None:
    walk = lecture_steps.walks()[0]["L3"]
    last = len(walk.steps)
    for n in (1, 2, last):
        shown, step = sent(opened("L3", walk.steps[n - 1]), "walk"), walk.steps[n - 1]
        assert (shown["title"], shown["say"], shown["place"]) == (walk.title, step.say, f"{n} of {last}")
        assert shown["back"].endswith(f"lecture=L3&step={walk.steps[n - 2].id}" if n > 1 else "")
        assert shown["on"].endswith(f"lecture=L3&step={walk.steps[n].id}" if n < last else "")
        assert (shown["back"] == "", shown["on"] == "") == (n == 1, n == last)
        assert "projector" not in shown["on"]
    assert sent(open_page(lecture="L3", step="1", projector="1"), "walk")["on"].endswith("projector=1")


def test_an_unknown_lecture_is_said_to_be_one_and_an_odd_step_is_the_nearest_that_exists() -> None:
    for name in ("L99", "<script>alert(1)</script>", "../../etc/passwd", "`x`", "老王", "x" * 5000):
        app = open_page(lecture=name, step="1")
        assert "There is no lecture" in app.info[0].value, name
        assert "walk" not in views(app), name
    assert "walk" not in views(open_page()), "outside a lecture there is no line"
    last = len(lecture_steps.walks()[0]["L3"].steps)
    nearest = {"0": 1, "-3": 1, "999": last, "x": 1, "": 1, "nan": 1, "2.6": 3}
    places = {step: sent(open_page(lecture="L3", step=step), "walk")["place"] for step in nearest}
    assert places == {step: f"{n} of {last}" for step, n in nearest.items()}


def test_a_step_has_a_name_of_its_own_and_an_old_number_opens_what_it_did() -> None:
    ids = [step.id for _, _, step in STEPS]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)] == []
    for lecture, names in json.loads((lecture_steps.FOLDER / "numbers.json").read_text(encoding="utf-8")).items():
        for n, name in enumerate(names, start=1):
            for said in (str(n), name):
                walk, at = lecture_steps.find(lecture, said) or pytest.fail(f"{lecture} has no step {said}")
                assert walk.steps[at - 1].id == name


def test_the_page_lists_every_step_as_a_link_and_a_sign_leads_to_its_own_page() -> None:
    ((_, listed),) = json.loads(sent(open_page("lectures"), "lectures")["groups"])
    assert [lecture["title"] for lecture in listed] == [walk.title for walk in lecture_steps.walks()[0].values()]
    folded = [one for lecture in listed for one in lecture["folded"]]
    links = {(say, address.split("lecture=")[1]) for _, steps in folded for say, address in steps}
    assert links == {(step.say, f"{name}&step={step.id}") for name, _, step in STEPS}
    assert [section for section, _ in folded if not section] == []
    signs = [(page, address) for lecture in listed for page, (_, address) in lecture["shows"]]
    assert signs
    assert [sign for sign in signs if not sign[1].startswith(f"./{sign[0]}?")] == []
