"""The feed-forward layer: what happens to each token alone, and which neurons do it (L6, L8)."""

from tfmviz.ui import beside, lesson
from tfmviz.ui.feed_forward import functions, neurons, through, two, without
from tfmviz.ui.feed_forward.subject import with_layer
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    if there := beside.other(here, two.OPTIONS):
        with_layer(here, lambda subject: two.side_by_side(subject, there))()
        return

    lesson.tabs(
        "layer_part",
        {
            "One token through it": (
                f"Layer {here.choice.layer_index} widens the token's vector, applies a function to every value "
                "and narrows it again. Click a value.",
                with_layer(here, through.through),
                "How many neurons fire for this token?",
            ),
            "Same at every position": (
                "Move a vector to another position and the layer's output moves with it.",
                with_layer(here, through.moved),
                "Does the layer write something else if the same vector stands elsewhere?",
            ),
            "Neurons": (
                "The neurons that fire most strongly for the highlighted token. Click one.",
                with_layer(here, neurons.neurons),
                "Which words does the strongest neuron raise?",
            ),
            "Without it": (
                "",
                lambda: without.without(here),
                "What does a model expect without these layers?",
            ),
            "Activations": (
                "What the function does to each value. The dots below the curves are this token's neurons.",
                with_layer(here, functions.functions),
                "How many neurons are nearly off for this token?",
            ),
        },
        needs={"": ("text", "model", "kind", "layer"), "Without it": ("text", "model", "kind", "layer", "head")},
    )
    through.code()


lesson.page(
    "",
    draw,
    along=beside.along(two.OPTIONS),
)
