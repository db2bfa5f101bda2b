"""Switch it off: the use of a head, an MLP or a layer (L6, L8)."""

from collections.abc import Callable

from tfmviz.ui import before_after, lesson, switch_off
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.switch_off import Switches, copying, every_part
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    switches = switch_off.switchboard(ctx)

    def shows(part: Callable[[HeadComparison, Switches], object]) -> Callable[[PageContext], object]:
        return lambda ctx: part(switch_off.run(ctx, switches), switches)

    tabs(
        "removed",
        ctx,
        Tab(
            "Next word",
            shows(switch_off.next_words),
            "Where the two bars are equal, the part was not needed.",
            "Does the model still expect the same word?",
        ),
        Tab(
            "Loss",
            shows(switch_off.losses),
            f"Where a word of {before_after.predicted(ctx)} surprises the model more, the part was needed.",
            ctx.question("Which word becomes the greatest surprise?"),
        ),
        Tab(
            "What it writes",
            shows(switch_off.written),
            "What the model writes, intact and changed.",
            "Does the model still write good English?",
        ),
        Tab("Attention", shows(switch_off.attention), "Which heads attend elsewhere now?", "Which head changes most?"),
        Tab(
            "Every part in turn",
            lambda ctx: every_part.damage_map(ctx, switches),
            f"Each head and each MLP is {'switched off' if switches.way.removes else 'changed'} alone.",
            "Which part does the model need most?",
        ),
        Tab(
            "Do sharp heads matter?",
            lambda ctx: every_part.look_and_matter(ctx, switches),
            "Each point is a head: sharper to the right, more important higher up.",
            "Does a sharp head matter more?",
        ),
        Tab(
            "Copy from another sentence",
            copying.laboratory,
            "Copy a vector from another sentence's run into yours.",
            "From which layer onwards is the answer settled?",
        ),
    )


lesson.page(
    "Attention shows where a head looks, not whether it is needed.",
    draw,
)
