"""What Enter sends: only what the sentence changes."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.browser import Server
from tests.classroom.crowd import together
from tests.classroom.session import Answer, opened


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


@pytest.mark.parametrize("page", ["explorer", "masks"])
def test_title_and_sidebar_are_sent_once(server: Server, page: str) -> None:
    first, entered = together(visited_and_entered(server.address, page))
    assert first.problems == entered.problems == []
    at_first, after_enter = (
        Counter(element.WhichOneof("type") for element in answer.elements) for answer in (first, entered)
    )
    assert at_first["heading"] == at_first["text_area"] == after_enter["text_area"] == 1
    assert first.menus
    assert not entered.menus
    assert {"Model", "Layer", "Head"} <= labels_of(first)
    assert not {"Model", "Layer", "Head"} & labels_of(entered)
    assert after_enter["heading"] == 0


def labels_of(answer: Answer) -> set[str]:
    return {element.selectbox.label or element.slider.label for element in answer.elements}


def test_a_sentence_that_comes_again_refers_to_nothing_that_a_browser_has_thrown_away(server: Server) -> None:
    """Between asking and the answer it reads the end of the run before, and throws away what is too old."""
    assert together(entered_again(server.address)).problems == []
