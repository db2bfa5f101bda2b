from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.attention_layer import turned
from tfmviz.analysis.cache_cost import Kept, linear_state
from tfmviz.analysis.efficient import exact, grouped, sparse, state_space, tiles
from tfmviz.plots.cells import Frame, ValueFormat, masked, of_pairs, share, written
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.efficient import BYTES, beside, head_of, two_patterns
from tfmviz.ui.figures import show, show_columns
from tfmviz.ui.lesson import PageContext
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted, decimal, in_bytes, tiny

SIZES = [1, 2, 3, 4, 6, 8, 16, 32, 64]

MOST_TILES = 5_000
"""Each is a step that is computed, and that the reader can stop at."""


def smallest_tile(q_len: int, k_len: int) -> int:
    """The smallest size with at most `MOST_TILES` tiles; the largest one where all have more."""
    return next((size for size in SIZES if ceil(q_len / size) * ceil(k_len / size) <= MOST_TILES), SIZES[-1])


def tiled(ctx: PageContext) -> None:
    head = head_of(ctx)
    with lesson.control_row("tiled"):
        asked = inputs.select_slider("Tile size", SIZES, 4, key="tile")
        size = max(asked, smallest_tile(*head.scores.shape))
        made = list(tiles.tiles(head.q, head.k, head.v, head.allowed, size, bias=head.bias))
        step = 1
        if len(made) > 1:
            step = inputs.slider("Step", 1, len(made), len(made) // 2, key="step_of_tiles")
    if size > asked:
        st.info(f"There would be more than {MOST_TILES:,} smaller tiles, so these have size {size}.", icon=icons.CUT)
    tile = made[step - 1]
    last = Frame(top=tile.rows.start, left=tile.columns.start, bottom=tile.rows.stop, right=tile.columns.stop)
    look: dict[str, Any] = {"form": ValueFormat(absent=("masked", "not read yet")), "frames": (last,)}
    scale = share("share of attention among the keys read so far")
    steps = made[:step]
    known = np.where(head.allowed, -np.inf, np.nan)
    for one in steps:
        rows, seen = one.rows, slice(0, one.columns.stop)
        shares = np.exp(head.scores[rows, seen] - one.largest[:, None]) / one.total[:, None]
        known[rows, seen] = np.where(head.allowed[rows, seen], shares, np.nan)
    left, right = st.columns([3, 2])
    with left:
        texts = written(known, ".2f")
        show("tiling", of_pairs(known[None], head.q_tokens, head.k_tokens, scale, texts=texts, **look))
    with right:
        st.markdown(
            f"**Step {step} of {len(made)}.** Each query keeps the largest score so far, m, and the sum l of "
            "exp(s − m); a larger m rescales earlier sums by exp(old m − new m)."
        )
        columns = {
            "query": [visible(token) for token in head.q_tokens[tile.rows]],
            "m": [decimal(value) for value in tile.largest],
            "earlier sums ×": [decimal(value, ".3f") for value in tile.factor],
            "l": [decimal(value) for value in tile.total],
        }
        show_columns("running_softmax", columns, caption="After this tile", low=True)
        z = tiles.attend(head.q, head.k, head.v, size, head.allowed, bias=head.bias)
        difference = float(np.abs(z - head.pattern @ head.v).max())
        q_len, k_len, d = len(head.q), len(head.k), head.q.shape[1]
        cost, full = tiles.cost(q_len, k_len, d, size), exact.cost(q_len, k_len, d)
        st.markdown(
            f"After the last tile, the output differs from the exact one by at most **{tiny(difference)}**, with as "
            f"many multiplications. A tile's scores, m and l take {in_bytes(BYTES * cost.numbers)}, all scores at once "
            f"{in_bytes(BYTES * full.numbers)}. FlashAttention's tiles fit into a GPU's fast memory (Dao et al. 2022)."
        )
        if head.is_linear:
            st.caption("This head's linear attention needs no tiles: its scores are ln(φ(q) · φ(k)).")


def state(ctx: PageContext) -> None:
    """A diagonal linear recurrence over the head's values, and its kernel as a pattern."""
    head = head_of(ctx)
    with lesson.control_row("state"):
        speed = inputs.select_slider("Decay per token", [0.02, 0.05, 0.1, 0.2, 0.5, 1.0], 0.2, key="forgets")
        n_state = inputs.slider("Values in the state", 1, 16, 4, key="state_size")
    n = len(head.k)
    a, ones = state_space.decays(n_state, speed), np.ones(n_state)
    kernel = state_space.kernel(n, a, ones, ones / n_state)
    apart = np.arange(n)[:, None] - np.arange(n)
    weights = np.where(apart >= 0, kernel[np.abs(apart)], 0.0)
    weights /= weights.sum(axis=-1, keepdims=True)
    own = head.pattern if len(head.q) == n else np.full((n, n), np.nan)
    both = masked([own, weights], apart >= 0)
    show("kernel", two_patterns(both, head.k_tokens, head.k_tokens, "kernel, rows normalised"))
    slow = state_space.recurrence(head.v, a, ones, ones / n_state)
    fast = state_space.convolution(head.v, kernel)
    d = head.v.shape[1]
    st.markdown(
        "Unrolled, hᵢ = a · hᵢ₋₁ + xᵢ over this head's values is a convolution with the kernel Σ aᵗ; the two "
        f"differ by at most **{tiny(float(np.abs(slow - fast).max()))}**. The convolution suits training; the "
        f"recurrence suits generation: its state has {n_state} × {d} = {n_state * d} values, a cache "
        f"{2 * n * d}, and it grows. Mamba lets a depend on the token (Gu and Dao 2023)."
    )
    st.caption("a is initialised as in S4D (Gu et al. 2022), untrained.")


def shared_heads(ctx: PageContext) -> None:
    head, layer = head_of(ctx), ctx.choice.layer
    config, n_heads = ctx.model.config, ctx.model.config.attention.n_heads
    options = [n for n in range(1, n_heads + 1) if n_heads % n == 0]
    with lesson.control_row("shared"):
        n_groups = options[0]
        if len(options) > 1:
            n_groups = inputs.select_slider("Key/value heads", options, options[-2], key="kv_groups")
    k, v = (ctx.trace[f"{layer}.{turned(ctx.trace, layer, name)}"].astype(np.float64) for name in "kv")
    repeats = n_heads // len(k)
    k, v = (grouped.shared(np.repeat(x, repeats, axis=0), n_groups)[ctx.choice.head] for x in (k, v))
    q = head.q if head.is_linear else head.q * config.divisor
    change = ctx.weights.scores(q, k) - ctx.weights.scores(q, head.k)
    pattern = sparse.pattern(head.scores + change, head.allowed)
    cost = exact.cost(len(head.q), len(head.k), head.q.shape[1])
    beside(ctx, head, pattern, pattern @ v, title=f"{n_groups} of {n_heads} heads", cost=cost)
    d, n = config.d_head, len(head.k)
    counts = (config.attention.n_kv_heads, n_groups)
    before, now = (Kept(n_layers=1, n_kv_heads=m, d_head=d, size=BYTES).at(n) for m in counts)
    what = "The cache of this layer"
    if head.is_linear:
        before, now = (linear_state(n_layers=1, n_heads=m, d_head=d, size=BYTES) for m in (n_heads, n_groups))
        what = "The state of this layer, Σ φ(k) vᵀ and Σ φ(k),"
    st.markdown(
        f"{what} takes **{in_bytes(now)}** instead of {in_bytes(before)} for {counted(n, 'token')}. "
        "The model's own heads are averaged in groups, without further training (Ainslie et al. 2023). One head for "
        "all is multi-query attention (Shazeer 2019)."
    )
