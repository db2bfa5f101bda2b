"""RoPE and biases: schemes that let attention see how far apart two words are, not where they stand (L7)."""

from tfmviz.ui import beside, duel, lesson
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.rope import biases, distance, spectrum, turning
from tfmviz.ui.rope.subject import of_scheme


def draw(here: Lesson) -> None:
    if beside.asks(beside.SCHEMES):
        duel.side_by_side(here, ("rope", "alibi"))
        return

    lesson.tabs(
        "scheme",
        {
            "Turning": (
                "RoPE turns pairs of coordinates, q's by i · θ and k's by j · θ.",
                of_scheme(here, "rope", turning.turned),
                "Both arrows move on by one token. What happens to q · k?",
            ),
            "Same distance": (
                "",
                of_scheme(here, "rope", distance.same_distance, whose=False),
                "Do scores change when both words come later?",
            ),
            "Wavelengths": (
                "Each pair turns like a clock hand: the first races, the last hardly moves.",
                of_scheme(here, "rope", spectrum.wavelengths, whose=False),
                "How long until the slowest pair has turned once?",
            ),
            "Decay": (
                "",
                of_scheme(here, "rope", spectrum.decay),
                "Do scores become smaller with distance?",
            ),
            "Biases": (
                "A number that depends on distance is added to every score: ALiBi's is fixed, T5's trained.",
                lambda: biases.biases(here),
                "Which head sees furthest back?",
            ),
        },
        earlier={
            "ALiBi": ("Biases", {"bias": "ALiBi"}),
            "T5 buckets": ("Biases", {"bias": "T5 buckets"}),
            "Shaw": ("Biases", {"bias": "Shaw"}),
            "Two layouts": ("Turning", {}),
        },
        needs={
            "Same distance": ("model", "kind", "head"),
            "Wavelengths": ("text", "model"),
        },
    )


lesson.page(
    "These schemes act through the *distance* between two words, i − j.",
    draw,
    along=beside.along(beside.SCHEMES),
)
