from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz.analysis import rotations
from tfmviz.analysis.predictions import softmax
from tfmviz.constants import CLIP, N_BUCKETS
from tfmviz.plots.cells import Cells, Scale, ValueFormat, chosen_row, masked, of_pairs, signed, written
from tfmviz.plots.compare import scheme_map
from tfmviz.plots.lines import Axes, over
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, lesson
from tfmviz.ui.figures import result, show, show_pairs, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.rope.subject import mask_of, of_head, of_scheme, tokens_of
from tfmviz.ui.tabs import either
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted

FARTHEST = 160
"""Largest distance for which T5's biases are drawn; the last bucket begins well before."""


def biases(ctx: PageContext) -> None:
    either(
        "Scheme",
        "bias",
        {
            "ALiBi": of_scheme("alibi", added, slopes),
            "T5 buckets": of_scheme("t5", added, t5_biases, t5_buckets),
            "Shaw": of_scheme("shaw", shaw, added),
        },
    )(ctx)


def slopes(shown: PageContext) -> None:
    from tfmviz.positions import alibi

    own = shown.model.config.attention.n_heads
    n_heads = inputs.slider("Heads H", 1, 32, min(own, 32), key="n_slopes", line=lesson.control_row("slopes"))
    found = alibi.slopes(n_heads).numpy()
    axes = Axes("head", "slope: bias per token of distance", log=True)
    show("slopes", over(np.arange(n_heads), {f"slopes of {n_heads} heads": found}, axes, theme=theme()))
    power = 2 ** int(np.log2(n_heads))
    exact = f" From head 0 on: {', '.join(f'1/{1 / slope:.0f}' for slope in found)}." if 8 % n_heads == 0 else ""
    st.markdown(
        f"H = {n_heads} is a power of two: slope 2^(−8h/H) for h = 1 … H.{exact}"
        if power == n_heads
        else f"H = {n_heads} is not a power of two: the first {power} slopes are those of {power} heads, the others "
        f"every second of {2 * power} (Press et al. 2022)."
    )


def added(shown: PageContext) -> None:
    q, k, after = (of_head(shown, site) for site in ("q", "k", "scores"))
    weights = shown.weights
    effects = shown.positions
    assert effects.bias is not None, "the scheme adds no bias"
    before, bias, mask = weights.scores(q, k), effects.bias[shown.choice.head].astype(float), mask_of(shown)
    row, tokens = shown.query, tokens_of(shown)
    below = "/ √d" if weights.divided_by else ""  # T5's own models do not divide
    joins = "+ bias" if effects.vectors is None else f"+ q · a {below}"
    tiles = {f"q · k {below}": before, joins: bias, "= scores": after}
    values = masked(list(tiles.values()), mask)
    scale = signed(values, "score, and what is added to it", root=True)  # a gentle slope would be invisible
    frames, titles, texts = chosen_row(row, len(tokens)), tuple(tiles), written(np.concatenate(values), ".2f")
    show(
        "bias_tiles",
        of_pairs(values, tokens, tokens, scale, texts=texts, frames=frames, titles=titles),
    )
    shares = [softmax(np.where(mask, scores, -np.inf)[row]) for scores in (before, after)]
    series = (f"without {joins[2:]}", "with it")
    show_pairs("bias_row", tokens, *shares, series=series, title="attention")
    reach = [float(share @ np.abs(row - np.arange(len(share)))) for share in shares]
    result(
        f"{markdown.plain(quoted(tokens)[row])} looks {reach[0]:.1f} tokens away on average "
        f"without {joins[2:]}, **{reach[1]:.1f}** with it."
    )


def t5_biases(shown: PageContext) -> None:
    bias = shown.model.position_effects(shown.choice.layer, FARTHEST + 1).bias
    assert bias is not None, "the scheme adds no bias"
    by_distance = bias[:, -1, ::-1]  # the last query's keys are 0, 1, 2 … tokens away
    distances = np.arange(FARTHEST + 1)
    bucket = _buckets(distances, both_ways=False)
    drawn = {f"head {head}": values for head, values in enumerate(by_distance)}
    trained = shown.model.config.trained_on
    mark = trained - 1, "trained\nup to here"
    show("t5_biases", over(distances, drawn, Axes("distance i − j", "bias"), theme=theme(), mark=mark))
    met = np.unique(bucket[:trained])
    unmet = f"Training reached only buckets {met[0]} to {met[-1]}; the others are still random."
    st.markdown("Each head has one trained bias per bucket. " + unmet * bool(met[-1] < N_BUCKETS - 1))


