"""Encoder, decoder and the bottleneck: one vector for a whole sentence, and what attention changed (L2)."""

from tfmviz.ui import lesson
from tfmviz.ui.bottleneck import alignments, choices, contexts, measured, translations
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    at = choices.choose(here)

    lesson.tabs(
        "seen",
        {
            "Translations": (
                "Click a row to open that model in the other tabs.",
                lambda: translations.translations(at),
                "Which of the four does best?",
            ),
            "Alignments": (
                "Each row is an output token; bright cells show where the decoder looks.",
                lambda: alignments.alignments(at),
                "Which source word will each look at?",
            ),
            "One c, or many": (
                "Each row is what the decoder gets for one token; without attention, always the same vector.",
                lambda: contexts.contexts(at),
                "Which rows differ?",
            ),
            "Measured": (
                "The same held-out sentences, longer and longer.",
                lambda: measured.measured(),
                "At which length does one vector fail?",
            ),
        },
        needs={"Translations": ("text", "model"), "One c, or many": ("text",), "Measured": ()},
    )


lesson.page(
    "Four recurrent translators that differ only in what the decoder can see. Type a French sentence.",
    draw,
    architecture="encoder-decoder",
    opens=translations.OPENS,
)
