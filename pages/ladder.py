"""From windows to attention: what each idea before the transformer could see, and what it could not (L1)."""

from tfmviz.ui import lesson
from tfmviz.ui.ladder import distance, next_token, order, state, uses
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    lesson.tabs(
        "ladder",
        {
            "What comes next": (
                "Each row is a model, each column a token: the stronger the colour, the more it surprised the model. "
                "Click a token to see what each model had expected there.",
                lambda: next_token.next_token(here),
                "Which words surprise the window, but not the transformer?",
            ),
            "How far back can it see?": (
                "What comes after your text? Change the word k places back: how much of the prediction changes?",
                lambda: distance.distance(here),
                "How many words back does each model still notice a change?",
            ),
            "The chef who … was": (
                "A verb agrees with a subject that may stand far before it. How long does each model remember whether "
                "there was one or many?",
                lambda: distance.subject_and_verb(here),
                "After how many words does each model forget the subject?",
            ),
            "On held-out text": (
                "The same question on average: how much worse does each model predict if it loses what lies further "
                "back?",
                lambda: distance.averages(here),
            ),
            "The recurrent network": (
                "It reads one token after the other and keeps one vector, the state. Follow a row from left to right: "
                "which numbers change at which words?",
                lambda: state.state(here),
            ),
            "Four uses": (
                "Which language is each token in? Type a sentence that changes from French to English, and compare "
                "the two rows where it begins and where it changes.",
                lambda: uses.uses(here),
                "At which tokens does it help to know what comes later?",
            ),
            "Why recurrence lost": (
                "How many steps must follow one another before the last token is read? Everything with the same "
                "number can be computed at the same time.",
                lambda: order.order(here),
                "How many steps does each kind of layer need for your sentence?",
            ),
        },
    )


lesson.page(
    "From windows to attention",
    "Four language models of about a million numbers each have read the same text: counts, a fixed window, a "
    "recurrent network, a transformer.",
    draw,
    uses="nothing",
)
