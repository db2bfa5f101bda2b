"""The whole model: one picture from the tokens to the next word, which opens into blocks and heads (L3 to L6, L8)."""

import streamlit as st

from tfmviz.ui import compare_menu, comparison, guess, head_comparison, lesson, live, whole_model
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    if ctx_b := compare_menu.other(ctx, compare_menu.WITHOUT_HEADS):
        both = head_comparison.compare(ctx, ctx_b)
        with lesson.where_it_predicts():
            st.markdown(head_comparison.expected(both))
        comparison.draw("picture", both, whole_model.picture, across=False)
        head_comparison.show_likeness(both)
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
    toolbar=compare_menu.toolbar(compare_menu.WITHOUT_HEADS),
)
