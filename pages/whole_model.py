"""The whole model: one picture from the tokens to the next word, which opens into blocks and heads (L3 to L6, L8)."""

from tfmviz.ui import beside, guess, lesson, live
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.whole_model import around, picture, two


def draw(here: Lesson) -> None:
    if there := beside.other(here, beside.WITHOUT_HEADS):
        two.side_by_side(here, there)
    else:
        live.follow(here, "whole_model")
        with guess.first("Which word does the model expect in the end?", name="picture"):
            picture.picture(here)

    lesson.tabs(
        "beside",
        {
            "Where the parameters are": ("", lambda: around.where_the_numbers_are(here)),
            "Post-norm, pre-norm": (
                "One layer of two models, trained identically. Does the line above the boxes pass through the norm?",
                lambda: around.norms(here),
            ),
        },
    )


lesson.page(
    "Follow your sentence through every part of the model. Hover over a token; click a part to open it.",
    draw,
    along=beside.along(beside.WITHOUT_HEADS),
)
