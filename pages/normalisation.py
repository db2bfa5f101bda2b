"""Normalisation: which numbers are averaged together, and why transformers normalise each token by itself (L6)."""

from tfmviz.ui import beside, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.normalisation import facts, groups, two


def draw(here: Lesson) -> None:
    if there := beside.other(here, two.OPTIONS):
        two.side_by_side(here, there)
        return

    lesson.tabs(
        "about",
        {
            "Which numbers share a mean?": (
                f"{facts.WHEN[here.model.config.norm.position]} every layer the model normalises. Each frame holds "
                f"numbers that share a mean, before layer {here.choice.layer_index}.",
                lambda: groups.groups(here),
                "What ends up on one scale: rows or columns?",
            ),
            "Add another sentence": (
                "Should another sentence in the batch change yours?",
                lambda: groups.company(here),
                "Which norms change your sentence's vectors?",
            ),
            "Age and tuition": (
                "Without scaling, only large numbers count.",
                facts.scaling,
                "Which two students are most alike?",
            ),
            "γ and β": (
                "What training did to this model's γ and β.",
                lambda: facts.learned(here),
            ),
            "Norm before or after?": (
                "Norm(x + f(x)) as in 2017, or x + f(Norm(x)) as today? Compare the initial gradients.",
                facts.gradients,
                "Which layers have the larger initial gradients?",
            ),
        },
        earlier={
            "Who shares a mean?": ("Which numbers share a mean?", {}),
            "Another sentence joins": ("Add another sentence", {}),
        },
        needs={"Age and tuition": (), "Norm before or after?": ()},
    )


lesson.page(
    "LayerNorm and RMSNorm average over one token's coordinates, BatchNorm over one coordinate of the batch.",
    draw,
    needs=("text", "model", "kind", "layer"),
    along=beside.along(two.OPTIONS),
)
