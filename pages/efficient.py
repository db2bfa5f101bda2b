"""Efficient attention: cheaper ways to attend beside the exact one, on your text, and what they cost (L10)."""

from tfmviz.ui import lesson
from tfmviz.ui.efficient import few_pairs, low_rank, same_numbers, together, trained
from tfmviz.ui.lesson import Lesson


def draw(here: Lesson) -> None:
    lesson.tabs(
        "method",
        {
            "Sparse": (
                "Most pairs are left out. Compare the head as it is (left) with what is kept (right): does it lose "
                "the pairs that matter?",
                lambda: few_pairs.sparse_masks(here),
                "How much of this head's attention lies within three tokens?",
            ),
            "Linformer": (
                "Keys and values are mixed along the text to k rows, so the pattern has k columns instead of n.",
                lambda: low_rank.projected(here),
            ),
            "Reformer": (
                "Queries meet only keys in the same bucket. Random rotations sort near directions into one bucket.",
                lambda: few_pairs.hashed(here),
                "How many of the strongest keys will four buckets catch?",
            ),
            "Linear": (
                "φ(q) · φ(k) takes the place of exp(q · k), so keys and values are summed before a query comes.",
                lambda: low_rank.linear(here),
                "What becomes of a sharp head without the exponential?",
            ),
            "Performer": (
                "Random features estimate exp(q · k). The chart below says how many it takes for the right pattern to "
                "be like the left one.",
                lambda: low_rank.performer(here),
            ),
            "Tiles": (
                "Exact attention without ever storing the pattern: the softmax is corrected as the tiles come in.",
                lambda: same_numbers.tiled(here),
            ),
            "State space": (
                "A recurrence that is also a convolution. Its kernel, on the right, is like a head that ignores the "
                "words.",
                lambda: same_numbers.state(here),
            ),
            "Shared heads": (
                "Several heads share keys and values (grouped queries), which makes the cache smaller.",
                lambda: same_numbers.shared_heads(here),
            ),
            "Trained with it": (
                "Here nothing is patched in: three models learned with a cheaper attention from the start. How far "
                "back does each head look (left: the twin that sees every pair)?",
                lambda: trained.twins(here),
                "Will a model that never sees more than eight tokens at once predict much worse?",
            ),
            "All of them": (
                "Every method on this head and your text, with the settings that the tabs open with.",
                lambda: together.table(here),
                "Which method changes the prediction least?",
            ),
            "Measured": (
                "The same methods on longer and longer texts: how often they multiply, and how long they take here.",
                lambda: together.times(here),
                "Will the method that multiplies least also be the fastest?",
            ),
        },
    )


lesson.page(
    "Efficient attention",
    "The chosen head computed more cheaply: what changes in its pattern and in the prediction, and what it saves.",
    draw,
)
