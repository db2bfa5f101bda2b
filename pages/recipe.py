"""The recipe: how a transformer is trained (L9)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.recipe import adam, forcing, in_training, rates, targets, tasks


def draw(here: Lesson) -> None:
    lesson.tabs(
        "recipe",
        {
            "Teacher forcing": (
                "At every place the model reads the true text so far and is asked for the next token. What does each "
                "cost?",
                lambda: forcing.forcing(here),
                here.asks("At which place is the model surprised most?"),
            ),
            "Three tasks": (
                "One text, three tasks that need no labels. The boxes that stand out are marks that hide something.",
                lambda: tasks.tasks(here),
            ),
            "Learning rate": (
                "How long is a step? It rises first, then falls.",
                rates.schedules,
            ),
            "Warm-up": (
                "Four runs with the same high learning rate. Which of them fails?",
                rates.warm_up,
                "Post-norm or pre-norm, with warm-up or without: which of the four runs fails?",
            ),
            "Adam": (
                "Two ways down into a valley that is steep across and flat along. Push the start.",
                adam.going_down,
            ),
            "Label smoothing": (
                "The target is not quite certain: a share ε of it lies on all entries of the vocabulary.",
                lambda: targets.smoothed(here),
            ),
            "Calibration": (
                "A guess that a model calls 80% probable should be right in 80% of cases. Is it?",
                targets.calibration,
                "Is a model that learned its text by heart too sure of itself, or not sure enough?",
            ),
            "Dropout": (
                "The same sentence ten times, each time with other numbers left out. How far do the predictions "
                "scatter?",
                lambda: in_training.dropout(here),
            ),
            "Gradients": (
                "How hard does your sentence pull at each layer, before training and now?",
                lambda: in_training.gradients(here),
            ),
        },
    )


lesson.page(
    "The recipe",
    "What is a transformer asked in training, and which steps make it better at that?",
    draw,
    uses="model",
)
