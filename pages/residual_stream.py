"""The residual stream: vectors that grow, parts that add up, and a prediction that is built layer by layer (L6, L8)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.stream import attribution, lengths, lens, river, twins


def draw(here: Lesson) -> None:
    lesson.tabs(
        "stream",
        {
            "Lengths": (
                "How long is the stream, from the embedding on the left to the end on the right? Each grey line is a "
                "token.",
                lambda: lengths.lengths(here),
                here.asks("Which token's vector becomes the longest?", "queries"),
            ),
            "Logit lens": (
                "What would the model say if it stopped here? Each cell reads the stream out at one stage, as the "
                "model does only at the end. Click a cell for its ten best words.",
                lambda: lens.lens_of(here),
                "After which layer does the model first say its final answer?",
            ),
            "The river": (
                "What did each part of the model add to this token? A row begins where the one above ended, at its "
                "diamond: pieces to the right lead to the token's final vector; paler, dashed pieces lead away from "
                "it.",
                lambda: river.river(here),
                "Which part adds most to this token?",
            ),
            "Who made the word": (
                "A word's score (its logit) is a sum too. Here is what every head and every feed-forward layer (MLP) "
                "added: orange speaks for the word, purple against it.",
                lambda: attribution.attribution(here),
                "Which part speaks most for the word, and which against it?",
            ),
            "Pre-norm, post-norm": (
                "Two models, trained alike, that differ only in the place of their norms. Your sentence runs through "
                "both.",
                lambda: twins.twins(here),
                "In which of the two models do the vectors grow?",
            ),
        },
    )


lesson.page(
    "The residual stream: how a prediction is built",
    "Every token has one vector, its stream. Each layer reads it and adds to it; the last becomes the prediction.",
    draw,
)
