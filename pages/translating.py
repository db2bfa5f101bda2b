"""Translating: an encoder reads a sentence, and a decoder writes its translation word by word (L8)."""

from tfmviz.ui import beams, lesson, models
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.translating import aligned, doubts, encoder, forced, references, what_if, word_by_word


def draw(here: Lesson) -> None:
    if here.model.config.architecture != "encoder-decoder":
        models.needed("french-english")
        return

    doubts.say(here)

    lesson.tabs(
        "translation",
        {
            "Word by word": (
                "The decoder writes one word at a time. Below each word stands what it has just read: its own last "
                "word. Point at a word to see where it looks in the source.",
                lambda: word_by_word.draw(here),
                "Which word of the source will each word of the translation look at?",
            ),
            "The encoder": (
                "Before anything is written, the encoder reads the source, and each of its words looks at all others.",
                lambda: encoder.draw(here),
            ),
            "Beam search": (
                "Several translations are written side by side, and at every step the best continuations of all of "
                "them go on. Where does the best one leave the greedy one?",
                lambda: beams.search(here, longest=40),
            ),
            "What if": (
                "Change a word of the source, or what one step looks at: on the left as it was, on the right changed.",
                lambda: what_if.compare(here),
            ),
            "Two trees": (
                "The same change in a beam search: the tree as it was, and the new one. From where on do they differ?",
                lambda: what_if.two_trees(here),
            ),
            "Force the beginning": (
                "Type how the translation begins, and the model goes on from there. How probable is each word?",
                lambda: forced.beginning(here),
            ),
            "Teacher forcing": (
                "The loss at each word of a reference: above after the right words, below after the model's own. Where "
                "does it grow?",
                lambda: forced.losses(here),
            ),
            "All translators": (
                "Each row is a word as it is written, each column a word of the source. Where does each kind of "
                "attention look while it writes the same sentence?",
                lambda: aligned.compare(here),
                "Which of the translators will look at one word at a time?",
            ),
            "References": (
                "The model's translation against yours: which of its words, pairs, triples and fours stand in a "
                "reference?",
                lambda: references.compare(here),
            ),
        },
    )


lesson.page(
    "Translating: one sentence becomes another",
    "Which words of the source each word of the translation comes from, and which other translations were near.",
    draw,
    architecture="encoder-decoder",
)
