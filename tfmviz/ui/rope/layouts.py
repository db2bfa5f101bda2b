"""Which two coordinates make a pair: neighbours, or one from each half."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import rotations
from tfmviz.plots import rotations as figures
from tfmviz.ui.figures import show_cells
from tfmviz.ui.rope.subject import Subject, own_theta
from tfmviz.words.numbers import tiny


def layouts(shown: Subject) -> None:
    q, k = shown.of_head("q"), shown.of_head("k")
    order = rotations.halves_order(q.shape[-1])
    by = rotations.angles(np.arange(len(q)), own_theta(shown))
    ours = [rotations.turn_pairs(x, by) for x in (q, k)]
    theirs = [rotations.turn_halves(x[:, order], by) for x in (q, k)]
    mixed = [rotations.turn_halves(x, by) for x in (q, k)]
    show_cells(
        figures.layouts(rotations.halves_order(min(8, len(order)))),
        key="layouts",
        alt="Neighbours: 0 and 1 turn together, 2 and 3, and so on. Halves: even coordinates in the first half, odd "
        "ones in the second.",
    )
    scores = [a @ b.T for a, b in (ours, theirs, mixed)]
    reordered, wrong = (float(np.abs(scores[0] - other).max()) for other in scores[1:])
    st.markdown(f"With the vectors reordered too, q · k changes by {tiny(reordered)}: a sum has no order.")
    st.markdown(f"But weights stored for neighbours and run as halves change it by up to **{wrong:.2f}**.")
    st.caption("Neighbours: the paper, RoFormer, this project. Halves: GPT-NeoX, LLaMA in `transformers`.")
