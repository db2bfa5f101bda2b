"""Switch it off: what a head, an MLP or a layer is good for (L6, L8)."""

from collections.abc import Callable

from tfmviz.ui import before_after, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.sides import Sides
from tfmviz.ui.switch_off import board, copying, every_part
from tfmviz.ui.switch_off.board import Switches


def draw(here: Lesson) -> None:
    said = board.switchboard(here)

    def shows(part: Callable[[Sides, Switches], object]) -> Callable[[], object]:
        """A tab about both runs; the other tabs need no second one."""
        return lambda: part(board.run(here, said), said)

    lesson.tabs(
        "removed",
        {
            "Next word": (
                "Where the two bars are equal, the part was not needed.",
                shows(board.next_words),
                "Does the model still expect the same word?",
            ),
            "Loss": (
                f"Where a word of {before_after.predicted(here)} surprises the model more, the part was needed.",
                shows(board.losses),
                here.asks("Which word becomes the greatest surprise?"),
            ),
            "What it writes": (
                "What the model writes, intact and changed.",
                shows(board.written),
                "Does the model still write good English?",
            ),
            "Attention": (
                "Which heads attend elsewhere now?",
                shows(board.attention),
                "Which head changes most?",
            ),
            "Every part in turn": (
                f"Each head and each MLP is {'switched off' if said.way.removes else 'changed'} alone.",
                lambda: every_part.damage_map(here, said),
                "Which part does the model need most?",
            ),
            "Do sharp heads matter?": (
                "Each point is a head: sharper to the right, more important higher up.",
                lambda: every_part.look_and_matter(here, said),
                "Does a sharp head matter more?",
            ),
            "Copy from another sentence": (
                "Copy a vector from another sentence's run into yours.",
                lambda: copying.laboratory(here),
                "From which layer onwards is the answer settled?",
            ),
        },
    )


lesson.page(
    "Attention shows where a head looks, not whether it is needed.",
    draw,
)
