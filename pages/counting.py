"""Counting words: what a model can do that only knows how often words followed one another (L1)."""

from collections.abc import Callable
from dataclasses import replace

from tfmviz.ui import compare_menu, comparison, counting, guess, lesson
from tfmviz.ui.counting import Counting, probabilities, table
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    ctx_b = compare_menu.other(ctx, compare_menu.SENTENCES, whole=True)
    at = counting.choose(ctx)

    def of(part: Callable[[Counting], object]) -> Callable[[PageContext], object]:
        return lambda one: part(replace(at, typed=one.text))

    with guess.first("Which word comes next?", name="table"):
        comparison.either("table", ctx, ctx_b, of(table.table))

    tabs(
        "counted_in",
        ctx,
        Tab(
            "A whole sentence",
            of(probabilities.chain),
            "A sentence's probability is a product with one factor per word.",
            "Which word surprises the n-gram model most?",
            aliases={"The text": {}},
            differs=lambda both: probabilities.apart(at, both),
        ),
        Tab(
            "Write with it",
            of(table.writing),
            "Draw a word, append it, and draw the next.",
            "After how many words does it stop making sense?",
        ),
        Tab(
            "Never seen",
            of(probabilities.gaps),
            "The longer an n-gram, the less likely it was ever seen.",
            "How many n-grams of new text were never counted?",
        ),
        ctx_b=ctx_b,
    )
    counting.about(at)


lesson.page(
    "Count which words followed h, the previous n − 1 words. Click a row to see its sentences.",
    draw,
    inputs=("text",),
    toolbar=compare_menu.toolbar(compare_menu.SENTENCES),
)
