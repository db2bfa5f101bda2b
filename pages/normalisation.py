"""Normalisation: which numbers are averaged, and why transformers normalise each token separately (L6)."""

from tfmviz.ui import compare_menu, lesson
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.normalisation import facts, groups
from tfmviz.ui.tabs import Tab, tabs


def draw(ctx: PageContext) -> None:
    tabs(
        "about",
        ctx,
        Tab(
            "Which numbers share a mean?",
            groups.groups,
            f"{facts.WHEN[ctx.model.config.norm.position]} every layer the model normalises. Each frame holds "
            f"numbers that share a mean, before layer {ctx.choice.layer_index}.",
            "What ends up on one scale: rows or columns?",
            aliases={"Who shares a mean?": {}},
            differs=facts.apart,
        ),
        Tab(
            "Add another sentence",
            groups.company,
            "Should another sentence in the batch change yours?",
            "Which norms change your sentence's vectors?",
            aliases={"Another sentence joins": {}},
        ),
        Tab(
            "Age and tuition",
            lambda _: facts.scaling(),
            "Without scaling, only large numbers count.",
            "Which two students are most alike?",
            inputs=(),
        ),
        Tab("γ and β", facts.learned, "What training did to this model's γ and β."),
        Tab(
            "Norm before or after?",
            lambda _: facts.gradients(),
            "Norm(x + f(x)) as in 2017, or x + f(Norm(x)) as today? Compare the initial gradients.",
            "Which layers have the larger initial gradients?",
            inputs=(),
        ),
        ctx_b=compare_menu.other(ctx, compare_menu.SENTENCES_AND_MODELS),
    )


lesson.page(
    "LayerNorm and RMSNorm average over one token's coordinates, BatchNorm over one coordinate of the batch.",
    draw,
    inputs=("text", "model", "kind", "layer"),
    toolbar=compare_menu.toolbar(compare_menu.SENTENCES_AND_MODELS),
)
