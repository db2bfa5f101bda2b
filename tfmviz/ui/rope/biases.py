"""ALiBi, T5 and Shaw: what schemes that act by distance add to the scores of the reader's sentence."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import rotations
from tfmviz.analysis.predictions import softmax
from tfmviz.constants import N_BUCKETS
from tfmviz.plots import rotations as figures
from tfmviz.record.trace import Array
from tfmviz.ui import icons, lesson
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.pairs import show_both
from tfmviz.ui.rope.subject import Subject, of_scheme
from tfmviz.words import markdown
from tfmviz.words.labels import visible

FARTHEST = 160
"""Largest distance for which T5's biases are drawn; the last bucket begins well before."""


def biases(here: Lesson) -> None:
    lesson.either(
        "Scheme",
        "bias",
        {
            "ALiBi": of_scheme(here, "alibi", added, slopes),
            "T5 buckets": of_scheme(here, "t5", added, t5_biases, t5_buckets),
            "Shaw": lambda: shaw(here.trace.axes(here.choice.layer)[0].tokens),
        },
    )


def slopes(shown: Subject) -> None:
    from tfmviz.positions import alibi

    own = shown.model.config.attention.n_heads
    n_heads = lesson.line("slopes").slider("Heads H", 1, 32, min(own, 32), key="n_slopes", bind="query-params")
    found = alibi.slopes(n_heads).numpy()
    show(
        "slopes",
        figures.lines(
            np.arange(n_heads),
            {f"slopes of {n_heads} heads": found},
            x_title="head",
            y_title="slope: bias per token of distance",
            scale="log",
            theme=theme(),
        ),
        alt="; ".join(f"head {head}: {slope:.4g}" for head, slope in enumerate(found)),
    )
    power = 2 ** int(np.log2(n_heads))
    st.markdown(
        f"H = {n_heads} is a power of two: slope 2^(−8h/H) for h = 1 … H."
        if power == n_heads
        else f"H = {n_heads} is not a power of two: the first {power} slopes are those of {power} heads, the others "
        f"every second of {2 * power} (Press et al. 2022)."
    )


def added(shown: Subject) -> None:
    q, k, after = (shown.of_head(site) for site in ("q", "k", "scores"))
    weights = shown.model.weights.attention(shown.layer)
    before, bias, mask = weights.scores(q, k), _biases(shown, len(shown.tokens))[shown.head].astype(float), shown.mask
    row = shown.query
    product = "q · k / √d" if weights.divided_by else "q · k"  # T5's own models divide by nothing
    show(
        "bias_tiles",
        figures.score_tiles({product: before, "+ bias": bias, "= scores": after}, mask, tokens=shown.tokens, row=row),
    )
    shares = [softmax(np.where(mask, scores, -np.inf)[row]) for scores in (before, after)]
    series = ("without the bias", "with it")
    show_both(shown.tokens, *shares, series=series, title="share of attention", key="bias_row")
    reach = [float(share @ np.abs(row - np.arange(len(share)))) for share in shares]
    st.markdown(
        f"Token {row}, “{markdown.plain(visible(shown.tokens[row]))}”, looks {reach[0]:.1f} tokens away on average "
        f"without the bias, **{reach[1]:.1f}** with it."
    )


def _biases(shown: Subject, length: int) -> Array:
    """(head, length, length)."""
    bias = shown.model.position_effects(shown.layer, length).bias
    assert bias is not None, "`subject` has chosen a model whose scheme adds a bias"
    return bias


def t5_biases(shown: Subject) -> None:
    by_distance = _biases(shown, FARTHEST + 1)[:, -1, ::-1]  # the last query looks at keys 0, 1, 2 … tokens away
    distances = np.arange(FARTHEST + 1)
    bucket = _buckets(distances, both_ways=False)
    drawn = {f"head {head}": values for head, values in enumerate(by_distance)}
    show(
        "t5_biases",
        figures.lines(
            distances,
            drawn,
            x_title="distance i − j",
            y_title="bias",
            mark=(shown.trained_on - 1, "trained\nup to here"),
            theme=theme(),
        ),
        alt="; ".join(
            f"{name}: {values[0]:.2f} at 0, {values[1]:.2f} at 1, {values[15]:.2f} at 15"
            for name, values in drawn.items()
        ),
    )
    met = np.unique(bucket[: shown.trained_on])
    unmet = (
        f"{markdown.code(shown.model.name)} met buckets {met[0]} to {met[-1]}; the others still hold random numbers."
    )
    st.markdown("One trained number per head and bucket. " + unmet * bool(met[-1] < N_BUCKETS - 1))


def t5_buckets(shown: Subject) -> None:
    """Which pairs of the sentence's tokens share a bias."""
    kinds = ("looks back (decoder)", "both ways (encoder)")
    line = lesson.line("buckets")
    kind = line.segmented_control("Buckets", kinds, default=kinds[0], key="buckets", bind="query-params") or kinds[0]
    both_ways = kind == kinds[1]
    position = np.arange(len(shown.tokens))
    found = _buckets(position[:, None] - position, both_ways=both_ways)
    mask = np.ones(found.shape, dtype=bool) if both_ways else np.tri(len(position), dtype=bool)
    show(
        "t5_buckets",
        figures.class_map(found, tokens=shown.tokens, title="bucket", mask=mask),
        alt="Buckets of the last row: " + ", ".join(str(n) for n in found[-1]),
    )
    by_distance = _buckets(np.arange(FARTHEST), both_ways=both_ways)
    exact = int(np.flatnonzero(np.diff(by_distance) == 0)[0])  # the first that shares its bucket with a farther one
    last = int(np.flatnonzero(by_distance == by_distance[-1])[0])
    st.markdown(
        f"Distances 0 to {exact - 1} have a bucket each; farther ones share, and from {last} on all use the last."
        + (" Keys to the right have their own." if both_ways else "")
    )


def _buckets(distance: Array, *, both_ways: bool) -> Array:
    import torch

    from tfmviz.positions.t5 import buckets

    return buckets(torch.from_numpy(distance), bidirectional=both_ways).numpy()


def shaw(tokens: tuple[str, ...]) -> None:
    line = lesson.line("shaw")
    clip = line.slider("k: farther keys share a vector", 1, 16, 4, key="clip", bind="query-params")
    found = rotations.relative_index(len(tokens), len(tokens), clip=clip)
    show(
        "shaw",
        figures.class_map(found, tokens=tokens, title="index of R", mask=np.ones(found.shape, dtype=bool)),
        alt="Indices of the last row: " + ", ".join(str(n) for n in found[-1]),
    )
    st.markdown(
        "Shaw et al. learn a vector for every distance up to k. "
        f"A cell picks one of **{2 * clip + 1} learned vectors** R: score = q · (k + R[clip(j − i, −{clip}, "
        f"{clip}) + {clip}]) / √d. Unlike a bias, it depends on the query."
    )
    st.info("No model here was trained with Shaw's vectors (Shaw et al. 2018).", icon=icons.INFO)
