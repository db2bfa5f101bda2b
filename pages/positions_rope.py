"""RoPE and biases: schemes that let attention see how far apart two words are, not where they stand (L7)."""

from tfmviz.ui import compare_menu, lesson, scheme_comparison
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.rope import biases, distance, spectrum, turning
from tfmviz.ui.rope.subject import of_scheme
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    if compare_menu.is_requested(compare_menu.SCHEMES):
        scheme_comparison.side_by_side(ctx, ("rope", "alibi"))
        return

    tabs(
        "scheme",
        ctx,
        Tab(
            "Turning",
            of_scheme("rope", turning.turned),
            "RoPE turns pairs of coordinates, q's by i · θ and k's by j · θ.",
            "Both arrows move on by one token. What happens to q · k?",
            aliases={"Two layouts": {}},
        ),
        Tab(
            "Same distance",
            of_scheme("rope", distance.same_distance, whose=False),
            "",
            "Do scores change when both words come later?",
            inputs=("model", "kind", "head"),
        ),
        Tab(
            "Wavelengths",
            of_scheme("rope", spectrum.wavelengths, whose=False),
            "Each pair turns like a clock hand: the first races, the last hardly moves.",
            "How long until the slowest pair has turned once?",
            inputs=("text", "model"),
        ),
        Tab(
            "Decay",
            of_scheme("rope", spectrum.decay),
            "",
            "Do scores become smaller with distance?",
        ),
        Tab(
            "Biases",
            biases.biases,
            "A number that depends on distance is added to every score: ALiBi's is fixed, T5's trained.",
            "Which head sees furthest back?",
            aliases={"ALiBi": {"bias": "ALiBi"}, "T5 buckets": {"bias": "T5 buckets"}, "Shaw": {"bias": "Shaw"}},
        ),
    )


lesson.page(
    "These schemes act through the *distance* between two words, i − j.",
    draw,
    toolbar=compare_menu.toolbar(compare_menu.SCHEMES),
)
