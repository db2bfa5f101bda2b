"""Writing: the model goes on with the text, one word at a time, and every choice is visible (L8)."""

import streamlit as st

from tfmviz.ui import beams, guess, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.writing import desk, gaps, guessing, memory, place, settings, temperature


def draw(here: Lesson) -> None:
    if here.model.config.architecture == "encoder-only":
        gaps.fill(here)
        return

    now = desk.writing(here)
    above = st.container()
    said = settings.ask(here)
    with above, guess.first("Which word will the model write next?", name="desk"):
        desk.desk(here, said, now)
    st.markdown(
        "Click a word to put another in its place. The table shows what each setting leaves of the model's "
        "probabilities, and where the drawn number falls."
    )

    lesson.tabs(
        "behind",
        {
            "Draw 100": (
                "One draw is luck, a hundred show the distribution: how often each word comes up at the place that the "
                "table above is about.",
                lambda: place.hundred_draws(here, said, now),
            ),
            "Your guess": (
                "Guess the next word before the page shows it; G hides the desk. How much less did the model expect "
                "yours?",
                lambda: guessing.guess(here, now),
            ),
            "What went into this word": (
                f"Where layer {here.choice.layer_index}, head {here.choice.head} looked while the words were written, "
                "one row a word; then what each layer would have written.",
                lambda: place.into_this_word(here, now),
            ),
            "Temperature": (
                "The same place at eight temperatures: cold favours the first words, heat levels them.",
                lambda: temperature.one_context(here, said, now),
            ),
            "Fifty texts": (
                "Fifty continuations of your text, one line each. It rises at every word, the more the less probable "
                "the word is.",
                lambda: temperature.fan(here, said),
            ),
            "Repetition": (
                "Why not always take the most probable word? Compare how often each way of writing repeats itself.",
                lambda: temperature.repetition(here, said),
            ),
            "Beam search": (
                "Several texts are written side by side, and at every step the best continuations of all of them go "
                "on. Where does the best text leave the greedy one?",
                lambda: beams.search(here, banned=said.rules.banned),
            ),
            "The cache": (
                "Each row is a step that writes one word. Dark cells are keys and values that it computes, light ones "
                "those that it finds in the cache.",
                lambda: memory.steps(here, said),
            ),
            "What it saves": (
                "One step of the chosen model, with the cache and without, on longer and longer texts.",
                lambda: memory.costs(here),
            ),
            "What it takes": (
                "Keys and values of all tokens must be kept. How many bytes is that, and what do shared heads save?",
                lambda: memory.size(here),
            ),
        },
    )


lesson.page(
    "Writing: one word at a time",
    "How each word is chosen, and what else it could have been.",
    draw,
)
