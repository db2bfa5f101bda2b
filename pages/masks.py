"""Masks: who may look at whom, and what another mask does to a trained model (L4, L10)."""

import streamlit as st

from tfmviz.ui import guess, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.masks import effects, facts, lab


def draw(here: Lesson) -> None:
    board, effect = lab.beside()
    said = lab.settings(here)
    layers, heads = lab.where(here)
    with board:
        above = st.container()
        chosen = lab.laboratory(here, said)
    with above:
        lab.follow(here, chosen, layers, heads)
    sides = effects.both_masks(here, lab.edited(here, chosen, layers, heads), chosen, layers, heads)

    with effect:
        lesson.tabs(
            "effect",
            {
                "Attention": (
                    f"Layer {here.choice.layer_index}, head {here.choice.head}: the remaining keys "
                    "share the attention that a masked key would have received.",
                    lambda: effects.attention(sides),
                    here.asks("Which keys pick up the attention of the masked ones?", "keys"),
                ),
                "Next word": (
                    "",
                    lambda: effects.next_words(sides),
                    "Does the model still expect the same word?",
                ),
                "Loss": (
                    "",
                    lambda: effects.losses(sides),
                    here.asks("Which word surprises the model more with your mask?"),
                ),
                "Reach": (
                    "Hidden tokens can still arrive through others.",
                    lambda: effects.reach(here, chosen),
                    "After how many layers does the reach stop growing?",
                ),
                "Kinds": ("", lambda: facts.table(here, chosen, said)),
                "Quiz": ("", lambda: facts.exercises(here, said)),
            },
            earlier={
                "Vectors": ("Attention", {}),
                "Which mask is which": ("Kinds", {}),
                "Predict, then reveal": ("Quiz", {}),
            },
            needs={
                "Loss": ("text", "model", "kind"),
                "Reach": ("text", "model", "kind"),
            },
        )
        with guess.along("verdict"):
            effects.verdict(sides, chosen, layers)


lesson.page(
    "Click a word to hide it; the model reruns with your mask.",
    draw,
)
