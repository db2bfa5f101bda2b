"""The feed-forward layer: its effect on each token by itself, neuron by neuron (L6, L8)."""

from tfmviz.ui import compare_menu, feed_forward, lesson
from tfmviz.ui.feed_forward import neurons, with_layer, without
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    tabs(
        "layer_part",
        ctx,
        Tab(
            "One token through it",
            with_layer(feed_forward.through),
            f"Layer {ctx.choice.layer_index} widens the token's vector, applies a function to every value "
            "and narrows it again. Click a value.",
            "How many neurons fire for this token?",
        ),
        Tab(
            "Same at every position",
            with_layer(feed_forward.moved),
            "Move a vector to another position and the layer's output moves with it.",
            "Does the layer write something else if the same vector stands elsewhere?",
        ),
        Tab(
            "Neurons",
            with_layer(neurons.neurons),
            "The neurons that fire most strongly for the highlighted token. Click one.",
            "Which words does the strongest neuron raise?",
            differs=neurons.apart,
        ),
        Tab(
            "Without it",
            without.without,
            "",
            "What does a model expect without these layers?",
            inputs=("text", "model", "kind", "layer", "head"),
        ),
        Tab(
            "Activations",
            with_layer(feed_forward.functions),
            "What the function does to each value. The dots below the curves are this token's neurons.",
            "How many neurons are nearly off for this token?",
        ),
        ctx_b=compare_menu.other(ctx, compare_menu.SENTENCES_AND_HEADS_OFF),
        inputs=("text", "model", "kind", "layer"),
    )
    feed_forward.code()


lesson.page(
    "",
    draw,
    toolbar=compare_menu.toolbar(compare_menu.SENTENCES_AND_HEADS_OFF),
)
