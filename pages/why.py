"""Why there: a head's score as an exact sum, the effect of removing its paths, and what the head writes (L3, L6)."""

from tfmviz.ui import compare_menu, lesson, why
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs
from tfmviz.ui.why import compose, writes


def draw(ctx: PageContext) -> None:
    tabs(
        "why",
        ctx,
        Tab(
            "The score as a sum",
            why.terms,
            "Each cell pairs a component that wrote the query with one that wrote the key.",
            "Which part made it look there?",
        ),
        Tab(
            "Test it",
            why.believe,
            "Remove one component from this head's input.",
            "Will the head still look there?",
            aliases={"Believe it or not": {}},
        ),
        Tab(
            "What it then writes",
            writes.writes,
            "Each row is a token's value, each column a word whose logit it changes directly.",
            "Which word becomes more probable?",
        ),
        Tab(
            "Which head reads which",
            compose.compose,
            "What one head writes, a later one may read. Orange: more than random heads.",
            "Do many heads work in pairs?",
            inputs=("text", "model", "kind"),
        ),
        Tab(
            "The first token",
            writes.sink,
            "Weights sum to 1: a head that finds nothing relevant still has to look somewhere, unless it has a sink.",
            "How much attention goes to the first token?",
        ),
        ctx_b=compare_menu.other(ctx, compare_menu.SENTENCES_AND_MODELS),
    )


lesson.page("", draw, toolbar=compare_menu.toolbar(compare_menu.SENTENCES_AND_MODELS))
