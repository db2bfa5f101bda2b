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
                "The length of each token's vector, stage by stage; a grey line is a token.",
                lambda: lengths.lengths(here),
                here.asks("Which token's vector becomes the longest?", "queries"),
            ),
            "In space": (
                "Each path is a token's vector, from its embedding through all layers. Turn it.",
                lambda: paths.paths(here),
                "Which tokens end close together?",
            ),
            "In context": (
                "A word's vector depends on its neighbours: one “bank” or two?",
                lambda: in_context.in_context(here),
                "Are the two vectors still alike after the last layer?",
            ),
            "Logit lens": (
                "What would the model say if it stopped here? Click a cell.",
                lambda: lens.lens_of(here),
                "After which layer does it first say its final answer?",
            ),
            "The river": (
                "Each row begins where the one above ended. Right: towards the final vector; pale, dashed: away.",
                lambda: river.river(here),
                "Which part adds most to this token?",
            ),
            "Who made the word": (
                "What each head and MLP added to a word's score (its logit): orange for it, purple against.",
                lambda: attribution.attribution(here),
                "Which part speaks most for the word?",
            ),
            "Two designs": (
                "Two models, trained alike, differ in one thing: where their norms are, or x + f(Norm(x)) against "
                "f(Norm(x)) alone.",
                lambda: lesson.either(
                    "They differ in",
                    "designs",
                    {"their norms": lambda: pair.twins(here), "residual connections": lambda: pair.pair(here)},
                ),
                "In which model do the vectors grow?",
            ),
        },
        earlier={
            "Pre-norm, post-norm": ("Two designs", {"designs": "their norms"}),
            "With and without": ("Two designs", {"designs": "residual connections"}),
        },
        needs={
            "Lengths": ("text", "model", "kind"),
            "In space": ("text", "model", "kind"),
            "In context": ("text", "model", "kind"),
            "Logit lens": ("text", "model"),
            "The river": ("text", "model", "kind"),
            "Two designs": ("text", "layer"),
        },
    )


lesson.page(
    "Every token has one vector, its stream. Each layer adds to it.",
    draw,
    along=beside.along(beside.WITHOUT_HEADS),
)
