"""Positions: attention cannot tell the order of its words, so it has to be told; three ways to do that (L7)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.positions import learned, naive, order_blind, sinusoidal


def draw(here: Lesson) -> None:
    lesson.tabs(
        "lesson",
        {
            "Order-blind": (
                "Attention is a sum over all keys, and a sum has no order. Move the words: which of two models "
                "notices?",
                lambda: order_blind.order_blind(here),
                "Which words' vectors change when the words move?",
            ),
            "Naive ideas": (
                "So every word must be told where it stands. Three ideas come to mind first; each fails in its own "
                "way.",
                lambda: naive.ideas(here),
            ),
            "Sinusoidal": (
                "",
                lambda: sinusoidal.sinusoids_in_parts(here),
                "Is position 4 closer to position 7 or to position 17?",
            ),
            "Learned": ("", learned.tables, "Which positions are trained worst?"),
        },
    )


lesson.page(
    "Positions: who stands where",
    "",
    draw,
    uses="model",
)
