"""Counting words: what a model can do that only knows how often words followed one another (L1)."""

from tfmviz.ui import guess, lesson
from tfmviz.ui.counting import about, chain, choices, gaps, table, writing
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    at = choices.choose(here)
    with guess.first("Which word comes next?", name="table"):
        table.table(at)

    lesson.tabs(
        "counted_in",
        {
            "A whole sentence": (
                "The chain rule makes a sentence's probability a product: one factor for every word, given the words "
                "before it. Which words surprise counting, and which a transformer?",
                lambda: chain.chain(at),
                "Which word of the sentence surprises counting most?",
            ),
            "Write with it": (
                "Draw a word, add it to the sentence, and draw the next. How long does it make sense?",
                lambda: writing.writing(at),
                "After how many words does it stop making sense?",
            ),
            "Never seen": (
                "The longer the n-grams, the fewer of them a text contains. What does that cost?",
                lambda: gaps.gaps(at),
                "How many of a new text's n-grams were never counted?",
            ),
            "The text": ("", lambda: about.about(at)),
        },
    )


lesson.page(
    "Counting words",
    "Which word comes next? Count how often h, the last n − 1 words, occurs in a text, and how often each word w "
    "follows it. Click a row to see the sentences that it was counted in.",
    draw,
    uses="nothing",
)
