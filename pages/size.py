"""Size: where the parameters of a model sit, what memory and training they take, what loss they buy (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.size import laws, own, parts, results, variants


def draw(here: Lesson) -> None:
    lesson.tabs(
        "sized",
        {
            "Where they sit": (
                "Each rectangle is as large as its number of parameters. Those on the left lie in the layers; those "
                "on the right exist once.",
                lambda: parts.where(here),
                "Where do most parameters sit: in attention, in the feed-forward layers or in the vocabulary?",
            ),
            "Memory": (
                "Bytes to run the model, to train it, and to keep the keys and values of a text.",
                lambda: parts.memory(here),
                "How many times more memory does training take than running?",
            ),
            "Training": (
                "Operations of a whole training run, and how long they take on one machine.",
                lambda: parts.training(here),
                "How long would one processor core train GPT-3?",
            ),
            "Scaling laws": (
                "How the loss falls with parameters N, tokens D and operations C, as three papers fitted it.",
                laws.published,
                "What lowers the loss more: ten times the parameters, or ten times the text?",
            ),
            "Our own runs": (
                "Each point is a small model that we trained; the lines are one law, fitted to all but the largest.",
                own.own,
                "Does the law tell the loss of a model that is larger than all it was fitted to?",
            ),
            "Which changes help?": (
                "One small model, trained again and again with one thing changed. Does the change lower the loss by "
                "more than another seed does?",
                lambda: variants.compared(here),
                "Which of these changes lowers the loss more than chance: another norm, a gate, experts?",
            ),
            "Result tables": (
                "What the papers of the lectures report, each table with its source.",
                results.tables,
                "Did the first Transformer take more or fewer operations to train than the models it beat?",
            ),
        },
    )


lesson.page(
    "Size: parameters, memory, training",
    "Any model counted part by part: the chosen one, a published one, or one with sizes of your own.",
    draw,
    uses="model",
)
