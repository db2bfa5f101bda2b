"""RoPE and biases: schemes that let attention see how far apart two words are, not where they stand (L7)."""

from tfmviz.ui import lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.rope import biases, distance, layouts, spectrum, turning
from tfmviz.ui.rope.subject import of_scheme


def draw(here: Lesson) -> None:
    lesson.tabs(
        "scheme",
        {
            "Turning": (
                "RoPE turns two coordinates of q, an arrow, by i · θ, and the same two of k by j · θ. Slide both "
                "together: the angle between them stays, and so does q · k. Slide one: both change.",
                of_scheme(here, "rope", turning.arrows, turning.lengths),
                "Both arrows move on by one token. What happens to q · k?",
            ),
            "Same distance": (
                "The same two words stand at other positions but equally far apart. With RoPE their score should not "
                "change. (Both texts get a space in front, so that a word is the same token in both.)",
                of_scheme(here, "rope", distance.same_distance, whose=False),
                "Do the scores of the two words change when they stand later in the text?",
            ),
            "Wavelengths": (
                "Every pair of coordinates is the hand of a clock: the first turns fast, the last hardly moves.",
                of_scheme(here, "rope", spectrum.wavelengths, whose=False),
                "After how many tokens has the slowest pair turned once?",
            ),
            "Decay": (
                "Do scores become smaller with distance? The paper's argument, and what is measured.",
                of_scheme(here, "rope", spectrum.decay),
                "Do scores become smaller with distance?",
            ),
            "Two layouts": (
                "Which two coordinates are a pair? The paper takes neighbours, much code takes one from each half. The "
                "numbers are coordinates, the colours pairs.",
                of_scheme(here, "rope", layouts.layouts),
            ),
            "ALiBi": (
                "ALiBi adds −slope · |i − j| to every score: far keys count less, and each head has its own slope.",
                of_scheme(here, "alibi", biases.added, biases.slopes),
                "Which head sees furthest back?",
            ),
            "T5 buckets": (
                "T5 adds a trained number that depends on the bucket the distance falls into.",
                of_scheme(here, "t5", biases.added, biases.t5_biases, biases.t5_buckets),
                "From which distance on are all tokens in one bucket?",
            ),
            "Shaw": (
                "Shaw et al. give every distance, up to k in both directions, a learned vector.",
                lambda: biases.shaw(here.trace.axes(here.choice.layer)[0].tokens),
            ),
        },
    )


lesson.page(
    "RoPE and biases: positions inside attention",
    "These schemes act where two words meet, and all depend on their *distance* i − j.",
    draw,
)
