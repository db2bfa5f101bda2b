"""Encoder, decoder and the bottleneck: one vector for a whole sentence, and what attention changed (L2)."""

from tfmviz.ui import lesson
from tfmviz.ui.bottleneck import choices, contexts, measured, translations
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    at = choices.choose(ctx)

    tabs(
        "seen",
        ctx,
        Tab(
            "Translations",
            lambda _: translations.translations(at),
            "Click a row to open that model in the other tabs.",
            "Which of the four does best?",
            inputs=("text", "model"),
        ),
        Tab(
            "Alignments",
            lambda _: translations.alignments(at),
            "Each row is an output token; bright cells show where the decoder looks.",
            "Which source word will each look at?",
        ),
        Tab(
            "One c, or many",
            lambda _: contexts.contexts(at),
            "Each row is what the decoder gets for one token; without attention, always the same vector.",
            "Which rows differ?",
            inputs=("text",),
        ),
        Tab(
            "Measured",
            lambda _: measured.measured(),
            "Held-out sentences, joined into longer texts.",
            "At which length does one vector fail?",
            inputs=(),
        ),
    )


lesson.page(
    "Four recurrent translators that differ only in what the decoder can see. Type a French sentence.",
    draw,
    architecture="encoder-decoder",
    opens=translations.OPENS,
)
