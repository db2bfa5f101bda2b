"""Training: how a loss falls, how heads form on the way, a model trained in front of the class, and one tuned (L9)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.training import duplicates, film, shipped, tuned, watch


def draw(here: Lesson) -> None:
    lesson.tabs(
        "learned",
        {
            "How a head forms": (
                "Two layers read random tokens twice over; only looking back helps. Move the slider.",
                lambda: film.film(here),
                "Will the loss fall evenly or all at once?",
            ),
            "The shipped models": (
                "Training logs of this app's models.",
                shipped.curves,
            ),
            "Duplicates": (
                "Two runs of equal length: one reads every story once, the other a tenth of them ten times.",
                duplicates.duplicates,
                "Which one predicts new stories better?",
            ),
            "Train one": (
                "Half a minute of training is enough to learn to spell words backwards.",
                watch.train,
                "How many updates will it take?",
            ),
            "Fine-tune": (
                "A pre-trained model learns to tell questions from statements.",
                lambda: tuned.tuned(here),
                "How many of a hundred answers are right after 16 examples?",
            ),
        },
        needs={
            "How a head forms": ("text",),
            "The shipped models": ("model",),
            "Train one": (),
            "Fine-tune": ("text",),
            "Duplicates": (),
        },
    )


lesson.page(
    "Weights start at random; with every update the next token becomes less surprising.",
    draw,
    needs=("text", "model"),
)
