"""Normalisation: which numbers are averaged together, and why transformers normalise each token by itself (L6)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.normalisation import facts, groups


def draw(here: Lesson) -> None:
    lesson.tabs(
        "about",
        {
            "Who shares a mean?": (
                f"{facts.WHEN[here.model.config.norm_position]} every layer the model normalises. These are the "
                f"vectors before layer {here.choice.layer_index}; a frame holds numbers that are averaged together.",
                lambda: groups.groups(here),
                "What becomes alike: the rows or the columns?",
            ),
            "Another sentence joins": (
                "Put one more sentence into the batch. Should that change what the model makes of yours?",
                lambda: groups.company(here),
                "Which norms change your sentence's numbers when another sentence joins?",
            ),
            "Age and tuition": (
                "The lecture's example: students by age and tuition. Which two are alike? Without a common scale only "
                "the large numbers count.",
                facts.scaling,
                "Which two students are most alike?",
            ),
            "γ and β": (
                "What training has made of this model's norms: each box shows the numbers of one norm.",
                lambda: facts.learned(here),
            ),
            "Norm before or after?": (
                "Norm(x + f(x)) as in 2017, or x + f(Norm(x)) as in most models since? Two models with random "
                "weights, and how large the gradient of the very first training step is in each layer.",
                facts.gradients,
                "Where are the gradients of the first step larger: in the early or in the late layers?",
            ),
        },
    )


lesson.page(
    "Normalisation: numbers on one scale",
    "A norm averages the numbers of one token (LayerNorm, RMSNorm) or one number over the whole batch (BatchNorm).",
    draw,
)
