"""The table of four kinds of layers, with numbers filled in, and how each entry comes about."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis.complexity import KINDS, Kind, Sizes
from tfmviz.ui import controls, lesson
from tfmviz.ui.figures import show_table
from tfmviz.views.counts import Table
from tfmviz.words.numbers import in_words, per_cent

DERIVATIONS = {
    "self-attention": (
        "Each of the n queries meets each of the n keys, and a product q · k of vectors of width d takes d "
        "multiplications: **n · n · d**. The pattern times the values takes as many again: 2 · n² · d. The order "
        "leaves out the 2, and the table the four projections (4 · n · d²) that every kind of attention has.",
        "All scores are independent of each other: one matrix product gives them all. **1** step.",
        "Every token looks at every other one directly. **1** layer.",
    ),
    "recurrent": (
        "hᵢ = f(W xᵢ + U hᵢ₋₁): two products with a d × d matrix for each of n tokens, **2 · n · d²**.",
        "hᵢ needs hᵢ₋₁, so the n tokens wait for one another: **n** steps, however many processors there are.",
        "What the first token says reaches the last through all states between them: **n** steps.",
    ),
    "convolution": (
        "For every token the vectors of k neighbours are each multiplied by a d × d matrix of their own: "
        "**k · n · d²**.",
        "No position needs the result of another: **1** step.",
        "One layer joins k neighbours. If each layer's kernel reaches k times as far as the one before (a dilated "
        "convolution), the reach is k, k², k³ …: **log_k n** layers. Without dilation it would be about n / (k − 1).",
    ),
    "restricted attention": (
        "As self-attention, but each of the n queries meets r keys only: **2 · r · n · d** with the values.",
        "Windows do not wait for one another: **1** step.",
        "If the r keys are those before the query, a layer carries news r tokens further, so about **n / r** layers "
        "until the ends have met. If they lie on both sides, it is r / 2 tokens and twice as many layers.",
    ),
}
"""How the three entries of a row come about: cost, steps, path."""


def table() -> None:
    """The table and, for the chosen row, where its entries come from."""
    line = lesson.line("sizes")
    sizes = _sizes(line)
    counts = [kind.multiplications(sizes) for kind in KINDS]
    names = [kind.name for kind in KINDS]
    asked = st.query_params.get("row", "")
    picked = names.index(asked) if asked in names else 0
    show_table(
        Table(
            caption=f"One layer on a text of n = {sizes.n:,} tokens, each a vector of width d = {sizes.d:,}.",
            columns=("layer", "order", "steps in sequence", "longest path", "multiplications"),
            rows=[_row(kind, sizes, count) for kind, count in zip(KINDS, counts, strict=True)],
            shares=[count / max(counts) for count in counts],
            spared=(2,),
            picked=picked,
        ),
        key="table",
        on_pick=lambda row: controls.put({"row": names[row]}),
    )
    for column, title, words in zip(
        st.columns(3), ("Multiplications", "Steps in sequence", "Longest path"), DERIVATIONS[names[picked]], strict=True
    ):
        column.markdown(f"**{title}, {names[picked]}.** {words}")
    st.markdown(_verdict(sizes))
    st.caption("After table 1 of Vaswani et al. 2017. The bars compare the multiplications of the four layers.")


def _sizes(line: st.delta_generator.DeltaGenerator) -> Sizes:
    chosen = {}
    for key, label, options, start in (
        ("n", "Tokens n", [2**p for p in range(3, 18)], 512),
        ("d", "Width d", [2**p for p in range(4, 15)], 512),
        ("k", "Kernel k", [3, 5, 7, 9, 15, 31], 3),
        ("r", "Neighbours r", [2**p for p in range(2, 13)], 64),
    ):
        name = f"size_{key}"
        chosen[key] = line.select_slider(label, options, start, key=name, bind="query-params")
    return Sizes(**chosen)


def _row(kind: Kind, sizes: Sizes, count: int) -> tuple[str, ...]:
    return (kind.name, kind.order, f"{kind.steps(sizes):,}", f"{kind.path(sizes):,}", in_words(count))


def _verdict(sizes: Sizes) -> str:
    """Attention against recurrence, in words."""
    attention, recurrent, *_, restricted = (kind.multiplications(sizes) for kind in KINDS)
    ratio = attention / recurrent
    if ratio == 1:
        said = "n = d, so self-attention and a recurrent layer multiply equally often"
    else:
        more = max(ratio, 1 / ratio)
        few, many = ("self-attention", "a recurrent layer") if ratio < 1 else ("a recurrent layer", "self-attention")
        sign = "<" if ratio < 1 else ">"
        said = f"n {sign} d, so {few} multiplies less: {many} needs {more:,.3g} times as much"
    return f"{said[0]}{said[1:]}. Restricted attention needs {per_cent(restricted / attention)} of full attention."