def t5_buckets(shown: PageContext) -> None:
    kinds = ("looks back (decoder)", "both ways (encoder)")
    line = lesson.control_row("buckets")
    kind = inputs.segmented_control("Buckets", kinds, default=kinds[0], key="buckets", line=line)
    both_ways = kind == kinds[1]
    position = np.arange(len(tokens_of(shown)))
    found = _buckets(position[:, None] - position, both_ways=both_ways)
    mask = np.ones(found.shape, dtype=bool) if both_ways else np.tri(len(position), dtype=bool)
    show("t5_buckets", _classes(masked([found], mask), tokens_of(shown), "bucket"))
    by_distance = _buckets(np.arange(FARTHEST), both_ways=both_ways)
    exact = int(np.flatnonzero(np.diff(by_distance) == 0)[0])  # the first that shares its bucket with a farther one
    last = int(np.flatnonzero(by_distance == by_distance[-1])[0])
    st.markdown(
        f"Distances 0 to {exact - 1} have a bucket each; longer ones share, and from {last} on all use the last."
        + (" Keys to the right have their own." if both_ways else "")
    )


def _classes(values: Array, tokens: Sequence[str], title: str) -> Cells:
    scale, form = (
        Scale("norms", 0, max(float(np.nanmax(values)), 1.0), title, ticks="whole"),
        ValueFormat(name=f"{title} ", digits=0),
    )
    return of_pairs(values, tokens, tokens, scale, form=form, texts=written(values[0], ".0f"))


def _buckets(distance: Array, *, both_ways: bool) -> Array:
    import torch

    from tfmviz.positions.t5 import buckets

    return buckets(torch.from_numpy(distance), bidirectional=both_ways).numpy()


def shaw(shown: PageContext) -> None:
    """Pairs of tokens that share a learned vector, the vectors, and their products with the head's queries."""
    vectors = shown.model.position_effects(shown.choice.layer.split(".")[0], CLIP + 1).vectors
    assert vectors is not None, "the scheme has no vectors"
    back = vectors[CLIP::-1].astype(float)  # of keys 0, 1, 2 … tokens to the left
    left, right = st.columns([2, 3])
    line = lesson.control_row("shaw")
    clip = inputs.slider("k: farther keys share a vector", 1, CLIP, 4, key="clip", line=line)
    n = len(tokens_of(shown))
    rows, mask = clip - rotations.relative_index(n, n, clip=clip), np.tri(n, dtype=bool)
    with left:
        show("shaw", _classes(masked([rows], mask), tokens_of(shown), f"row of a, at most k = {clip}"))
    with right:
        show("shaw_vectors", scheme_map(back, title="learned vectors a", axes=("coordinate", "distance i − j")))
    st.markdown(f"Both ways, k = {clip} needs **{2 * clip + 1} learned vectors** a; this causal model has k = {CLIP}.")
    _shaw_scores(shown, back)


def _shaw_scores(shown: PageContext, back: Array) -> None:
    products = of_head(shown, "q") @ back.T / shown.weights.divisor  # (len, distance)
    row = shown.query
    own = quoted(tokens_of(shown))[row]
    drawn = {own: products[row], "mean of all tokens": products.mean(axis=0)}
    best = int(products[row].argmax())
    st.latex(r"s_{ij} = \frac{q_i \cdot k_j + q_i \cdot a_{i-j}}{\sqrt d}")
    axes = Axes("distance i − j", "q · a / √d")
    show("shaw_scores", over(np.arange(CLIP + 1), drawn, axes, theme=theme()))
    result(
        f"Head {shown.choice.head} at {markdown.plain(own)} favours the key "
        + (f"{counted(best, 'token')} back." if best < CLIP else f"{CLIP} or more tokens back.")
        + " The term qᵢ · aᵢ₋ⱼ depends on the query and the distance, so, unlike RoPE's, the score is not an inner "
        "product ⟨f(x, i), f(y, j)⟩. Wang et al. (2019) take the distance in the parse tree."
    )
