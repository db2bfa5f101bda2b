"""Translating: an encoder reads a sentence, and a decoder writes its translation word by word (L8)."""

from tfmviz.ui import beams, beside, lesson, models
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.translating import attention, doubts, forced, references, what_if, word_by_word


def draw(here: Lesson) -> None:
    if here.model.config.architecture != "encoder-decoder":
        models.needed("french-english")
        return
    if there := beside.other(here, beside.WITHOUT_HEADS, alike=True):
        attention.side_by_side(here, there)
        return

    doubts.say(here)

    lesson.tabs(
        "translation",
        {
            "Word by word": (
                "The decoder writes one word at a time; the small word is the one it has just read.",
                lambda: word_by_word.draw(here),
                "Which source word will each word of the translation look at?",
            ),
            "Beam search": (
                "Several translations grow side by side.",
                lambda: lesson.either(
                    "Show",
                    "shown_trees",
                    {"One tree": lambda: beams.search(here, longest=40), "Two trees": lambda: what_if.two_trees(here)},
                ),
            ),
            "What if": (
                "Change a word of the source, or what one step looks at.",
                lambda: what_if.compare(here),
            ),
            "Forced words": (
                "The decoder reads your words instead of its own.",
                lambda: lesson.either(
                    "Force",
                    "force",
                    {
                        "Force the beginning": lambda: forced.beginning(here),
                        "Teacher forcing": lambda: forced.losses(here),
                    },
                ),
            ),
            "All translators": (
                "Rows are output words, columns source words.",
                lambda: attention.compare(here),
                "Which translators look at one word at a time?",
            ),
            "References": (
                "How much of the model's translation appears in yours?",
                lambda: references.compare(here),
            ),
        },
        earlier={
            "The encoder": ("Word by word", {"heads": "one head"}),
            "Beam search": ("Beam search", {"shown_trees": "One tree"}),
            "Two trees": ("Beam search", {"shown_trees": "Two trees"}),
            "Force the beginning": ("Forced words", {"force": "Force the beginning"}),
            "Teacher forcing": ("Forced words", {"force": "Teacher forcing"}),
        },
        needs={
            "Beam search": ("text", "model"),
            "What if": ("text", "model", "layer"),
            "Forced words": ("text", "model"),
            "References": ("text", "model"),
        },
    )


lesson.page(
    "",
    draw,
    architecture="encoder-decoder",
    needs=("text", "model", "layer", "head"),
    along=beside.along(beside.WITHOUT_HEADS, of=("encoder-decoder",)),
)
