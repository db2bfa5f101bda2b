"""Attention step by step: how a head computes its numbers, from the sentence to what a layer writes (L3, L5)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.steps import code, heads, scaling, stages


def draw(here: Lesson) -> None:
    lesson.tabs(
        "part",
        {
            "Stages": ("", lambda: stages.stages(here), here.question),
            "Why √d?": (
                "The more numbers two vectors have, the larger is their product by chance alone. Large scores make the "
                "softmax choose one key, and its gradient vanishes. Dividing by √d undoes that.",
                lambda: scaling.scaling_lab(here),
                "Twice as many numbers in each vector: does the largest share grow or shrink?",
            ),
            "A fuzzy hash table": (
                "A hash table returns the value of the one key that matches. Attention matches every key a little and "
                "returns a mixture of their values.",
                lambda: heads.lookup(here),
                "How much of the result comes from the best key alone?",
            ),
            "What heads add": (
                "To put the heads' results side by side and multiply by W_O is the same as to add up what each head "
                "contributes. How much is that, and which keys are behind it?",
                lambda: heads.contributions(here),
                "Which head adds most for this token, and is the key it looks at most behind it?",
            ),
            "Heads or their mean?": (
                "Why several heads? They can look at different things at once, and their mean would blur these. Rows "
                "are queries, columns keys; masked cells are blank.",
                lambda: heads.average(here),
                "Is the mean of all heads sharper or more even than the heads?",
            ),
            "Find a head": (
                "All heads of all layers, by how much of their attention follows a simple pattern on your sentence.",
                lambda: heads.finder(here),
                "In which layers are the heads that do this?",
            ),
            "The code": ("", lambda: code.code(here)),
        },
    )


lesson.page(
    "Attention, step by step",
    "One head at work on your sentence. Click any cell to see where its number comes from.",
    draw,
)
