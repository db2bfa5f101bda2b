"""Writing: the model continues the text word by word, and every choice is visible (L8)."""

import streamlit as st

from tfmviz.ui import beams, beside, guess, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.tabs import Tab, either, tabs
from tfmviz.ui.writing import desk, gaps, keyboard, memory, place, settings, temperature


def draw(here: Lesson) -> None:
    if here.model.config.architecture == "encoder-only":
        gaps.fill(here)
        return

    there = beside.other(here, desk.OPTIONS, alike=True)
    above = st.container(key="desk")
    said = settings.ask(here)
    now = desk.AT_THE_BEGINNING if there else desk.writing(here)
    with above:
        if there:
            desk.two_texts(here, there, said)
        else:
            st.markdown("Click a word to replace it. The table shows which words each setting keeps.")
            with guess.first("Which word will the model write next?", name="desk"):
                desk.desk(here, said, now)

    tabs(
        "behind",
        here,
        Tab(
            "100 samples",
            lambda here: place.hundred_draws(here, said.on(here), now),
            "One sample is luck; a hundred show the distribution.",
            earlier={"Draw 100": {}},
        ),
        Tab(
            "Keyboard",
            lambda here: keyboard.tab(here, now),
            "A phone's keyboard is a language model.",
            earlier={"Keyboard": {"suggests": "suggestions"}, "Your guess": {"suggests": "your guess"}},
        ),
        Tab(
            "What went into this word",
            lambda here: place.into_this_word(here, now),
            "Where the chosen head looked, and what each layer would have written.",
            needs=("text", "model", "kind", "layer", "head"),
        ),
        Tab(
            "Temperature",
            either(
                "Look at",
                "heated",
                {
                    "Temperature": lambda here: temperature.one_context(here, said.on(here), now),
                    "Fifty texts": lambda here: temperature.fan(here, said.on(here)),
                },
            ),
            "A low temperature favours the top words; a high one flattens the distribution.",
            earlier={"Temperature": {"heated": "Temperature"}, "Fifty texts": {"heated": "Fifty texts"}},
        ),
        Tab(
            "Repetition",
            lambda here: temperature.repetition(here, said.on(here)),
            "Why not always take the most probable word?",
        ),
        Tab(
            "Beam search",
            lambda here: beams.search(here, banned=said.on(here).rules.banned),
            "Several texts grow side by side.",
        ),
        Tab(
            "The cache",
            either(
                "Show",
                "cached",
                {
                    "The cache": lambda here: memory.steps(here, said.on(here)),
                    "What it saves": memory.costs,
                    "What it takes": memory.size,
                },
            ),
            "The keys and values of earlier tokens are kept.",
            earlier={
                "The cache": {"cached": "The cache"},
                "What it saves": {"cached": "What it saves"},
                "What it takes": {"cached": "What it takes"},
            },
        ),
        there=there,
        needs=("text", "model"),
    )


lesson.page(
    "",
    draw,
    along=beside.along(desk.OPTIONS, of=("decoder-only", "encoder-decoder")),
)
