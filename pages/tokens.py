"""Tokens: what a text is cut into, how the cutting is learned, and how a piece becomes a vector (L8)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.tokens import cutting, learning, merging, vectors


def draw(here: Lesson) -> None:
    lesson.tabs(
        "tokens",
        {
            "Four ways": (
                "Your text as characters, bytes, words and tokens. Which row is shortest, and what does it cost?",
                lambda: cutting.four_ways(here),
                "Into how many tokens will the model cut this sentence?",
            ),
            "Merge by merge": (
                "A word begins as single bytes. Pairs are joined in the order of the tokenizer's own list of merges.",
                lambda: merging.replay(here),
                "Which two neighbours are joined first?",
            ),
            "Numbers": (
                "Each token is a number of one or more bytes: its place in the vocabulary.",
                lambda: cutting.numbers(here),
            ),
            "Hard words": (
                "Long words, numbers, Chinese, emoji: what does the vocabulary do with what it hardly ever saw?",
                lambda: cutting.hard_words(here),
                "Which of these falls into the most tokens?",
            ),
            "Every vocabulary": (
                "The same text, cut by every vocabulary there is. A larger one makes longer pieces.",
                lambda: cutting.vocabularies(here),
            ),
            "Learn one": (
                "Which pair of neighbours is the most frequent? It becomes a symbol, and the counting begins again.",
                lambda: learning.learn(here),
                "Which pair of letters is the most frequent in English?",
            ),
            "A vector": (
                "A token's number becomes a vector: a product with a one-hot vector, which is only a look-up.",
                lambda: vectors.look_up(here),
            ),
            "Neighbours": (
                "Which entries of the vocabulary have a vector that points the same way?",
                lambda: vectors.neighbours(here),
                "Which words does the model take for similar?",
            ),
            "Map": (
                "All tokens on one plane. Which words lie together?",
                lambda: vectors.embedding_map(here),
            ),
        },
    )


lesson.page(
    "Tokens",
    "A model reads numbers, not letters. What is a text cut into, and what becomes of the pieces?",
    draw,
    uses="model",
)
