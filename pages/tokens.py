"""Tokens: how a text is cut, how a tokenizer learns to cut, and how a token becomes a vector (L8)."""

from tfmviz.ui import compare_menu, lesson, tokens
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, either, tabs
from tfmviz.ui.tokens import cutting, vectors


def draw(ctx: PageContext) -> None:
    tabs(
        "tokens",
        ctx,
        Tab(
            "Four ways",
            either("Cut by", "cut", {"Four ways": cutting.four_ways, "Every vocabulary": cutting.vocabularies}),
            "Your text as characters, bytes, words and tokens, or cut by every vocabulary here.",
            "Into how many tokens will the model cut this sentence?",
            differs=cutting.apart,
            aliases={"Four ways": {"cut": "Four ways"}, "Every vocabulary": {"cut": "Every vocabulary"}},
        ),
        Tab(
            "Merge by merge",
            tokens.replay,
            "A word starts as bytes; the list says which pair is merged next.",
            "Which adjacent pair is merged first?",
        ),
        Tab("Numbers", cutting.numbers, "A token is one or more bytes, with an index in the vocabulary."),
        Tab(
            "Hard words",
            cutting.hard_words,
            "What happens to rare text: long words, numbers, Chinese, emoji?",
            "Which of these splits into the most tokens?",
            inputs=("model",),
        ),
        Tab(
            "Learn one",
            tokens.learn,
            "Again and again, the most frequent pair becomes a new symbol.",
            "Which pair of letters is most frequent in English?",
            inputs=("text",),
        ),
        Tab("A vector", vectors.look_up, "A token's index picks its vector: a row of the embedding matrix."),
        Tab(
            "Neighbours",
            either(
                "Show",
                "near",
                {"Nearest": vectors.neighbours, "Map": vectors.embedding_map, "Weight tying": vectors.tying},
            ),
            "Which tokens have vectors that point the same way?",
            "Which words does the model treat as similar?",
            aliases={
                "Neighbours": {"near": "Nearest"},
                "Map": {"near": "Map"},
                "Weight tying": {"near": "Weight tying"},
            },
        ),
        ctx_b=compare_menu.other(ctx, compare_menu.SENTENCES_AND_MODELS),
    )


lesson.page(
    "A model reads numbers, not letters. What is a text cut into?",
    draw,
    inputs=("text", "model"),
    toolbar=compare_menu.toolbar(compare_menu.SENTENCES_AND_MODELS),
)
