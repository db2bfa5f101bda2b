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
                "The longer the vectors, the larger their dot products by chance, until the softmax picks a "
                "single key. Dividing by √d prevents that.",
                lambda: heads.scaling_lab(here),
                "Double d: what happens to the largest attention weight?",
            ),
            "A fuzzy hash table": (
                "A hash table returns one value. Attention matches every key and mixes their values.",
                lambda: heads.lookup(here),
                "How much comes from the best key alone?",
            ),
            "What heads add": (
                "Multiplied by W_O, the heads' outputs simply add up.",
                lambda: heads.contributions(here),
                "Which head adds most for this token?",
            ),
            "Heads or their mean?": (
                "Heads attend to different things; averaging them blurs the picture.",
                lambda: heads.average(here),
                "Is the mean sharper or more even than the heads?",
            ),
            "Find a head": (
                "Every head has a profile: hypotheses formed on some texts and tested on others.",
                lambda: biography.biography(here),
                "In which layers do heads rest on the first token?",
            ),
            "The code": ("", lambda: code.code(here)),
        },
        needs={
            "Why √d?": (),
            "Heads or their mean?": ("text", "model", "kind", "layer"),
            "Find a head": ("text", "model", "kind"),
        },
    )


lesson.page(
    "One head at work. Click any number to see how it was computed.",
    draw,
    along=beside.along(beside.WITH_HEADS),
)
