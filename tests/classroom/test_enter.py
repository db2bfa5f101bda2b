"""What Enter sends: only what the sentence changes."""

from collections import Counter

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
