"""Counting words: what a model can do that only knows how often words followed one another (L1)."""

from tfmviz.ui import beside, guess, lesson
from tfmviz.ui.counting import about, chain, choices, gaps, table, two, writing
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    there = beside.other(here, two.OPTIONS, whole=True)
    at = choices.choose(here)
    if there:
        two.side_by_side(at, there.text)
        return

    with guess.first("Which word comes next?", name="table"):
        table.table(at)

    lesson.tabs(
        "counted_in",
        {
            "A whole sentence": (
                "A sentence's probability is a product with one factor per word.",
                lambda: chain.chain(at),
                "Which word surprises the n-gram model most?",
            ),
            "Write with it": (
                "Draw a word, append it, and draw the next.",
                lambda: writing.writing(at),
                "After how many words does it stop making sense?",
            ),
            "Never seen": (
                "The longer the n-grams, the fewer a text contains.",
                lambda: gaps.gaps(at),
                "How many n-grams of new text were never counted?",
            ),
        },
        earlier={"The text": ("A whole sentence", {})},
    )
    about.about(at)


lesson.page(
    "Count which words followed h, the previous n − 1 words. Click a row to see its sentences.",
    draw,
    needs=("text",),
    along=beside.along(two.OPTIONS),
)
