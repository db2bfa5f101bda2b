"""The whole model: one picture from the tokens to the next word, which opens into blocks and heads (L3 to L6, L8)."""

import streamlit as st

from tfmviz.ui import beside, compared, guess, lesson, live, sides, whole_model
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    if ctx_b := beside.other(ctx, beside.WITHOUT_HEADS):
        both = sides.of(ctx, ctx_b)
        with lesson.where_it_predicts():
            st.markdown(sides.expected(both))
        compared.draw("picture", both, whole_model.picture, across=False)
        sides.show_likeness(both)
    else:
        live.follow(ctx, "whole_model")
        with guess.first("Which word does the model expect in the end?", name="picture"):
            whole_model.picture(ctx)

    tabs(
        "beside",
        ctx,
        Tab("Where the parameters are", whole_model.where_the_numbers_are),
        Tab(
            "Post-norm, pre-norm",
            whole_model.norms,
            "One layer of two models, trained identically. Does the line above the boxes pass through the norm?",
        ),
    )


lesson.page(
    "Follow your sentence through every part of the model. Hover over a token; click a part to open it.",
    draw,
    along=beside.along(beside.WITHOUT_HEADS),
)
