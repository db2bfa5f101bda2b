"""Efficient attention: cheaper ways to attend beside the exact one, on your text, and what they cost (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.efficient import few_pairs, low_rank, same_numbers, spaces, together, trained
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    plain = not here.model.config.attention.sink
    if there := lesson.stand_in(here, "a model without sinks", fits=plain, instead="twins-rope"):
        methods(there)


def methods(here: Lesson) -> None:
    lesson.tabs(
        "method",
        {
            "Few pairs": (
                "",
                lambda: lesson.either(
                    "Keep",
                    "few",
                    {
                        "Sparse": lambda: few_pairs.sparse_masks(here),
                        "Reformer": lambda: few_pairs.hashed(here),
                    },
                ),
                "How much of this head's attention lies within three tokens?",
            ),
            "Linformer": (
                "Keys and values are mixed into k rows, so the pattern has k columns instead of n.",
                lambda: low_rank.projected(here),
            ),
            "Running sums": (
                "Sums over the past replace the pairs, so generation needs no growing cache.",
                lambda: lesson.either(
                    "Sum",
                    "sums",
                    {
                        "Linear": lambda: low_rank.linear(here),
                        "Performer": lambda: low_rank.performer(here),
                        "State space": lambda: same_numbers.state(here),
                        "Trained state space": lambda: spaces.trained(here),
                    },
                ),
                "What happens to a sharp head without the exponential?",
            ),
            "Tiles": (
                "",
                lambda: same_numbers.tiled(here),
            ),
            "Shared heads": (
                "Heads that share keys and values need a smaller cache.",
                lambda: same_numbers.shared_heads(here),
            ),
            "Trained with it": (
                "",
                lambda: trained.twins(here),
                "Will a model whose layers see only eight tokens predict much worse?",
            ),
            "All of them": (
                "",
                lambda: lesson.either(
                    "Compare",
                    "compared",
                    {"On your text": lambda: together.table(here), "Measured": lambda: together.times(here)},
                ),
                "Which method changes the prediction least?",
            ),
        },
        earlier={
            "Sparse": ("Few pairs", {"few": "Sparse"}),
            "Reformer": ("Few pairs", {"few": "Reformer"}),
            "Linear": ("Running sums", {"sums": "Linear"}),
            "Performer": ("Running sums", {"sums": "Performer"}),
            "State space": ("Running sums", {"sums": "State space"}),
            "Trained state space": ("Running sums", {"sums": "Trained state space"}),
            "All of them": ("All of them", {"compared": "On your text"}),
            "Measured": ("All of them", {"compared": "Measured"}),
        },
        needs={"Trained with it": ("text",)},
    )


lesson.page("", draw)
