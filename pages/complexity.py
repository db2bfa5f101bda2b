"""Complexity: what a layer costs on paper, what it costs here, and where a model's multiplications go (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.complexity import measured, parts, table
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    lesson.tabs(
        "cost",
        {
            "The table": (
                "Four kinds of layers, each of which lets tokens learn of one another. Move the sizes, and choose a "
                "row to see where its entries come from.",
                table.table,
                "Your text gets twice as long. What happens to each row?",
            ),
            "Measured": (
                "Does a layer grow as the table says? Both charts have logarithmic axes, where a power of n is a "
                "straight line and its exponent is the slope.",
                measured.layers,
                "Which layer will be the slowest at 4,096 tokens, and which at 64?",
            ),
            "Where they go": (
                "What the chosen model multiplies to read your sentence, part by part; then the same for longer texts.",
                lambda: parts.model(here),
                "Which part of the model multiplies most: attention, the feed-forward layers or the vocabulary?",
            ),
        },
    )


lesson.page(
    "Complexity: what it costs",
    "How many multiplications, how many steps that wait for one another, and how far news must travel.",
    draw,
    uses="model",
)
