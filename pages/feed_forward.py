"""The feed-forward layer: what happens to each token alone, and which neurons do it (L6, L8)."""

from tfmviz.ui import lesson
from tfmviz.ui.feed_forward import functions, neurons, through, without
from tfmviz.ui.feed_forward.subject import with_layer
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    lesson.tabs(
        "layer_part",
        {
            "One token through it": (
                f"The feed-forward layer of layer {here.choice.layer_index} makes the token's vector wider, applies a "
                "function to every number and makes it narrow again. Click any number to see where it comes from.",
                with_layer(here, through.through),
                "How many of the layer's neurons fire for this token?",
            ),
            "Same at every position": (
                "Take one vector of the layer's input to another position: what the layer writes for it moves along "
                "and stays the same.",
                with_layer(here, through.moved),
                "The same vector at another position: does the layer write something else?",
            ),
            "Neurons": (
                "The neurons that fire most on the framed token, and what they do on the others. Click one to see "
                "what it writes and when it fires.",
                with_layer(here, neurons.neurons),
                "Which words does the neuron that fires most make more probable?",
            ),
            "Without it": (
                "",
                lambda: without.without(here),
                "What does a model expect without its feed-forward layers?",
            ),
            "Activations": (
                "What the function between the two matrices does to each number; the dots are this token's neurons.",
                with_layer(here, functions.functions),
                "How many neurons are nearly off for this token?",
            ),
        },
    )
    through.code()


lesson.page(
    "Feed-forward: each token on its own",
    "",
    draw,
)
