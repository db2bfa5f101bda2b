from __future__ import annotations

import streamlit as st

from tfmviz.analysis.complexity import KINDS, Sizes
from tfmviz.ui import inputs, lesson, url
from tfmviz.ui.figures import result, show_table
from tfmviz.words.numbers import in_words, per_cent

DERIVATIONS = {
    "self-attention": (
        "Each of n queries meets each of n keys in d multiplications: **n · n · d**. The values take as many and the "
        "projections 4 · n · d²; neither is counted here.",
        "One matrix product gives all scores: **1** step.",
        "Every token looks at every other directly: **1** layer.",
    ),
    "recurrent": (
        "hᵢ = f(W xᵢ + U hᵢ₋₁): two d × d matrices for each of n tokens, **2 · n · d²**.",
        "hᵢ needs hᵢ₋₁: **n** steps.",
        "The first token reaches the last through every state in between: **n** steps.",
    ),
    "convolution": (
        "Each of a token's k neighbours has its own d × d matrix: **k · n · d²**.",
        "No position needs the result of another: **1** step.",
        "One layer spans k neighbours. If each further kernel reaches k times as far, it takes **log_k n** layers, "
        "otherwise about n / (k − 1).",
    ),
    "restricted attention": (
        "Like self-attention, but each query meets r keys: **2 · r · n · d** with the values.",
        "Windows do not wait for one another: **1** step.",
        "Information travels r tokens per layer: about **n / r** layers. With keys on both sides it is r / 2, so twice "
        "as many.",
    ),
}
"""Derivations of the three entries of a row: cost, steps, path."""


def table() -> None:
    line, chosen = lesson.control_row("sizes"), {}
    for key, label, options, start in (
        ("n", "Tokens n", [2**p for p in range(3, 18)], 512),
        ("d", "Width d", [2**p for p in range(4, 15)], 512),
        ("k", "Kernel k", [3, 5, 7, 9, 15, 31], 3),
        ("r", "Neighbours r", [2**p for p in range(2, 13)], 64),
    ):
        chosen[key] = inputs.select_slider(label, options, start, key=f"size_{key}", line=line)
    sizes = Sizes(**chosen)
    counts = [kind.multiplications(sizes) for kind in KINDS]
    names = [kind.name for kind in KINDS]
    picked = names.index(url.one_of("row", names, names[0]))
    show_table(
        "table",
        caption=f"One layer: n = {sizes.n:,} tokens, vectors of width d = {sizes.d:,}.",
        columns=("layer", "order", "steps in sequence", "longest path", "multiplications"),
        rows=[
            (kind.name, kind.order, f"{kind.steps(sizes):,}", f"{kind.path(sizes):,}", in_words(count))
            for kind, count in zip(KINDS, counts, strict=True)
        ],
        shares=[count / max(counts) for count in counts],
        picked=picked,
        on_pick=lambda row: url.put({"row": names[row]}),
    )
    for column, title, words in zip(
        st.columns(3), ("Multiplications", "Steps in sequence", "Longest path"), DERIVATIONS[names[picked]], strict=True
    ):
        column.markdown(f"**{title}, {names[picked]}.** {words}")
    result(_verdict(sizes))
    st.caption("After table 1 of Vaswani et al. 2017.")


def _verdict(sizes: Sizes) -> str:
    attention, recurrent, *_, restricted = (kind.multiplications(sizes) for kind in KINDS)
    if sizes.n == sizes.d:
        sentence = "n = d, so self-attention and a recurrent layer need equally many multiplications"
    else:
        if sizes.n < sizes.d:
            sign, few, many = "<", "self-attention", "a recurrent layer"
        else:
            sign, few, many = ">", "a recurrent layer", "self-attention"
        more = max(attention / recurrent, recurrent / attention)
        sentence = f"n {sign} d, so {few} is cheaper: {many} needs {more:,.3g} times as many multiplications"
    return f"{sentence}. Restricted attention needs {per_cent(restricted / attention)} of those of full attention."
