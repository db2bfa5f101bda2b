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
                "Every entry was measured on this page; click one for the evidence.",
                lambda: card.card(sides),
            ),
            "Longer texts": (
                "No model here was trained beyond 64 tokens.",
                lambda: trials.longer(sides),
                "Which model degrades more beyond 64?",
            ),
            "Shift all positions": (
                "A model that sees only distances keeps every score.",
                lambda: trials.shift(sides),
                "In which model do scores change?",
            ),
            "Four terms": (
                "With a position added to each word, each score in layer 0 has four terms.",
                lambda: trials.terms(sides),
            ),
        },
        earlier={
            "Attention": ("On your sentence", {}),
            "Side by side": ("Decision card", {}),
            "On paper": ("Decision card", {}),
            "Cache and linear attention": ("Decision card", {}),
        },
    )


lesson.page(
    "Small models, trained identically, that differ only in how they encode word order.",
    draw,
    needs=("text",),
)
