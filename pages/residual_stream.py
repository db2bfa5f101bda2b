"""The residual stream: vectors that grow, parts that add up, and a prediction that is built layer by layer (L6, L8)."""

from tfmviz.ui import compare_menu, head_comparison, lesson
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.stream import lens, pair, parts, vectors
from tfmviz.ui.tabs import Tab, either, tabs


def draw(ctx: PageContext) -> None:
    tabs(
        "stream",
        ctx,
        Tab(
            "Lengths",
            vectors.lengths,
            "The norm of each token's vector after every sublayer; each grey line is one token.",
            ctx.question("Which token ends up with the longest vector?", "queries"),
            inputs=("text", "model", "kind"),
            differs=head_comparison.show_likeness,
        ),
        Tab(
            "Neighbours",
            vectors.neighbours,
            "Which tokens' vectors are most similar, layer by layer?",
            "Which tokens end close together?",
            inputs=("text", "model", "kind"),
            aliases={"In space": {"drawn_as": "in space"}},
        ),
        Tab(
            "In context",
            vectors.in_context,
            "A word's vector depends on its neighbours: one “bank” or two?",
            "Are the two vectors still similar after the last layer?",
            inputs=("text", "model", "kind"),
        ),
        Tab(
            "Logit lens",
            lens.lens_of,
            "What would the model say if it stopped here? Click a cell.",
            "After which layer does it first say its final answer?",
            inputs=("text", "model"),
            differs=lens.diverge,
        ),
        Tab(
            "The river",
            parts.river,
            "Each row begins where the one above ended. Pale dashed bars move away from the final vector.",
            "Which part adds most to this token?",
            inputs=("text", "model", "kind"),
        ),
        Tab(
            "Who made the word",
            parts.attribution,
            "What each head and MLP added to a word's score (its logit): orange raises it, purple lowers it.",
            "Which part contributes most to the word?",
            inputs=("text", "model", "kind"),
        ),
        Tab(
            "Two designs",
            either(
                "They differ in",
                "designs",
                {"their norms": pair.twins, "residual connections": pair.pair, "their positions": pair.orders},
            ),
            "Two identically trained models differ in one respect.",
            "In which model do the vectors grow?",
            inputs=("text", "layer"),
            aliases={
                "Pre-norm, post-norm": {"designs": "their norms"},
                "With and without": {"designs": "residual connections"},
            },
            alone="This tab compares two designs already.",
        ),
        ctx_b=compare_menu.other(ctx, compare_menu.WITHOUT_HEADS),
    )


lesson.page(
    "Every token has one vector, its stream. Each layer adds to it.",
    draw,
    opens=vectors.opens,
    toolbar=compare_menu.toolbar(compare_menu.WITHOUT_HEADS),
)
