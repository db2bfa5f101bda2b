"""Writing: the model goes on with the text, one word at a time, and every choice is visible (L8)."""

import streamlit as st

from tfmviz.ui import beams, beside, guess, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.writing import desk, gaps, keyboard, memory, place, settings, temperature, two


def draw(here: Lesson) -> None:
    if here.model.config.architecture == "encoder-only":
        gaps.fill(here)
        return

    there = beside.other(here, two.OPTIONS, alike=True)
    above = st.container(key="desk")
    said = settings.ask(here)
    if there:
        with above:
            two.side_by_side(here, there, said)
        return
    now = desk.writing(here)
    with above:
        st.markdown("Click a word to replace it. The table shows which words each setting keeps.")
        with guess.first("Which word will the model write next?", name="desk"):
            desk.desk(here, said, now)

    lesson.tabs(
        "behind",
        {
            "100 samples": (
                "One sample is luck; a hundred show the distribution.",
                lambda: place.hundred_draws(here, said, now),
            ),
            "Keyboard": ("A phone's keyboard is a language model.", lambda: keyboard.tab(here, now)),
            "What went into this word": (
                "Where the chosen head looked, and what each layer would have written.",
                lambda: place.into_this_word(here, now),
            ),
            "Temperature": (
                "A low temperature favours the top words; a high one flattens the distribution.",
                lambda: lesson.either(
                    "Look at",
                    "heated",
                    {
                        "Temperature": lambda: temperature.one_context(here, said, now),
                        "Fifty texts": lambda: temperature.fan(here, said),
                    },
                ),
            ),
            "Repetition": ("Why not always take the most probable word?", lambda: temperature.repetition(here, said)),
            "Beam search": ("Several texts grow side by side.", lambda: beams.search(here, banned=said.rules.banned)),
            "The cache": (
                "The keys and values of earlier tokens are kept.",
                lambda: lesson.either(
                    "Show",
                    "cached",
                    {
                        "The cache": lambda: memory.steps(here, said),
                        "What it saves": lambda: memory.costs(here),
                        "What it takes": lambda: memory.size(here),
                    },
                ),
            ),
        },
        earlier={
            "Draw 100": ("100 samples", {}),
            "Keyboard": ("Keyboard", {"suggests": "suggestions"}),
            "Your guess": ("Keyboard", {"suggests": "your guess"}),
            "Temperature": ("Temperature", {"heated": "Temperature"}),
            "Fifty texts": ("Temperature", {"heated": "Fifty texts"}),
            "The cache": ("The cache", {"cached": "The cache"}),
            "What it saves": ("The cache", {"cached": "What it saves"}),
            "What it takes": ("The cache", {"cached": "What it takes"}),
        },
        needs={"": ("text", "model"), "What went into this word": ("text", "model", "kind", "layer", "head")},
    )


lesson.page(
    "",
    draw,
    along=beside.along(two.OPTIONS, of=("decoder-only", "encoder-decoder")),
)
