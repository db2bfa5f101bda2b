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
                "What does each model make of your sentence? Click a row to look into that model in the other tabs.",
                lambda: translations.translations(at),
                "Which of the four will do best, and on which sentences will it matter?",
            ),
            "Alignments": (
                "Each row is a token as it is written, each column one of the source. Bright is where the decoder "
                "looks.",
                lambda: alignments.alignments(at),
                "Which source word will each written word look at?",
            ),
            "One c, or many": (
                "What the decoder is given for each token: without attention always the same vector, with attention a "
                "new one. Compare the rows.",
                lambda: contexts.contexts(at),
                "Which rows of the two pictures differ?",
            ),
            "Measured": (
                "The same held-out sentences, alone and joined to longer texts: which models get worse as the source "
                "gets longer?",
                lambda: measured.measured(),
                "From which length on does one vector hold too little?",
            ),
        },
    )


lesson.page(
    "Encoder, decoder and the bottleneck",
    "Four recurrent translators, alike but for what the decoder sees of the source. Type French.",
    draw,
    architecture="encoder-decoder",
    opens=translations.OPENS,
)
