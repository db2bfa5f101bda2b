"""Sinusoidal or RoPE? Any two position schemes side by side, on models identical in everything else (L7)."""

from tfmviz.ui import lesson, scheme_comparison
from tfmviz.ui.compare import card, trials
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    both = scheme_comparison.choose(ctx)

    tabs(
        "experiment",
        ctx,
        Tab(
            "On your sentence",
            lambda _: scheme_comparison.attention(both),
            "",
            "In which model does the head look further back?",
            aliases={"Attention": {}},
        ),
        Tab(
            "Decision card",
            lambda _: card.card(both),
            "Every entry was measured here; click a link for the evidence.",
            aliases={"Side by side": {}, "On paper": {}, "Cache and linear attention": {}},
        ),
        Tab(
            "Longer texts",
            lambda _: trials.longer(both),
            "No model here was trained beyond 64 tokens.",
            "Which model degrades more beyond 64?",
        ),
        Tab(
            "Shift all positions",
            lambda _: trials.shift(both),
            "A model that sees only distances keeps every score.",
            "In which model do scores change?",
        ),
        Tab(
            "Four terms",
            lambda _: trials.terms(both),
            "With a position added to each word, each score in layer 0 has four terms.",
        ),
    )


lesson.page(
    "Small models, trained identically, that differ only in how they encode word order.",
    draw,
    inputs=("text",),
)
