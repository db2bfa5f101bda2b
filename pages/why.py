"""Why there: a head's score as an exact sum, its paths removed, and what the look writes (L3, L6)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.why import believe, compose, sink, terms, writes


def draw(here: Lesson) -> None:
    lesson.tabs(
        "why",
        {
            "The score as a sum": (
                "Each cell pairs a component that wrote the query with one that wrote the key.",
                lambda: terms.terms(here),
                "Which part made it look there?",
            ),
            "Test it": (
                "Remove one component from this head's input.",
                lambda: believe.believe(here),
                "Will the head still look there?",
            ),
            "What it then writes": (
                "Each row is a token's value, each column a word whose logit it changes directly.",
                lambda: writes.writes(here),
                "Which word becomes more probable?",
            ),
            "Which head reads which": (
                "What one head writes, a later one may read. Orange: more than random heads.",
                lambda: compose.compose(here),
                "Do many heads work in pairs?",
            ),
            "The first token": (
                "Weights sum to 1: a head that finds nothing relevant still has to look somewhere, unless it "
                "has a sink.",
                lambda: sink.sink(here),
                "How much attention goes to the first token?",
            ),
        },
        earlier={"Believe it or not": ("Test it", {})},
        needs={"Which head reads which": ("text", "model", "kind")},
    )


lesson.page("", draw)
