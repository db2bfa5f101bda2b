"""From windows to attention: what each idea before the transformer could see, and what it could not (L1)."""

from tfmviz.ui import lesson
from tfmviz.ui.ladder import dependencies, distance, next_token, order, state, uses, window
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    lesson.tabs(
        "ladder",
        {
            "What comes next": (
                "Each row is a model; the darker the cell, the greater its surprise. Click a token.",
                lambda: next_token.next_token(here),
                "Which words surprise the window but not the transformer?",
            ),
            "How far back can it see?": (
                "Change the text k tokens back: how much does the prediction change?",
                lambda: distance.distance(here),
                "How far back does each model notice it?",
            ),
            "Long dependencies": (
                "What must come next depends on one word far back.",
                lambda: dependencies.dependencies(here),
                "After how many words does each model forget it?",
            ),
            "The fixed window": (
                "Read upwards, from words to the next word. Click a row or a unit.",
                lambda: window.window(here),
                "Which word in the window matters most for the next one?",
            ),
            "The recurrent network": (
                "It reads token by token and keeps one vector, the state.",
                lambda: state.state(here),
            ),
            "Four uses": (
                "Which language is each token in? Mix French and English.",
                lambda: uses.uses(here),
                "Where does it help to know what comes later?",
            ),
            "Why recurrence lost": (
                "Cells with the same number can be computed in parallel.",
                lambda: order.order(here),
                "How many steps does each layer need?",
            ),
        },
        earlier={
            "How far back can it see?": ("How far back can it see?", {"seen_on": "your text"}),
            "On held-out text": ("How far back can it see?", {"seen_on": "held-out text"}),
            "The chef who … was": ("Long dependencies", {"depends": "agreement"}),
        },
    )


lesson.page(
    "Four language models of one size: counts, a window, a recurrent network, a transformer.",
    draw,
    needs=("text",),
    opens=uses.opens,
)
