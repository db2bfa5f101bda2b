"""The page on training in a browser: a run is started, watched, paused, resumed and stopped."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.asking import wait_until
from tests.browser import Server, Visit, choose, press, violations
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import all_of
from tfmviz.runs.manager import RunManager

STARTING = 600_000
"""Milliseconds that a process may take to import torch and to do its first update, on a machine that is busy."""

AT_A_STEP = """(chart) => [0, 1, 2].every(
    (panel) => chart.querySelectorAll(`.steps_${panel}_marks [opacity="1"]`).length === 1)"""
"""One step is marked in each of three panels."""


@pytest.fixture
def runs() -> Iterator[RunManager]:
    """The runs of the server; none of them goes on after the test."""
    desk = RunManager(Path(os.environ["TFMVIZ_RUNS"]), at_once=0)
    yield desk
    for folder in all_of(desk.root):
        desk.stop(folder.address)


def test_a_run_is_started_watched_paused_resumed_and_stopped(visit: Visit, runs: RunManager) -> None:
    settings = {"learned": "Train one", "train_task": "copy", "train_width": "16", "train_heads": "1"}
    page = visit.open(f"/training?{urlencode(settings | {'train_steps': '4000'})}", drawn=".stVegaLiteChart")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page).to_have_url(re.compile("run=[0-9a-f]{16}"))
    going = page.get_by_text(re.compile(r"copy: [\d,]+ of 4,000 updates, .* tokens/s"))
    expect(going).to_be_visible(timeout=STARTING)
    expect(page.locator(".st-key-run_curves .stVegaLiteChart")).to_be_visible()
    expect(page.locator("[role=tabpanel] canvas").first).to_be_visible(timeout=STARTING)

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text(re.compile(r"copy: paused, [\d,]+ of 4,000"))).to_be_visible(timeout=STARTING)
    (folder,) = all_of(runs.root)
    wait_until(lambda: folder.holder() is None, "the paused run lets go of its folder")  # a server's look takes it too
    assert violations(page) == []

    page.get_by_role("slider", name="Snapshot").press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"updates=[\d%C]+"))
    page.reload()
    choose(page, "Peak learning rate", "0.01")
    page.get_by_role("button", name="Resume").click()
    expect(going).to_be_visible(timeout=STARTING)
    expect(page.locator(".st-key-run_curves")).to_contain_text("rate 0.01", timeout=STARTING)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("copy: stopped")).to_be_visible(timeout=STARTING)


def test_two_tabs_follow_one_run_and_it_goes_on_once(context: BrowserContext, server: Server, runs: RunManager) -> None:
    one, two = (Visit(context.new_page(), server) for _ in range(2))
    page = one.open(
        "/training?learned=Train+one&train_task=copy&train_steps=4000&train_layers=3&train_width=128",
        drawn=".st-key-train",
    )
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page).to_have_url(re.compile("run=[0-9a-f]{16}"))
    other = two.open(page.url.removeprefix(server.address), drawn=".stProgress")

    def both_say(state: str) -> None:
        for tab in (page, other):
            expect(tab.get_by_text(re.compile(f"copy: {state}"))).to_be_visible(timeout=STARTING)

    going = r"[\d,]+ of 4,000 updates, .* tokens/s"
    both_say(going)
    press(other, "Stop")
    both_say("stopped")
    press(page, "Resume")
    both_say(going)
    press(page, "Pause")
    both_say("paused")
    for tab in (page, other):  # before either hears of the other
        tab.get_by_role("button", name="Resume").dispatch_event("click")
    both_say(going)
    folder = runs.folder(page.url.partition("run=")[2][:16])
    at_work = [path for path in Path("/proc").glob("[0-9]*/cwd") if path.exists() and path.samefile(folder.path)]
    assert len(at_work) <= 1  # none where there is no such folder: on a Mac
    assert one.complaints == two.complaints == []


def test_a_run_that_waits_begins_though_nobody_opens_a_page(server: Server, runs: RunManager) -> None:
    """As after a server was killed, which this one follows."""
    folder = runs.folder(runs.submit(Choices(task="copy", steps=4000), {}))
    wait_until(lambda: runs.see(folder.address).state == "running", "the run begins")


def test_a_step_under_the_pointer_is_shown_in_all_charts(visit: Visit) -> None:
    page = visit.open("/training?learned=The+shipped+models", drawn=".st-key-shipped_curves svg.marks")
    chart = page.locator(".st-key-shipped_curves .stVegaLiteChart")
    chart.scroll_into_view_if_needed()
    for x in range(480, 640):  # a chart that is drawn anew under a still pointer hears nothing of it
        chart.hover(position={"x": x, "y": 120})
        if page.evaluate(AT_A_STEP, chart.element_handle()):
            return
        page.wait_for_timeout(100)
    raise AssertionError("No step is marked in all three panels.")
