"""Many readers on one server, each with a sentence of their own."""

from tests.browser import Server
from tests.classroom.crowd import Outcome, arrive, enter_at_once, leave, together

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
