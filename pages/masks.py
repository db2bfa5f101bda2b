"""Masks: which token may attend to which, and the effect of another mask on a trained model (L4, L10)."""

import streamlit as st

from tfmviz.ui import guess, lesson, masks
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.masks import effects, facts
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    board, effect = masks.beside()
    chosen_settings = masks.settings(ctx)
    layers, heads = masks.where(ctx)
    with board:
        above = st.container()
        chosen = masks.laboratory(ctx, chosen_settings)
    with above:
        masks.follow(ctx, chosen, layers, heads)
    sides = effects.both_masks(ctx, masks.edited(ctx, chosen, layers, heads), chosen, layers, heads)

    with effect:
        tabs(
            "effect",
            ctx,
            Tab(
                "Attention",
                lambda _: effects.attention(sides),
                f"Layer {ctx.choice.layer_index}, head {ctx.choice.head}: the remaining keys "
                "share the attention that a masked key would have received.",
                ctx.question("Which keys pick up the attention of the masked ones?", "keys"),
                aliases={"Vectors": {}},
            ),
            Tab("Next word", lambda _: effects.next_words(sides), "", "Does the model still expect the same word?"),
            Tab(
                "Loss",
                lambda _: effects.losses(sides),
                "",
                ctx.question("Which word surprises the model more with your mask?"),
                inputs=("text", "model", "kind"),
            ),
            Tab(
                "Reach",
                lambda ctx: effects.reach(ctx, chosen),
                "Hidden tokens can still arrive through others.",
                "After how many layers does the reach stop growing?",
                inputs=("text", "model", "kind"),
            ),
            Tab("Kinds", lambda ctx: facts.table(ctx, chosen, chosen_settings), aliases={"Which mask is which": {}}),
            Tab("Quiz", lambda ctx: facts.exercises(ctx, chosen_settings), aliases={"Predict, then reveal": {}}),
        )
        with guess.along("verdict"):
            effects.verdict(sides, chosen)


lesson.page(
    "Click a word to hide it; the model reruns with your mask.",
    draw,
)
