"""Attention step by step: how a head computes its numbers, from the sentence to what a layer writes (L3, L5)."""

from tfmviz.ui import compare_menu, lesson, live, models, steps
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.steps import biography, stages
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    ctx_b = compare_menu.other(ctx, compare_menu.WITH_HEADS)
    if not ctx_b:
        live.follow(ctx, "steps")
    tabs(
        "part",
        ctx,
        Tab("Stages", stages.stages, "", ctx.head_question),
        Tab(
            "Why √d?",
            steps.scaling_lab,
            "The longer the vectors, the larger their dot products by chance, until the softmax picks a "
            "single key. Dividing by √d prevents that.",
            "Double d: what happens to the largest attention weight?",
            inputs=(),
        ),
        Tab(
            "A fuzzy hash table",
            steps.lookup,
            "A hash table returns one value. Attention matches every key and mixes their values.",
            "How much comes from the best key alone?",
        ),
        Tab(
            "What heads add",
            steps.contributions,
            "Multiplied by $W_O$, the heads' outputs simply add up.",
            "Which head adds most for this token?",
        ),
        Tab(
            "Heads or their mean?",
            steps.average,
            "Heads attend to different things; averaging them blurs the picture.",
            "Is the mean sharper or more even than the heads?",
            inputs=("text", "model", "kind", "layer"),
        ),
        Tab(
            "Find a head",
            biography.biography,
            "Every head has a profile: hypotheses formed on some texts and tested on others.",
            "In which layers do heads rest on the first token?",
            inputs=("text", "model", "kind"),
            intact=models.book(ctx.model) is not None,
        ),
        Tab("The code", stages.code),
        ctx_b=ctx_b,
    )


lesson.page(
    "One head at work. Click any number to see how it was computed.",
    draw,
    toolbar=compare_menu.toolbar(compare_menu.WITH_HEADS),
)
