"""Sinusoidal or RoPE? Any two position schemes side by side, on models that differ in nothing else (L7)."""

from tfmviz.ui import lesson
from tfmviz.ui.compare import card, duel, trials
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    sides = duel.choose(here)

    lesson.tabs(
        "experiment",
        {
            "Side by side": ("", lambda: duel.side_by_side(sides)),
            "Shift all positions": (
                "Your sentence stands later in a longer text: every position grows, all else stays. If a model knows "
                "only distances, not a single score may change.",
                lambda: trials.shift(sides),
                "In which of the two models do scores change?",
            ),
            "Four terms": (
                "A position that is added to a word enters every product, so each score of layer 0 is a sum of four.",
                lambda: trials.terms(sides),
            ),
            "Attention": (
                f"All heads of layer {sides.layer} in both models. Rows are queries, columns keys. Heads with the same "
                "number have nothing in common: compare the kinds of heads.",
                lambda: duel.attention(sides),
            ),
            "Longer texts": (
                "No model here was trained on more than 64 tokens at a time. How much does a token surprise it that "
                "comes later than that?",
                lambda: trials.longer(sides),
                "Which model suffers more beyond 64 tokens?",
            ),
            "Cache and linear attention": ("", lambda: card.faster(sides)),
            "Decision card": (
                "Which scheme, then? Every answer is measured on these models; click it to see the experiment.",
                lambda: card.card(sides),
            ),
        },
    )


lesson.page(
    "Sinusoidal or RoPE?",
    "Small models, trained alike, differ in one thing: how they are told the order of the words. Choose any two.",
    draw,
    uses="nothing",
)
