"""A class: everyone opens a page at once, each has a sentence, and Enter sends what the sentence changes."""

import asyncio
from collections import Counter
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.browser import ROOT, Server
from tests.classroom.crowd import TRACEBACK, Outcome, arrive, enter_at_once, leave, running, together
from tests.classroom.session import Answer, opened

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


ODD = (
    ("explorer", {"view": "Take it away", "model": "none", "kind": "none", "layer": "99", "head": "x"}),
    ("explorer", {"model": "french-english", "kind": "none", "layer": "-1", "head": "99", "token": "4000"}),
    ("translating", {"model": "tiny-english", "translation": "The encoder", "layer": "99"}),
    ("recipe", {"model": "none", "smooth": "Translators"}),
)
"""Addresses in which nothing is as it can be."""


async def begun(address: str, page: str, query: dict[str, str]) -> int:
    session, answer = await opened(address, page, urlencode(query))
    await session.close()
    return answer.begun


def test_a_first_visit_begins_anew_once_at_most(server: Server) -> None:
    """Whatever the address asks for: all of it is corrected in one run."""
    runs = [together(begun(server.address, page, query)) for page, query in ODD]
    assert max(runs) == 2, runs  # the second draws what the first has corrected


async def visited_and_entered(address: str, page: str) -> tuple[Answer, Answer]:
    session, first = await opened(address, page)
    entered = await session.enter("The old dog slept by the fire.")
    await session.close()
    return first, entered


async def entered_again(address: str) -> Answer:
    """Two sentences; then a third, and behind it, before its run's end has been read, the first again."""
    session, _ = await opened(address)
    again = "The bird sings in the old tree by the pond, and the children hear it from the garden. " * 2
    for text in (again, "The fish swims."):
        await session.enter(text)
    answer = await session.hurry("The fire burns.", again)
    await session.close()
    return answer


def test_header_and_choices_are_sent_once(server: Server) -> None:
    for page in ("explorer", "masks"):
        first, entered = answers = together(visited_and_entered(server.address, page))
        assert first.problems == entered.problems == []
        before, after = (
            Counter(part.bidi_component.component_name or part.WhichOneof("type") for part in one.elements)
            for one in answers
        )
        sent = (before["tfmviz_frame"], before["text_area"], after["tfmviz_frame"], after["text_area"])
        assert sent == (1, 1, 0, 1)
        assert first.menus
        assert not entered.menus
        labels = [{one.selectbox.label or one.number_input.label for one in answer.elements} for answer in answers]
        assert {"Model", "Layer", "Head"} <= labels[0] - labels[1]


def test_a_sentence_that_comes_again_refers_to_nothing_that_a_browser_has_thrown_away(server: Server) -> None:
    """Between asking and the answer it reads the end of the run before, and throws away what is too old."""
    assert together(entered_again(server.address)).problems == []


SENTENCES = [f"The {number} cats sat on mat {number * number}." for number in range(3, 53)]


async def entered_twice(address: str) -> tuple[list[Outcome], list[Outcome]]:
    """Each session sends its sentence; then each sends the sentence that its neighbour has sent."""
    sessions, arrivals = await arrive([address], "explorer", len(SENTENCES))
    assert [problem for outcome in arrivals for problem in outcome.problems] == []
    own = await enter_at_once(sessions, SENTENCES)
    neighbours = await enter_at_once(sessions, [*SENTENCES[1:], SENTENCES[0]])
    await leave(sessions)
    return own, neighbours


def test_everyone_gets_the_attention_of_their_own_sentence(server: Server) -> None:
    own, neighbours = together(entered_twice(server.address))
    for outcomes, sentences in ((own, SENTENCES), (neighbours, [*SENTENCES[1:], SENTENCES[0]])):
        assert [outcome.answer and outcome.answer.explored for outcome in outcomes] == sentences
        assert [problem for outcome in outcomes for problem in outcome.problems] == []
