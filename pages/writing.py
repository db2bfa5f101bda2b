"""Writing: the model continues the text word by word, and every choice is visible (L8)."""

import streamlit as st

from tfmviz.ui import beams, compare_menu, guess, lesson
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, either, tabs
from tfmviz.ui.writing import desk, gaps, keyboard, memory, place, settings, temperature


def draw(ctx: PageContext) -> None:
    if ctx.model.config.architecture == "encoder-only":
        gaps.fill(ctx)
        return

    ctx_b = compare_menu.other(ctx, desk.OPTIONS, alike=True)
    above = st.container(key="desk")
    chosen_settings = settings.ask(ctx)
    now = desk.AT_THE_BEGINNING if ctx_b else desk.writing(ctx)
    with above:
        if ctx_b:
            desk.two_texts(ctx, ctx_b, chosen_settings)
        else:
            st.markdown("Click a word to replace it. The table shows which words each setting keeps.")
            with guess.first("Which word will the model write next?", name="desk"):
                desk.desk(ctx, chosen_settings, now)

    tabs(
        "behind",
        ctx,
        Tab(
            "100 samples",
            lambda ctx: place.hundred_draws(ctx, chosen_settings.on(ctx), now),
            "One sample is luck; a hundred show the distribution.",
            aliases={"Draw 100": {}},
        ),
        Tab(
            "Keyboard",
            lambda ctx: keyboard.tab(ctx, now),
            "A phone's keyboard is a language model.",
            aliases={"Keyboard": {"suggests": "suggestions"}, "Your guess": {"suggests": "your guess"}},
        ),
        Tab(
            "What went into this word",
            lambda ctx: place.into_this_word(ctx, now),
            "Where the chosen head looked, and what each layer would have written.",
            inputs=("text", "model", "kind", "layer", "head"),
        ),
        Tab(
            "Temperature",
            either(
                "Look at",
                "heated",
                {
                    "Temperature": lambda ctx: temperature.one_context(ctx, chosen_settings.on(ctx), now),
                    "Fifty texts": lambda ctx: temperature.fan(ctx, chosen_settings.on(ctx)),
                },
            ),
            "A low temperature favours the top words; a high one flattens the distribution.",
            aliases={"Temperature": {"heated": "Temperature"}, "Fifty texts": {"heated": "Fifty texts"}},
        ),
        Tab(
            "Repetition",
            lambda ctx: temperature.repetition(ctx, chosen_settings.on(ctx)),
            "Why not always take the most probable word?",
        ),
        Tab(
            "Beam search",
            lambda ctx: beams.search(ctx, banned=chosen_settings.on(ctx).rules.banned),
            "Several texts grow side by side.",
        ),
        Tab(
            "The cache",
            either(
                "Show",
                "cached",
                {
                    "The cache": lambda ctx: memory.steps(ctx, chosen_settings.on(ctx)),
                    "What it saves": memory.costs,
                    "What it takes": memory.size,
                },
            ),
            "The keys and values of earlier tokens are kept.",
            aliases={
                "The cache": {"cached": "The cache"},
                "What it saves": {"cached": "What it saves"},
                "What it takes": {"cached": "What it takes"},
            },
        ),
        ctx_b=ctx_b,
        inputs=("text", "model"),
    )


lesson.page(
    "",
    draw,
    toolbar=compare_menu.toolbar(desk.OPTIONS, of=("decoder-only", "encoder-decoder")),
)
