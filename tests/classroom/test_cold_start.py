"""A class comes in: everyone opens a page on a server that has just started."""

import asyncio
from pathlib import Path

import pytest

from tests.browser import ROOT
from tests.classroom.crowd import TRACEBACK, Outcome, arrive, leave, running, together

PAGES = ["", *sorted({path.stem for path in (ROOT / "pages").glob("*.py")} - {"home"})]
"""Addresses of all pages; home has no name."""

_EIGHTS = [PAGES[first : first + 8] for first in range(0, len(PAGES), 8)]

VISITS = {"-".join(pages): pages * 3 for pages in _EIGHTS} | {"all pages": PAGES * 3}
"""Three visits to each of eight pages at a time, so that pages also meet one another; then all pages at once."""


async def opened_at_once(address: str, pages: list[str]) -> list[Outcome]:
    """What became of one visit to each of these pages, all in the same moment."""
    arrivals = await asyncio.gather(*(arrive([address], page, 1) for page in pages))
    await leave([session for sessions, _ in arrivals for session in sessions])
    return [outcome for _, outcomes in arrivals for outcome in outcomes]


@pytest.mark.parametrize("pages", VISITS.values(), ids=VISITS)
def test_a_page_opens_for_all_who_come_to_a_cold_server_at_once(pages: list[str], tmp_path: Path) -> None:
    """Script threads that import the same package at the same time have seen half of it."""
    with (tmp_path / "log").open("wb") as log, running(ROOT / "app.py", log=log) as server:
        outcomes = together(opened_at_once(server.address, pages))
        written = (tmp_path / "log").read_bytes()  # before it is ended, which may interrupt something
    assert TRACEBACK not in written
    assert [problem for outcome in outcomes for problem in outcome.problems] == []
    answers = [outcome.answer for outcome in outcomes if outcome.answer]
    scripts = [element.bidi_component.js_content for answer in answers for element in answer.elements]
    assert max(map(len, scripts)) < 200, "scripts travel with the answers, see ui/scripts.py"
