from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
import streamlit as st

from tfmviz.analysis import rotations
from tfmviz.analysis.position_terms import along_diagonals
from tfmviz.constants import BASE
from tfmviz.plots.lines import Axes, over
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_columns, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.rope.subject import of_head, own_base, own_theta, tokens_of
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, per_cent

N_RANDOM = 2_000
"""Random vectors whose products are averaged."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Spectrum:
    """The reader's frequencies, of the pairs that turn.

    Attributes:
        theta: (pair,), as trained.
        stretched: (pair,), for longer texts; equal to `theta` if nothing is stretched.
        n_still: how many further pairs do not turn.
        label: the method of stretching; "" without.
        scale: length of the texts over that in training.
    """

    theta: Array
    stretched: Array
    n_still: int
    label: str
    scale: int

    @property
    def whole(self) -> Array:
        """(d_head / 2,), `stretched` of all pairs: 0 for those that do not turn."""
        return np.append(self.stretched, np.zeros(self.n_still))


def spectrum(shown: PageContext, d_head: int) -> Spectrum | None:
    """Draws the choice of base and stretching; a note and None if there are no frequencies.

    Without a base, θ is the model's, or its base's for another width.
    """
    import torch

    from tfmviz.positions import rope

    own = own_base(shown)
    line = lesson.control_row("spectrum")
    base = inputs.number_box(
        "Base",
        line=line,
        value=None,
        step=1000.0,
        format="%g",
        placeholder="the model's own" if own is None else f"{own:,.0f}",
        key="rope_base",
    )
    kind = inputs.radio("For longer texts", get_args(rope.Stretching), horizontal=True, key="stretch", line=line)
    scale = inputs.slider("Times as long", 1, 32, 4, key="stretch_by", line=line)
    try:
        if base is None and d_head == shown.model.config.d_head:
            theta = own_theta(shown)
        else:
            theta = rope.frequencies(d_head, base=base if base is not None else own or BASE).numpy()
        turning = theta[theta > 0]
        stretched = rope.stretched(torch.from_numpy(turning), scale=scale, stretching=kind).numpy()
    except ValueError as error:
        st.error(markdown.plain(str(error)))
        return None
    return Spectrum(
        theta=turning,
        stretched=stretched,
        n_still=len(theta) - len(turning),
        label="" if kind == "none" else f"{kind}, × {scale}",
        scale=scale,
    )


def wavelengths(shown: PageContext) -> None:
    own = shown.trace[f"{shown.choice.layer}.q"].shape[-1]
    with lesson.control_row("wavelengths"):
        d_head = inputs.number_box("Head size d", key="d_head", value=own, max_value=1024)
        position = inputs.number_box("A position i", key="at_position", value=len(tokens_of(shown)) - 1)
    chart, table = st.columns([3, 2])
    chosen = spectrum(shown, int(d_head))
    if chosen is None:
        return
    try:
        turns = rotations.angles(np.array([position]), chosen.stretched)[0] / (2 * np.pi)
    except ValueError as error:
        st.error(markdown.plain(str(error)))
        return
    drawn = {"wavelength": 2 * np.pi / chosen.theta}
    drawn |= {chosen.label: 2 * np.pi / chosen.stretched} if chosen.label else {}
    n_pairs, trained = len(chosen.theta), shown.model.config.trained_on
    n_round = int((drawn["wavelength"] <= trained).sum())
    with chart:
        axes = Axes("pair m", "positions per full turn", log=True)
        mark = (n_round - 0.5, "less than\none turn →") if n_round < n_pairs else None
        show("wavelengths", over(np.arange(n_pairs), drawn, axes, mark=mark, theme=theme()))
        result(f"**{n_round} of {n_pairs} pairs** complete a turn within the {trained} training positions.")
    with table:
        show_columns(
            "pairs",
            {
                "pair m": [str(m) for m in range(len(turns))],
                "θ, radians per position": [f"{value:.4g}" for value in chosen.stretched],
                "wavelength 2π/θ": [f"{value:,.4g}" for value in 2 * np.pi / chosen.stretched],
                f"turns at position {position}": [decimal(value, ",.4f") for value in turns],
            },
            caption="Every pair of coordinates.",
            low=True,
        )
    # The range of angles of the slowest and of the other pairs in longer texts, compared with training.
    partly, beyond = rotations.unmet(chosen.theta, chosen.stretched, trained=trained, scale=chosen.scale)
    last = chosen.scale * trained - 1
    far, known = np.degrees(last * chosen.stretched[-1]), np.degrees((trained - 1) * chosen.theta[-1])
    st.markdown(
        f"At position {last:,} the slowest pair has turned by **{far:,.1f}°** (in training up to "
        f"{known:,.1f}°). Of the {len(partly)} pairs that saw part of the circle, **{len(beyond)}** now go beyond it."
    )
    st.caption(
        "θ = base^(−2m/d). Position interpolation: θ / scale (Chen et al. 2023). NTK-aware: base · "
        f"scale^(d/(d − 2)) (Peng et al. 2023). {_own_frequencies(shown)}"
    )


def _own_frequencies(shown: PageContext) -> str:
    from tfmviz.positions.rope import frequencies

    name, theta, base = markdown.code(shown.model.name), own_theta(shown), own_base(shown)
    turning = theta[theta > 0]
    if base is None:
        return f"The angles of {name} have no single base; {len(turning)} of {len(theta)} pairs turn."
    slower = frequencies(2 * len(turning), base=base).numpy() / turning
    sentence = f"{name} has base {base:,.0f}, "
    n_slower = int((slower > 1 + 1e-4).sum())  # less is rounding
    sentence += (
        f"with {n_slower} of its pairs slowed down, up to {slower.max():.3g} times" if n_slower else "unstretched"
    )
    return (
        f"{sentence}; {len(theta) - len(turning)} of {len(theta)} pairs do not turn." if 0 in theta else f"{sentence}."
    )


@cached_for_all
def _random_products(theta: tuple[float, ...], reach: int) -> tuple[Array, Array]:
    return rotations.random_products(np.array(theta), np.arange(reach + 1), n=N_RANDOM, seed=0)


def decay(shown: PageContext) -> None:
    """The paper's bound, random vectors and the model's queries and keys against distance."""
    with lesson.control_row("decay"):
        reach = inputs.select_slider("Distances up to", (64, 128, 256, 512, 1024), 256, key="up_to")
    left, right = st.columns(2)
    chosen = spectrum(shown, shown.trace[f"{shown.choice.layer}.q"].shape[-1])
    if chosen is None:
        return
    distances = np.arange(reach + 1)
    theta_ = chosen.whole
    limit = rotations.relative_bound(theta_, distances)
    same, other = _random_products(tuple(theta_.tolist()), reach)
    drawn = {"the paper's bound": limit / limit[0], "random, k = q": same, "random, k unrelated": other}
    with left:
        axes = Axes("distance i − j", "relative to distance 0")
        show("decay", over(distances, drawn, axes, theme=theme()), title="The paper's bound")
    q, k, trained = of_head(shown, "q"), of_head(shown, "k"), shown.model.config.trained_on
    every, axes = "all pairs at every distance", Axes("distance i − j", "mean of q · k")
    anywhere = rotations.mean_of_all_pairs(q, k, theta_, distances)
    with right:
        mark = (trained - 1, "trained\nup to here") if trained <= reach else None
        chart = over(distances, {every: anywhere}, axes, mark=mark, theme=theme())
        show("own_decay_far", chart, title="Your words moved apart")
    st.markdown("With unrelated keys the mean is 0 everywhere (bound: Su et al. 2021).")
    by = rotations.angles(np.arange(len(q)), theta_)
    stands = along_diagonals(rotations.turn_pairs(q, by) @ rotations.turn_pairs(k, by).T)[0][: reach + 1]
    drawn = {"pairs actually at that distance": stands, every: anywhere[: len(stands)]}
    chart = over(np.arange(len(stands)), drawn, axes, theme=theme())
    show("own_decay", chart, title="Your words at their own positions")
    _own_bound(shown, theta_, distances)


def _own_bound(shown: PageContext, theta_: Array, distances: Array) -> None:
    query = shown.query
    key = max(query - 1, 0)
    q, k = of_head(shown, "q")[query], of_head(shown, "k")[key]
    limit = rotations.bound(q, k, theta_, distances)
    h = rotations.complex_pairs(q) * rotations.complex_pairs(k).conj()
    share = np.abs(rotations.by_distance(h, theta_, distances)) / limit
    names = [markdown.plain(quoted(tokens_of(shown))[n]) for n in (query, key)]
    result(
        f"For {names[0]} and {names[1]} |q · k| reaches {per_cent(share[1])} of the bound at distance 1, "
        f"and at most **{per_cent(share.max())}** overall."
    )
