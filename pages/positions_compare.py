"""Sinusoidal or RoPE? Any two position schemes side by side, on models that differ in nothing else (L7)."""

from tfmviz.ui import duel, lesson
from tfmviz.ui.compare import card, trials
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    sides = duel.choose(here)

    lesson.tabs(
        "experiment",
        {
            "On your sentence": ("", lambda: duel.attention(sides), "In which model does the head look further back?"),
            "Decision card": (
                "Every answer is measured here; click it.",
                lambda: card.card(sides),
            ),
            "Longer texts": (
                "No model here was trained beyond 64 tokens.",
                lambda: trials.longer(sides),
                "Which model suffers more beyond 64?",
            ),
            "Shift all positions": (
                "A model that knows only distances keeps every score.",
                lambda: trials.shift(sides),
                "In which model do scores change?",
            ),
            "Four terms": (
                "With a position added to each word, a score of layer 0 is a sum of four.",
                lambda: trials.terms(sides),
            ),
            "Cache and linear attention": ("", lambda: card.faster(sides)),
            "On paper": ("", lambda: duel.on_paper(sides)),
        },
        earlier={"Side by side": ("On paper", {}), "Attention": ("On your sentence", {})},
    )


lesson.page(
    "Small models, trained alike, differ only in how they know the order of words.",
    draw,
    needs=("text",),
)
