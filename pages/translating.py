"""Translating: an encoder reads a sentence, and a decoder writes its translation word by word (L8)."""

from tfmviz.ui import beams, compare_menu, lesson, models, translating
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import Tab, either, tabs
from tfmviz.ui.translating import references, what_if


def draw(ctx: PageContext) -> None:
    if ctx.model.config.architecture != "encoder-decoder":
        models.needed("french-english")
        return
    if ctx_b := compare_menu.other(ctx, compare_menu.WITHOUT_HEADS, alike=True):
        ctx, ctx_b = translating.crossing_of(ctx), translating.crossing_of(ctx_b)
    else:
        translating.say(ctx)

    tabs(
        "translation",
        ctx,
        Tab(
            "Word by word",
            translating.draw,
            "The decoder writes one word at a time; the small word is the one it has just read.",
            "Which source word will each word of the translation look at?",
            differs=translating.apart,
            aliases={"The encoder": {"heads": "one head"}},
        ),
        Tab(
            "Beam search",
            either(
                "Show",
                "shown_trees",
                {"One tree": lambda ctx: beams.search(ctx, longest=40), "Two trees": what_if.two_trees},
            ),
            "Several translations grow side by side.",
            intact=True,
            inputs=("text", "model"),
            aliases={"Beam search": {"shown_trees": "One tree"}, "Two trees": {"shown_trees": "Two trees"}},
        ),
        Tab(
            "What if",
            what_if.compare,
            "Change a word of the source, or what one step looks at.",
            alone="This tab compares two translations already.",
            inputs=("text", "model", "layer"),
        ),
        Tab(
            "Forced words",
            either(
                "Force", "force", {"Force the beginning": references.beginning, "Teacher forcing": references.losses}
            ),
            "The decoder reads your words instead of its own.",
            intact=True,
            inputs=("text", "model"),
            aliases={
                "Force the beginning": {"force": "Force the beginning"},
                "Teacher forcing": {"force": "Teacher forcing"},
            },
        ),
        Tab(
            "All translators",
            translating.compare,
            "Rows are output words, columns source words.",
            "Which translators look at one word at a time?",
        ),
        Tab(
            "References",
            references.compare,
            "How much of the model's translation appears in yours?",
            inputs=("text", "model"),
        ),
        ctx_b=ctx_b,
    )


lesson.page(
    "",
    draw,
    architecture="encoder-decoder",
    inputs=("text", "model", "layer", "head"),
    toolbar=compare_menu.toolbar(compare_menu.WITHOUT_HEADS, of=("encoder-decoder",)),
)
