"""Positions: attention alone cannot see the order of words; three ways to encode it (L7)."""

from tfmviz.ui import compare_menu, lesson, scheme_comparison
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.positions import learned, naive, order_blind, pictures, sinusoidal
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    if compare_menu.is_requested(compare_menu.SCHEMES):
        scheme_comparison.side_by_side(ctx, ("sinusoidal", "learned"))
        return

    tabs(
        "lesson",
        ctx,
        Tab(
            "Order-blind",
            order_blind.order_blind,
            "",
            "Which vectors change when words move?",
        ),
        Tab("Naive ideas", naive.ideas),
        Tab("Sinusoidal", sinusoidal.sinusoids_in_parts, "", "Is position 4 closer to 7 or to 17?"),
        Tab("Learned", learned.tables, "", "Which positions were trained least?", inputs=()),
        Tab(
            "Not only words",
            lambda _: pictures.digits(),
            "Each patch of 2 × 2 cells takes the place of a word; a [class] token names the digit. Draw one.",
            "Can a model without positions read digits?",
            inputs=(),
        ),
    )


lesson.page(
    "",
    draw,
    inputs=("text",),
    toolbar=compare_menu.toolbar(compare_menu.SCHEMES),
)
