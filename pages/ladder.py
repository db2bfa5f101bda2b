"""From windows to attention: what each idea before the transformer could see, and what it missed (L1)."""

from tfmviz.ui import compare_menu, lesson
from tfmviz.ui.ladder import distance, recurrent, rungs, uses, window
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    tabs(
        "ladder",
        ctx,
        Tab(
            "What comes next",
            rungs.next_token,
            "Each row is a model; the stronger its colour, the greater its surprise. Click a token.",
            "Which words surprise the window but not the transformer?",
        ),
        Tab(
            "How far back can it see?",
            distance.distance,
            "Change the text k tokens back: how much does the prediction change?",
            "How far back does each model notice it?",
            aliases={
                "How far back can it see?": {"seen_on": "your text"},
                "On held-out text": {"seen_on": "held-out text"},
            },
        ),
        Tab(
            "Long dependencies",
            distance.dependencies,
            "What must come next depends on one word far back.",
            "After how many words does each model forget it?",
            aliases={"The chef who … was": {"depends": "agreement"}},
        ),
        Tab(
            "The fixed window",
            window.window,
            "Read upwards, from words to the next word. Click a row or a unit.",
            "Which word in the window matters most for the next one?",
        ),
        Tab(
            "The recurrent network",
            recurrent.state,
            "It reads token by token, with the same weights each time, and keeps one vector, the state.",
        ),
        Tab(
            "Four uses",
            uses.uses,
            "Which language is each token in? Mix French and English.",
            "Where does it help to know what comes later?",
        ),
        Tab(
            "Why recurrence lost",
            recurrent.order,
            "Cells with the same number can be computed in parallel.",
            "How many steps does each layer need?",
        ),
        ctx_b=compare_menu.other(ctx, compare_menu.SENTENCES),
    )


lesson.page(
    "Four language models of one size: counts, a window, a recurrent network, a transformer.",
    draw,
    inputs=("text",),
    opens=uses.opens,
    toolbar=compare_menu.toolbar(compare_menu.SENTENCES),
)
