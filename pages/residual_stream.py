"""The residual stream: vectors that grow, parts that add up, and a prediction that is built layer by layer (L6, L8)."""

from tfmviz.ui import beside, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.stream import attribution, in_context, lengths, lens, pair, paths, river, two


def draw(here: Lesson) -> None:
    if there := beside.other(here, beside.WITHOUT_HEADS):
        two.side_by_side(here, there)
        return

    lesson.tabs(
        "stream",
        {
            "Lengths": (
                "The norm of each token's vector after every sublayer; each grey line is one token.",
                lambda: lengths.lengths(here),
                here.asks("Which token ends up with the longest vector?", "queries"),
            ),
            "Neighbours": (
                "Which tokens' vectors are most similar, layer by layer?",
                lambda: paths.neighbours(here),
                "Which tokens end close together?",
            ),
            "In context": (
                "A word's vector depends on its neighbours: one “bank” or two?",
                lambda: in_context.in_context(here),
                "Are the two vectors still similar after the last layer?",
            ),
            "Logit lens": (
                "What would the model say if it stopped here? Click a cell.",
                lambda: lens.lens_of(here),
                "After which layer does it first say its final answer?",
            ),
            "The river": (
                "Each row begins where the one above ended. Bars to the right move towards the final vector; pale "
                "dashed bars move away from it.",
                lambda: river.river(here),
                "Which part adds most to this token?",
            ),
            "Who made the word": (
                "What each head and MLP added to a word's score (its logit): orange raises it, purple lowers it.",
                lambda: attribution.attribution(here),
                "Which part contributes most to the word?",
            ),
            "Two designs": (
                "Two identically trained models differ in one respect.",
                lambda: lesson.either(
                    "They differ in",
                    "designs",
                    {
                        "their norms": lambda: pair.twins(here),
                        "residual connections": lambda: pair.pair(here),
                        "their positions": lambda: pair.orders(here),
                    },
                ),
                "In which model do the vectors grow?",
            ),
        },
        earlier={
            "In space": ("Neighbours", {"drawn_as": "in space"}),
            "Pre-norm, post-norm": ("Two designs", {"designs": "their norms"}),
            "With and without": ("Two designs", {"designs": "residual connections"}),
        },
        needs={
            "Lengths": ("text", "model", "kind"),
            "Neighbours": ("text", "model", "kind"),
            "In context": ("text", "model", "kind"),
            "Logit lens": ("text", "model"),
            "The river": ("text", "model", "kind"),
            "Who made the word": ("text", "model", "kind"),
            "Two designs": ("text", "layer"),
        },
    )


lesson.page(
    "Every token has one vector, its stream. Each layer adds to it.",
    draw,
    along=beside.along(beside.WITHOUT_HEADS),
)
