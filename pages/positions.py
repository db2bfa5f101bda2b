"""Positions: attention cannot tell the order of its words, so it has to be told; three ways to do that (L7)."""

from tfmviz.ui import beside, duel, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.positions import learned, naive, order_blind, pictures, sinusoidal


def draw(here: Lesson) -> None:
    if beside.asks(beside.SCHEMES):
        duel.side_by_side(here, ("sinusoidal", "learned"))
        return

    lesson.tabs(
        "lesson",
        {
            "Order-blind": (
                "",
                lambda: order_blind.order_blind(here),
                "Which vectors change when words move?",
            ),
            "Naive ideas": (
                "",
                lambda: naive.ideas(here),
            ),
            "Sinusoidal": (
                "",
                lambda: sinusoidal.sinusoids_in_parts(here),
                "Is position 4 closer to 7 or to 17?",
            ),
            "Learned": ("", learned.tables, "Which positions were trained least?"),
            "Not only words": (
                "Each patch of 2 × 2 cells takes the place of a word; a [class] token names the digit. Draw one.",
                pictures.digits,
                "Can a model without positions read digits?",
            ),
        },
        needs={"Learned": (), "Not only words": ()},
    )


lesson.page(
    "",
    draw,
    needs=("text",),
    along=beside.along(beside.SCHEMES),
)
