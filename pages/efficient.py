"""Efficient attention: cheaper ways to attend, on your text, and their cost (L10)."""

from tfmviz.ui import compare_menu, lesson
from tfmviz.ui.efficient import approximate, same_numbers, together, trained, without_sinks
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, either, tabs


def draw(ctx: PageContext) -> None:
    ctx_b = without_sinks(compare_menu.other(ctx, compare_menu.SENTENCES_AND_MODELS))
    if not (shown := without_sinks(ctx)):
        return

    tabs(
        "method",
        shown,
        Tab(
            "Few pairs",
            either("Keep", "few", {"Sparse": approximate.sparse_masks, "Reformer": approximate.hashed}),
            "",
            "How much of this head's attention lies within three tokens?",
            aliases={"Sparse": {"few": "Sparse"}, "Reformer": {"few": "Reformer"}},
        ),
        Tab(
            "Linformer",
            approximate.projected,
            "Keys and values are mixed into k rows, so the pattern has k columns instead of n.",
        ),
        Tab(
            "Running sums",
            either(
                "Sum",
                "sums",
                {
                    "Linear": approximate.linear,
                    "Performer": approximate.performer,
                    "State space": same_numbers.state,
                    "Trained state space": trained.trained,
                },
            ),
            "Sums over the past replace the pairs, so generation needs no growing cache.",
            "What happens to a sharp head without the exponential?",
            aliases={
                "Linear": {"sums": "Linear"},
                "Performer": {"sums": "Performer"},
                "State space": {"sums": "State space"},
                "Trained state space": {"sums": "Trained state space"},
            },
        ),
        Tab("Tiles", same_numbers.tiled),
        Tab("Shared heads", same_numbers.shared_heads, "Heads that share keys and values need a smaller cache."),
        Tab(
            "Trained with it",
            trained.twins,
            "",
            "Will a model whose layers see only eight tokens predict much worse?",
            inputs=("text",),
        ),
        Tab(
            "All of them",
            either("Compare", "compared", {"On your text": together.table, "Measured": together.times}),
            "",
            "Which method changes the prediction least?",
            aliases={"All of them": {"compared": "On your text"}, "Measured": {"compared": "Measured"}},
        ),
        ctx_b=ctx_b,
    )


lesson.page("", draw, toolbar=compare_menu.toolbar(compare_menu.SENTENCES_AND_MODELS))
