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
                "The same two words elsewhere, equally far apart.",
                of_scheme(here, "rope", distance.same_distance, whose=False),
                "Do scores change when both words come later?",
            ),
            "Wavelengths": (
                "Every pair is the hand of a clock: the first is fast, the last hardly moves.",
                of_scheme(here, "rope", spectrum.wavelengths, whose=False),
                "How long until the slowest pair has turned once?",
            ),
            "Decay": (
                "The paper's argument, and what is measured.",
                of_scheme(here, "rope", spectrum.decay),
                "Do scores become smaller with distance?",
            ),
            "Two layouts": (
                "A pair: two neighbours in the paper, one from each half in much code.",
                of_scheme(here, "rope", turning.layouts),
            ),
            "Biases": (
                "A number for the distance joins every score: ALiBi's is fixed, T5's trained.",
                lambda: biases.biases(here),
                "Which head sees furthest back?",
            ),
            "Shaw": (
                "Shaw et al. learn a vector for every distance up to k.",
                lambda: biases.shaw(here.trace.axes(here.choice.layer)[0].tokens),
            ),
        },
        earlier={"ALiBi": ("Biases", {"bias": "ALiBi"}), "T5 buckets": ("Biases", {"bias": "T5 buckets"})},
        needs={
            "Same distance": ("model", "kind", "head"),
            "Wavelengths": ("text", "model"),
            "Shaw": ("text", "model", "kind"),
        },
    )


lesson.page(
    "These schemes act where two words meet, through their *distance* i − j.",
    draw,
    along=beside.along(beside.SCHEMES),
)
