"""Switch it off: what a head, an MLP or a layer is good for (L6, L8)."""

from tfmviz.ui import before_after, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.switch_off import board, copying, every_part


def draw(here: Lesson) -> None:
    said = board.switchboard(here)
    after = board.run(here, said)

    lesson.tabs(
        "removed",
        {
            "Next word": (
                "The words that one of the two runs finds likely. Where the bars agree, the part was not needed.",
                lambda: board.next_words(here, after, said),
                "Does the model still expect the same word?",
            ),
            "Loss": (
                f"How much each word of {before_after.predicted(here)} surprises the model. Where the surprise grows, "
                "the part was needed.",
                lambda: board.losses(here, after, said),
                here.asks("Which word becomes the greatest surprise?"),
            ),
            "What it writes": (
                "Small changes to single words add up: what the model writes as it is, and with the parts changed.",
                lambda: board.written(here, after, said),
                "Does the model still write good English?",
            ),
            "Every part in turn": (
                f"Every head and every MLP is {'switched off' if said.way.removes else 'changed'} alone, one after the "
                "other. Which cells are orange?",
                lambda: every_part.damage_map(here, said),
                "Which part does the model need most?",
            ),
            "Do sharp heads matter?": (
                "Every point is a head: on the right those that look sharply, on top those the model misses most. If "
                "sharp attention meant importance, the points would lie on a rising line.",
                lambda: every_part.look_and_matter(here, said),
                "Does a head that looks sharply matter more?",
            ),
            "Copy from another sentence": (
                "Copy one vector of another sentence's run into the run of yours: does the answer follow?",
                lambda: copying.laboratory(here),
                "From which layer on is the answer decided?",
            ),
        },
    )


lesson.page(
    "Switch it off: which parts matter?",
    "Attention shows where a head looks, not whether the model needs it. Switch it off and see what gets worse.",
    draw,
)
