"""Training: how a loss falls, how heads form on the way, and a model trained in front of the class (L9)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.training import film, shipped, train


def draw(here: Lesson) -> None:
    lesson.tabs(
        "learned",
        {
            "How a head forms": (
                "A model of two layers of attention reads random tokens that come twice; only looking back helps. "
                "Move the slider: between 438 and 761 updates stripes appear, and the loss of the second time falls "
                "off a cliff.",
                lambda: film.film(here),
                "Will the loss fall evenly or all at once?",
            ),
            "The shipped models": (
                "The logs of the runs that made the models of this app. Point at a step in one chart to see it in all.",
                shipped.curves,
            ),
            "Train one": (
                "A model of your own, trained now. Choose settings and press Train; half a minute is enough for a word "
                "written backwards. The address finds the run again for a day.",
                train.train,
                "How many updates will it take?",
            ),
        },
    )


lesson.page(
    "Training",
    "Nobody writes the weights. A model starts with random ones, and every update makes the next token a little less "
    "surprising.",
    draw,
    uses="model",
)
