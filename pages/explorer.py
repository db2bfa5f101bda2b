"""The explorer: type a sentence and see what every head of a small trained model does with it (L3, L5, L6, L8)."""

from tfmviz.ui import beside, lesson, live
from tfmviz.ui.explorer import panels
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    if there := beside.other(here, beside.WITH_HEADS):
        beside.follow(here, there)
    else:
        lesson.hide("kind", "layer", "head")  # they are chosen in the picture
        live.follow(here, "explorer", "predictions")
    lesson.tabs(
        "view",
        {
            "Overview": ("", lambda: panels.overview(here, there)),
            "Predictions": (
                f"The ten most probable words at token {here.target}.",
                lambda: panels.predictions(here),
                "Which word does the model expect here?",
            ),
            "Residual stream": (
                "How long each token's vector is, and what attention and MLP add. A share over 100%: the other "
                "part worked against it.",
                lambda: panels.stream_norms(here),
                here.asks("Which token's vector becomes the longest?"),
            ),
            "Take it away": (
                "All heads and what follows from them as files. “Share” above copies a link to what you see.",
                lambda: panels.files(here),
            ),
        },
    )
    panels.code()


lesson.page(
    "Every word asks: *which other words matter to me?* Point at one, or click two.",
    draw,
    along=beside.along(beside.WITH_HEADS),
)
