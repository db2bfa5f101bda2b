"""How a circuit of two heads was born, where weights were kept during the training."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import streamlit as st

from tfmviz.analysis.biography.birth import Birth, Head
from tfmviz.plots import learning
from tfmviz.ui import models
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words.numbers import decimal, per_cent


def born(here: Lesson) -> None:
    book = models.book(here.model)
    if book is None or book.pair is None or not book.birth:
        return
    earlier, later = (name(head) for head in book.pair)
    st.markdown(f"**How {earlier} and {later} came to work together.** {_in_words(book.birth)}")
    steps = np.array([one.step for one in book.birth], dtype=float)

    def over(what: str) -> np.ndarray:
        return np.array([getattr(one, what) for one in book.birth])

    chance = math.log(here.model.config.vocab_size)
    chart = learning.forming(
        steps,
        losses={"5th token of a story": over("fifth"), "50th": over("fiftieth")},
        heads={
            f"composition with the keys of {later}": {f"head {earlier}": over("composition")},
            "attention to the token before": {f"head {earlier}": over("previous")},
            "attention to what followed the same token": {f"head {later}": over("induction")},
        },
        level=(chance, f"pure chance, log V = {chance:.2f}"),
        now=book.birth[-1].step,
        theme=theme(),
    )
    alt = "; ".join(
        f"step {one.step:,}: composition {one.composition:.2f}, token before {per_cent(one.previous)}, induction "
        f"{per_cent(one.induction)}, 50th token less 5th {decimal(one.fiftieth - one.fifth, '+.2f')} nats"
        for one in book.birth
    )
    show(chart, key="birth", alt=alt)


def _in_words(birth: tuple[Birth, ...]) -> str:
    back = next((one.step for one in birth if one.previous >= 0.5), None)
    copies = next((one.step for one in birth if one.induction >= 0.5), None)
    if back is None or copies is None:
        return "They do not copy yet."
    last = birth[-1]
    before = next((one for one, after in pairwise(birth) if after.step == copies), birth[0])
    return (
        f"From step {back:,} on the first looks at the token before, from step {copies:,} on the second at what "
        f"followed the same token. At step {before.step:,} and at the end, random tokens cost less the second time by "
        f"{_gain(before.first, before.again)} and {_gain(last.first, last.again)} nats, a story's 50th token than its "
        f"5th by {_gain(before.fifth, before.fiftieth)} and {_gain(last.fifth, last.fiftieth)}."
    )


def _gain(dear: float, cheap: float) -> str:
    return f"**{decimal(dear - cheap, '.2f')}**"


def name(head: Head) -> str:
    return f"{head[0].split('.')[1]}.{head[1]}"
