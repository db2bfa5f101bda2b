"""Complexity: what a layer costs on paper, what it costs here, and where a model's multiplications go (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.complexity import measured, parts, table
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    tabs(
        "cost",
        ctx,
        Tab(
            "The table",
            lambda _: table.table(),
            "Choose a row to see where it comes from.",
            "The text becomes twice as long. What happens to each row?",
            inputs=(),
        ),
        Tab(
            "Measured",
            lambda _: measured.layers(),
            "Does a layer grow as the table says? Each slope is an exponent.",
            "Which layer is slowest at 4,096 tokens, which at 64?",
            inputs=(),
        ),
        Tab(
            "Where the multiplications go",
            parts.model,
            "The multiplications of the chosen model, part by part.",
            "Which part multiplies most?",
            aliases={"Where they go": {}},
        ),
    )


lesson.page(
    "",
    draw,
    inputs=("text", "model"),
)
