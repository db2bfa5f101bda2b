"""Training: how a loss falls, how heads form, a model trained in front of the class, and a fine-tuned one (L9)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs
from tfmviz.ui.training import film, shipped, tuned, watch


def draw(ctx: PageContext) -> None:
    tabs(
        "learned",
        ctx,
        Tab(
            "How a head forms",
            film.film,
            "Two layers read random tokens twice over; only looking back helps. Move the slider.",
            "Will the loss fall evenly or all at once?",
            inputs=("text",),
        ),
        Tab("The shipped models", lambda _: shipped.curves(), "Training logs of this app's models.", inputs=("model",)),
        Tab(
            "Duplicates",
            lambda _: shipped.duplicates(),
            "Two runs of equal length: one reads every story once, the other a tenth of them ten times.",
            "Which one predicts new stories better?",
            inputs=(),
        ),
        Tab(
            "Train one",
            lambda _: watch.train(),
            "Half a minute of training is enough.",
            "How many updates will it take?",
            inputs=(),
        ),
        Tab(
            "Fine-tune",
            tuned.tuned,
            "A pre-trained model learns to tell questions from statements.",
            "How many of a hundred answers are right after 16 examples?",
            inputs=("text",),
        ),
    )


lesson.page(
    "Weights start at random; with every update the next token becomes less surprising.",
    draw,
    inputs=("text", "model"),
)
