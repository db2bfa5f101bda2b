"""Size: where the parameters of a model sit, what memory and training they take, what loss they buy (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.size import laws, own, parts, results, variants


def draw(here: Lesson) -> None:
    lesson.tabs(
        "sized",
        {
            "Where they sit": (
                "A rectangle's area is its number of parameters. Left: repeated in every layer; right: used once.",
                lambda: parts.where(here),
                "Where do most parameters sit: attention, feed-forward layers or vocabulary?",
            ),
            "Memory": (
                "How many bytes running, training and a cached text take, and how long training lasts.",
                lambda: parts.memory(here),
                "How long would one processor core train GPT-3?",
            ),
            "Scaling laws": (
                "How the loss falls with parameters N, tokens D and operations C.",
                laws.published,
                "What lowers the loss more: ten times the parameters, or ten times the text?",
            ),
            "Our own runs": (
                "Each point is a small model of ours; the lines are one law, fitted without the largest.",
                own.own,
                "Does the law predict a model larger than any it was fitted on?",
            ),
            "Which changes help?": (
                "One thing is changed in a small model. Is the gain larger than the variation between seeds?",
                lambda: variants.compared(here),
                "Which change helps more than chance: another norm, a gate, experts?",
            ),
            "Result tables": (
                "Results from the papers.",
                results.tables,
                "Did training the first Transformer take more operations than the models it beat?",
            ),
        },
        earlier={"Training": ("Memory", {})},
        needs={
            "": ("model",),
            "Scaling laws": (),
            "Our own runs": (),
            "Which changes help?": ("text", "model"),
            "Result tables": (),
        },
    )


lesson.page(
    "",
    draw,
    needs=("text", "model"),
)
