"""The recipe: how a transformer is trained (L9)."""

import streamlit as st

from tfmviz.ui import compare_menu, lesson, recipe, url
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.recipe import optimiser, targets
from tfmviz.ui.tabs import Tab, either, tabs


def draw(ctx: PageContext) -> None:
    if url.text("smooth") == "Translators" and "smooth" not in st.session_state:
        url.choose({"smooth": "Calibration"})
    tabs(
        "recipe",
        ctx,
        Tab(
            "Teacher forcing",
            recipe.forcing,
            "The model reads the true text so far and predicts the next token.",
            ctx.question("Where is the model most surprised?"),
        ),
        Tab("Three tasks", recipe.tasks, "One text gives three tasks that need no labels. Dark boxes hide tokens."),
        Tab(
            "Learning rate",
            either(
                "Learning rate",
                "rate",
                {"Schedules": lambda _: optimiser.schedules(), "Warm-up": lambda _: optimiser.warm_up()},
            ),
            "The learning rate first rises, then falls. Is the warm-up needed?",
            "Post-norm or pre-norm, with or without warm-up: which run fails?",
            inputs=(),
            aliases={"Learning rate": {"rate": "Schedules"}, "Warm-up": {"rate": "Warm-up"}},
        ),
        Tab(
            "Adam",
            lambda _: optimiser.going_down(),
            "Paths down a valley that is steep across and shallow along. Move the starting point.",
            inputs=(),
        ),
        Tab(
            "Label smoothing",
            either(
                "Look at", "smooth", {"The target": targets.smoothed, "Calibration": lambda _: targets.calibration()}
            ),
            "Smoothing spreads a share ε of the target over the whole vocabulary.",
            "Is a model that has memorised its text over- or underconfident?",
            aliases={
                "Label smoothing": {"smooth": "The target"},
                "Calibration": {"smooth": "Calibration"},
                "Translators": {"smooth": "Calibration"},
            },
        ),
        Tab("Dropout", optimiser.dropout, "The same text ten times, each time with random activations set to 0."),
        Tab("Gradients", optimiser.gradients, "How strongly does your sentence pull on each layer?"),
        ctx_b=compare_menu.other(ctx, compare_menu.SENTENCES_AND_MODELS),
    )


lesson.page("", draw, inputs=("text", "model"), toolbar=compare_menu.toolbar(compare_menu.SENTENCES_AND_MODELS))
