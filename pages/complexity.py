"""Complexity: what a layer costs on paper, what it costs here, and where a model's multiplications go (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.complexity import measured, parts, table
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    lesson.tabs(
        "cost",
        {
            "The table": (
                "Choose a row to see where it comes from.",
                table.table,
                "The text becomes twice as long. What happens to each row?",
            ),
            "Measured": (
                "Does a layer grow as the table says? Each slope is an exponent.",
                measured.layers,
                "Which layer is slowest at 4,096 tokens, which at 64?",
            ),
            "Where the multiplications go": (
                "The multiplications of the chosen model, part by part.",
                lambda: parts.model(here),
                "Which part multiplies most?",
            ),
        },
        earlier={"Where they go": ("Where the multiplications go", {})},
        needs={"The table": (), "Measured": ()},
    )


lesson.page(
    "",
    draw,
    needs=("text", "model"),
)
