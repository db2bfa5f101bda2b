"""Size: where a model's parameters are, the memory and training they need, and the loss they reach (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.size import laws, own, parts, variants
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    tabs(
        "sized",
        ctx,
        Tab(
            "Where they sit",
            parts.where,
            "A rectangle's area is its number of parameters. Left: repeated in every layer; right: used once.",
            "Where do most parameters sit: attention, feed-forward layers or vocabulary?",
        ),
        Tab(
            "Memory",
            parts.memory,
            "How many bytes running, training and a cached text take, and how long training lasts.",
            "How long would one processor core train GPT-3?",
            aliases={"Training": {}},
        ),
        Tab(
            "Scaling laws",
            lambda _: laws.published(),
            "How the loss falls with parameters N, tokens D and operations C.",
            "What lowers the loss more: ten times the parameters, or ten times the text?",
            inputs=(),
        ),
        Tab(
            "Our own runs",
            lambda _: own.own(),
            "Each point is a small model of ours; the lines are one law, fitted without the largest.",
            "Does the law predict a model larger than any it was fitted on?",
            inputs=(),
        ),
        Tab(
            "Which changes help?",
            variants.compared,
            "One thing is changed in a small model. Is the gain larger than the variation between seeds?",
            "Which change helps more than chance: another norm, a gate, experts?",
            inputs=("text", "model"),
        ),
        Tab(
            "Result tables",
            lambda _: laws.tables(),
            "Results from the papers.",
            "Did training the first Transformer take more operations than the models it beat?",
            inputs=(),
        ),
        inputs=("model",),
    )


lesson.page(
    "",
    draw,
    inputs=("text", "model"),
)
