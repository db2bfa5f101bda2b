"""The recipe: how a transformer is trained (L9)."""

import streamlit as st

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.recipe import adam, forcing, in_training, rates, targets, tasks


def draw(here: Lesson) -> None:
    if st.query_params.get("smooth") == "Translators" and "smooth" not in st.session_state:
        st.query_params["smooth"] = "Calibration"
        st.rerun()  # as in `lesson.tabs`
    lesson.tabs(
        "recipe",
        {
            "Teacher forcing": (
                "The model reads the true text so far and predicts the next token.",
                lambda: forcing.forcing(here),
                here.asks("Where is the model most surprised?"),
            ),
            "Three tasks": (
                "One text gives three tasks that need no labels. Dark boxes hide tokens.",
                lambda: tasks.tasks(here),
            ),
            "Learning rate": (
                "The learning rate first rises, then falls. Is the warm-up needed?",
                lambda: lesson.either(
                    "Learning rate", "rate", {"Schedules": rates.schedules, "Warm-up": rates.warm_up}
                ),
                "Which of the four runs fails?",
            ),
            "Adam": (
                "Paths down a valley that is steep across and shallow along. Move the starting point.",
                adam.going_down,
            ),
            "Label smoothing": (
                "Smoothing spreads a share ε of the target over the whole vocabulary.",
                lambda: lesson.either(
                    "Look at",
                    "smooth",
                    {
                        "The target": lambda: targets.smoothed(here),
                        "Calibration": targets.calibration,
                    },
                ),
                "Is a model that has memorised its text over- or underconfident?",
            ),
            "Dropout": (
                "The same text ten times, each time with random activations set to 0.",
                lambda: in_training.dropout(here),
            ),
            "Gradients": (
                "How strongly does your sentence pull on each layer?",
                lambda: in_training.gradients(here),
            ),
        },
        earlier={
            "Learning rate": ("Learning rate", {"rate": "Schedules"}),
            "Warm-up": ("Learning rate", {"rate": "Warm-up"}),
            "Label smoothing": ("Label smoothing", {"smooth": "The target"}),
            "Calibration": ("Label smoothing", {"smooth": "Calibration"}),
            "Translators": ("Label smoothing", {"smooth": "Calibration"}),
        },
        needs={"Learning rate": (), "Adam": ()},
    )


lesson.page(
    "",
    draw,
    needs=("text", "model"),
)
