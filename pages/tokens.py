"""Tokens: what a text is cut into, how the cutting is learned, and how a piece becomes a vector (L8)."""

from tfmviz.ui import beside, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.tokens import cutting, learning, merging, two, vectors


def draw(here: Lesson) -> None:
    if there := beside.other(here, two.OPTIONS):
        two.side_by_side(here, there)
        return

    lesson.tabs(
        "tokens",
        {
            "Four ways": (
                "Your text as characters, bytes, words and tokens, or cut by every vocabulary here.",
                lambda: lesson.either(
                    "Cut by",
                    "cut",
                    {
                        "Four ways": lambda: cutting.four_ways(here),
                        "Every vocabulary": lambda: cutting.vocabularies(here),
                    },
                ),
                "Into how many tokens will the model cut this sentence?",
            ),
            "Merge by merge": (
                "A word starts as bytes; the list says which pair is merged next.",
                lambda: merging.replay(here),
                "Which adjacent pair is merged first?",
            ),
            "Numbers": (
                "A token is one or more bytes, with an index in the vocabulary.",
                lambda: cutting.numbers(here),
            ),
            "Hard words": (
                "What happens to rare text: long words, numbers, Chinese, emoji?",
                lambda: cutting.hard_words(here),
                "Which of these splits into the most tokens?",
            ),
            "Learn one": (
                "Again and again, the most frequent pair becomes a new symbol.",
                lambda: learning.learn(here),
                "Which pair of letters is most frequent in English?",
            ),
            "A vector": (
                "A token's index picks its vector: a row of W_E.",
                lambda: vectors.look_up(here),
            ),
            "Neighbours": (
                "Which tokens have vectors that point the same way?",
                lambda: lesson.either(
                    "Show",
                    "near",
                    {
                        "Nearest": lambda: vectors.neighbours(here),
                        "Map": lambda: vectors.embedding_map(here),
                        "Weight tying": lambda: vectors.tying(here),
                    },
                ),
                "Which words does the model treat as similar?",
            ),
        },
        earlier={
            "Four ways": ("Four ways", {"cut": "Four ways"}),
            "Every vocabulary": ("Four ways", {"cut": "Every vocabulary"}),
            "Neighbours": ("Neighbours", {"near": "Nearest"}),
            "Map": ("Neighbours", {"near": "Map"}),
            "Weight tying": ("Neighbours", {"near": "Weight tying"}),
        },
        needs={"Hard words": ("model",), "Learn one": ("text",)},
    )


lesson.page(
    "A model reads numbers, not letters. What is a text cut into?",
    draw,
    needs=("text", "model"),
    along=beside.along(two.OPTIONS),
)
