"""The explorer: type a sentence and see every head of a small trained model at work on it (L3, L5, L6, L8)."""

import streamlit as st

from tfmviz.ui import compare_menu, comparison, guess, head_comparison, lesson, live
from tfmviz.ui.explorer import panels
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    if ctx_b := compare_menu.other(ctx, compare_menu.WITH_HEADS):
        compare_menu.follow(ctx, ctx_b)
        both = head_comparison.compare(ctx, ctx_b)
        with st.container(key="sides"):
            head_comparison.side_by_side(both)
        ctx, ctx_b = both.about_the_same()
    else:
        lesson.hide("kind", "layer", "head")  # chosen in the picture
        live.follow(ctx, "explorer", "predictions")
        with guess.first(ctx.head_question, name="looks"):
            panels.explorer(ctx)
    with guess.along("predicted"), lesson.where_it_predicts():
        comparison.either("predicted", ctx, ctx_b, panels.predictions_in_short)
    st.markdown(panels.how_it_reads(ctx))

    tabs(
        "view",
        ctx,
        Tab(
            "Predictions",
            panels.predictions,
            f"The ten most probable words at token {ctx.target}.",
            "Which word does the model expect here?",
        ),
        Tab(
            "Residual stream",
            panels.stream_norms,
            "The norm of each token's vector, and what attention and MLP add. Above 100%, the other one pulled the "
            "opposite way.",
            ctx.question("Which token ends up with the longest vector?"),
        ),
        Tab(
            "Export",
            panels.files,
            "“Share” copies a link to exactly this view.",
            aliases={"Take it away": {}},
            alone="The files hold A.",
        ),
        ctx_b=ctx_b,
    )
    panels.code()


lesson.page(
    "Every word asks: *which other words matter to me?* Hover over a word to see where it looks; "
    "click two to find the heads that link them.",
    draw,
    toolbar=compare_menu.toolbar(compare_menu.WITH_HEADS),
)
