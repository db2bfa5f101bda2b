"""From windows to attention: what each idea before the transformer could see, and what it could not (L1)."""

from tfmviz.ui import lesson
from tfmviz.ui.ladder import distance, next_token, order, state, uses
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    lesson.tabs(
        "ladder",
        {
            "What comes next": (
                "Each row is a model; strong colour is surprise. Click a token.",
                lambda: next_token.next_token(here),
                "Which words surprise the window but not the transformer?",
            ),
            "How far back can it see?": (
                "Change the word k places back: how much of the prediction changes?",
                lambda: distance.distance(here),
                "How far back does each model notice it?",
            ),
            "The chef who … was": (
                "A verb agrees with a subject far back.",
                lambda: distance.subject_and_verb(here),
                "When does each model forget the subject?",
            ),
            "On held-out text": (
                "How much worse does each predict without what is further back?",
                lambda: distance.averages(here),
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
                "What has the same number can be computed at once.",
                lambda: order.order(here),
                "How many steps does each layer need?",
            ),
        },
        needs={"The chef who … was": (), "On held-out text": ()},
    )


lesson.page(
    "From windows to attention",
    "Four language models of one size: counts, a window, a recurrent network, a transformer.",
    draw,
    needs=("text",),
)
