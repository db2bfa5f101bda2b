"""Attention step by step: how a head computes its numbers, from the sentence to what a layer writes (L3, L5)."""

from tfmviz.ui import beside, lesson, live
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.steps import biography, code, heads, stages


def draw(here: Lesson) -> None:
    if there := beside.other(here, beside.WITH_HEADS):
        stages.side_by_side(here, there)
        return

    live.follow(here, "steps")
    lesson.tabs(
        "part",
        {
            "Stages": ("", lambda: stages.stages(here), here.question),
            "Why √d?": (
                "Longer vectors have larger products by chance, and the softmax chooses one key. Dividing by √d "
                "undoes that.",
                lambda: heads.scaling_lab(here),
                "Twice as many numbers: what becomes of the largest share?",
            ),
            "A fuzzy hash table": (
                "A hash table returns one value. Attention matches every key and mixes their values.",
                lambda: heads.lookup(here),
                "How much comes from the best key alone?",
            ),
            "What heads add": (
                "The heads' results times W_O are a sum over heads.",
                lambda: heads.contributions(here),
                "Which head adds most for this token?",
            ),
            "Heads or their mean?": (
                "Heads look at different things; their mean blurs them.",
                lambda: heads.average(here),
                "Is the mean sharper or more even than the heads?",
            ),
            "Find a head": (
                "Every head has a biography: claims about it, made on some texts and tested on others.",
                lambda: biography.biography(here),
                "In which layers do heads rest on the first token?",
            ),
            "The code": ("", lambda: code.code(here)),
        },
        needs={"Why √d?": (), "Heads or their mean?": ("text", "model", "kind", "layer")},
    )


lesson.page(
    "One head at work. Click any cell for its origin.",
    draw,
    along=beside.along(beside.WITH_HEADS),
)
