from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from tfmviz.analysis import feed_forward
from tfmviz.analysis.efficient import exact, features, linformer, reformer, sparse
from tfmviz.analysis.efficient.exact import Cost
from tfmviz.analysis.efficient.reversible import backward, forward, kept
from tfmviz.plots.cells import Axis, Cells, of_tokens, share, signed
from tfmviz.plots.lines import Axes, growth
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.record.weights import FeedForwardWeights, feature
from tfmviz.ui import compare_menu, inputs, lesson, model_names, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.efficient import BYTES, Head, beside, head_of, is_causal, no_bias
from tfmviz.ui.figures import show, show_curves, show_matrix, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted, in_bytes, per_cent, tiny

KINDS = ("window", "dilated", "BigBird", "top-k")

SHOWN = 2
"""Rounds whose buckets are listed with the tokens."""

STEP, N_GLOBAL, N_RANDOM = 2, 1, 2
"""Of the dilated window and of BigBird."""

ABOUT = {
    "window": "Each query keeps its neighbours (Beltagy et al. 2020).",
    "dilated": f"Each query keeps every {STEP}nd neighbour (Beltagy et al. 2020).",
    "BigBird": f"Each query keeps a window, {N_GLOBAL} global token and {N_RANDOM} random keys (Zaheer et al. 2020).",
    "top-k": "Each query keeps its largest scores, though all must be computed (Gupta et al. 2021).",
}


def sparse_masks(ctx: PageContext) -> None:
    head = head_of(ctx)
    with lesson.control_row("sparse"):
        kinds = KINDS if head.q_tokens_are_keys else KINDS[-1:]
        kind = inputs.segmented_control("Keep", kinds, key="keep")
        size = inputs.slider("Radius, or k", 1, 16, 3, key="radius")
    kept, pattern, cost = sparsely(head, kind, size)
    pairs, left = int(kept.sum()), sparse.or_all(kept, head.allowed)
    beside(ctx, head, pattern, pattern @ head.v, title=f"{kind}, {size}", cost=cost, kept=left)
    caught = float((head.pattern * kept).sum(axis=-1).mean())
    st.markdown(
        f"{ABOUT[kind]} Kept: {pairs:,} of {int(head.allowed.sum()):,} pairs, with {per_cent(caught)} of the attention."
    )
    if not head.q_tokens_are_keys:
        st.caption("Windows need one text; cross-attention has two.")


def kept_pairs(head: Head, kind: str, size: int) -> Array:
    """(q_len, k_len), bool."""
    from tfmviz import masks

    n = len(head.k)
    match kind:
        case "window":
            return masks.window(n, size).numpy()
        case "dilated":
            return masks.dilated(n, size, STEP).numpy()
        case "BigBird":
            return masks.bigbird(n, size, N_GLOBAL, N_RANDOM, 0).numpy()
    return sparse.top(head.scores, size)


def sparsely(head: Head, kind: str, size: int) -> tuple[Array, Array, Cost]:
    """The kept pairs that the model allows, the pattern over them, and its cost."""
    kept = kept_pairs(head, kind, size) & head.allowed
    scores = int(head.allowed.sum()) if kind == "top-k" else None
    return kept, sparse.pattern(head.scores, kept), sparse.cost(int(kept.sum()), head.q.shape[1], scores=scores)


def bucketed(head: Head, of_q: Array, of_k: Array, n_buckets: int) -> tuple[Array, Array, Cost]:
    """The same for pairs that share a bucket in one of the rounds: (round, len) buckets of queries and keys."""
    kept = sparse.or_all(reformer.meet(of_q, of_k), head.allowed)
    vectors = len(head.q) + len(head.k)
    cost = reformer.cost(int(kept.sum()), vectors, head.q.shape[1], n_buckets, rounds=len(of_q))
    return kept, sparse.pattern(head.scores, kept), cost


def hashed(ctx: PageContext) -> None:
    head = head_of(ctx)
    with lesson.control_row("hashed"):
        n_buckets = inputs.select_slider("Buckets", [1, 2, 4, 6, 8, 12, 16, 24], 4, key="hash_buckets")
        rounds = inputs.slider("Rounds of hashing", 1, 8, 2, key="rounds")
        seed = inputs.slider("Random seed", 0, 20, 0, key="hash_seed")
    of_q, of_k = (reformer.buckets(x, n_buckets, rounds=rounds, seed=seed) for x in (head.q, head.k))
    kept, pattern, cost = bucketed(head, of_q, of_k, n_buckets)
    one, four = (per_cent(reformer.caught(head.pattern, kept, strongest)) for strongest in (1, 4))
    named = [[f"({', '.join(map(str, of_token))})" for of_token in each[:SHOWN].T] for each in (of_q, of_k)]
    beside(
        *(ctx, head, pattern, pattern @ head.v),
        title=f"{n_buckets} buckets, {counted(rounds, 'round')}",
        cost=cost,
        kept=kept,
        buckets=named,
    )
    st.markdown(
        f"{per_cent(kept.sum() / head.allowed.sum())} of all pairs catch **{one}** of the strongest keys and {four} "
        f"of the four strongest. Beside the tokens: their buckets{f' in the first {SHOWN} rounds' * (rounds > SHOWN)}."
    )
    st.markdown("Reformer trains one vector as query and key (**shared q/k**); this model's two are often separated.")
    if head.has_bias:
        st.caption("Buckets ignore what this model adds to q · k.")
    reversible(ctx)


BOTH_WAYS = "fill-in"
"""A model with bidirectional heads, for Linformer, where the chosen model's are causal."""

MIXED = ("mean pooling", "best for this pattern (SVD)")
"""Projections of the rows: one without training, and the best possible one."""

FEATURES = (8, 16, 32, 64, 128, 256, 512, 1024)

DRAWS = 3
"""Samples over which the error of random features is averaged."""


def projected(ctx: PageContext) -> None:
    """Linformer: keys and values mixed to a few rows, in a bidirectional head; why a causal one cannot."""
    with lesson.control_row("projected"):
        percent = inputs.slider("Rows k, % of the text", 5, 100, 25, 5, key="linformer_rows")
        mixed = inputs.segmented_control("Rows", MIXED, key="linformer_mixed", required=True)
        # Two causal models would both be replaced by one that reads both ways.
        causal = is_causal(ctx) and (
            compare_menu.is_requested(("another model",)) or inputs.toggle("Why not in a causal head?", key="causal")
        )
    if is_causal(ctx) and not causal:
        if (model := models.needed(BOTH_WAYS)) is None:
            return
        index, n_heads = min(ctx.choice.layer_index, model.config.n_layers - 1), model.config.attention.n_heads
        choice = replace(ctx.choice, layer=f"encoder.{index}.self_attn", head=min(ctx.choice.head, n_heads - 1))
        ctx = replace(ctx, model=model, choice=choice)
    head = head_of(ctx)
    n = len(head.k)
    rows = max(1, round(n * percent / 100))
    if causal:
        E = linformer.pooling(n, rows)
        columns, scale = of_tokens("key", head.k_tokens), share("share of the row")
        show_matrix("mixing", np.where(E > 0, E, 0.0), Axis("row"), columns, scale, row_height=24)
        last = np.flatnonzero(E[0])[-1]
        first, later = (markdown.plain(quoted(head.k_tokens)[i]) for i in (0, int(last)))
        reason = f"{first} would see {later}" if last else "with as many rows as tokens nothing is saved"
        st.warning(
            f"**Linformer does not suit this head**: it is causal, and Linformer mixes keys along the text: {reason}."
        )
    else:
        cost = linformer.cost(len(head.q), n, head.q.shape[1], rows)
        if mixed == MIXED[0]:
            pattern, z = linformer.pattern(head.q, head.k, rows), linformer.attend(head.q, head.k, head.v, rows)
        else:
            pattern = linformer.best(head.pattern, rows)
            z = pattern @ head.v
        of = ""
        if ctx.model.name == BOTH_WAYS:
            name = markdown.plain(model_names.name_of(BOTH_WAYS))
            of = f"In layer {ctx.choice.layer_index}, head {ctx.choice.head} of **{name}**, which reads both ways, "
        beside(ctx, head, pattern, z, title=counted(rows, "row"), cost=cost, of=of)
    most = min(head.scores.shape)
    steps = np.unique(np.linspace(1, most, min(most, 24)).round().astype(int))
    kept, x = linformer.shares(head.pattern), steps.astype(float)
    points = {"kept by k singular values": (x, kept[steps - 1])}
    if not head.is_causal:
        errors = [exact.pattern_error(head.pattern, linformer.pattern(head.q, head.k, int(k))) for k in steps]
        points["error of mean pooling"] = x, np.array(errors)

    def tooltips(name: str, k: float, share: float) -> str:
        return f"{name}, rows k {k:.0f}: {per_cent(share)}"

    axes = Axes("rows k", "share", 260)
    show_curves("ranks", points, axes, tooltips, dot=50, words=(), y_range=(0.0, 1.0))
    enough = int(np.argmax(kept >= 0.99)) + 1
    st.markdown(
        f"At least 99% of this pattern's squared norm lies in **{enough} of {most}** singular values. Linformer trains "
        "its projection (Wang et al. 2020); here it is mean pooling."
    )
    no_bias(head)


def linear(ctx: PageContext) -> None:
    head = head_of(ctx)
    phi_q, phi_k = feature(head.q), feature(head.k)
    pattern = features.pattern(phi_q, phi_k, head.allowed)
    d = head.q.shape[1]
    z = features.running(phi_q, phi_k, head.v) if head.is_causal else features.attend(phi_q, phi_k, head.v)
    cost = features.cost(len(head.q), len(head.k), d, d, drawn=False)
    beside(ctx, head, pattern, z, title="linear", cost=cost)
    if head.is_causal:
        sums = np.cumsum(phi_k[:, :, None] * head.v[:, None], axis=0)
        places = sorted({0, (len(sums) - 1) // 2, len(sums) - 1})
        names = quoted(head.k_tokens)
        rows, columns, scale = Axis("feature of φ(k)"), Axis("coordinate of v"), signed(sums[places], "Σ φ(k) vᵀ")
        titles = tuple(f"after {names[n]}" for n in places)
        show("running_state", Cells(sums[places], rows, columns, scale, titles=titles, square=True))
    state, cache = d * d + d, 2 * len(head.k) * d
    kept, grows = in_bytes(BYTES * state), in_bytes(BYTES * cache)
    st.markdown(
        "φ(x) = elu(x) + 1 replaces exp. φ(q) · φ(k) is never sharp, so models must be trained with it (Katharopoulos "
        f"et al. 2020). It stores {d} × {d} + {d} values (**{kept}**); the cache takes {grows} for "
        f"{counted(len(head.k), 'token')} and grows. Running sums and pairs give results that differ by at most "
        f"{tiny(float(np.abs(z - pattern @ head.v).max()))}."
    )
    if head.is_linear:
        st.caption("This head has linear attention: both pictures are the same.")
    else:
        no_bias(head)


def performer(ctx: PageContext) -> None:
    """Random features whose products are exp(q · k) on average."""
    head = head_of(ctx)
    with lesson.control_row("performer"):
        m = inputs.select_slider("Random features m", FEATURES, 64, key="features")
        seed = inputs.slider("Random seed", 0, 20, 0, key="features_draw")
    pattern = _drawn(head, m, seed)
    d = head.q.shape[1]
    cost = features.cost(len(head.q), len(head.k), d, m, drawn=True)
    beside(ctx, head, pattern, pattern @ head.v, title=f"{m} features", cost=cost)
    stack, _, part = ctx.choice.layer.split(".")
    layers = [layer for layer in ctx.trace.layers if layer.startswith(f"{stack}.") and layer.endswith(part)]
    choices = [
        replace(ctx.choice, layer=layer, head=n) for layer in layers for n in range(ctx.model.config.attention.n_heads)
    ]
    heads = [head_of(replace(ctx, choice=choice)) for choice in choices]
    best = int(np.argmin([_size(one) for one in heads]))
    short, name = heads[best], f"head {choices[best].layer_index}.{choices[best].head}"
    errors = {f"head {ctx.choice.layer_index}.{ctx.choice.head}": _errors(head, seed), name: _errors(short, seed)}
    x = np.array(FEATURES, float)
    lines = {**errors, "1/√m": errors[name][-1] * np.sqrt(x[-1] / x)}
    points = {line: (x, np.where(y <= 1, y, np.nan)) for line, y in lines.items()}  # no more can move than there is
    axes = Axes("features m", "share of attention moved to other keys", 260, percent=True, doubling=True)

    def tooltips(name: str, m: float, y: float) -> str:
        return f"{name}, {m:.0f} features: {per_cent(y)}"

    show_curves("features_errors", points, axes, tooltips, dot=50, y_range=(0.0, 1.0))
    st.markdown(
        "For m random directions w and φ(x) = exp(w · x − |x|²/2) the mean of φ(q) · φ(k) is exp(q · k) (Choromanski "
        f"et al. 2021). Larger norms need more features: here |q| · |k| / √d reaches {_size(head):.1f}; in {name}, "
        f"which has the smallest, {_size(short):.1f}."
    )
    no_bias(head)


def _size(head: Head) -> float:
    return float(np.linalg.norm(head.q, axis=-1).max() * np.linalg.norm(head.k, axis=-1).max())


def _errors(head: Head, seed: int) -> Array:
    """The share of attention that lies elsewhere: (len(FEATURES),)."""
    draws = [[_drawn(head, n, seed + draw) for draw in range(DRAWS)] for n in FEATURES]
    return np.array([np.mean([exact.pattern_error(head.pattern, one) for one in drawn]) for drawn in draws])


def _drawn(head: Head, m: int, seed: int) -> Array:
    directions = features.random_directions(m, head.q.shape[1], seed)
    return features.pattern(*features.performer(head.q, head.k, directions), head.allowed)


MOST_TOKENS = 8
"""Tokens of the trial: enough to see the rounding, few enough for the largest model a reader may add."""

DEPTHS = tuple(2**p for p in range(8))


def reversible(ctx: PageContext) -> None:
    """The memory kept for the backward pass as a stack gets deeper, and the error of the recomputed input."""
    n, d = len(ctx.trace.target), ctx.model.config.d_model
    depths = np.array(DEPTHS, float)
    lines = {
        name: (depths, np.array([4.0 * kept(n, d, depth, reversible=way) for depth in DEPTHS]))
        for name, way in (("every input kept", False), ("reversible", True))
    }
    show(
        "reversible",
        growth(lines, Axes(f"blocks, for {n} tokens", "bytes stored", 240), in_bytes, theme=theme()),
        title="Reversible layers: what training must store of the streams, in 32 bits",
    )
    stack, tried = ctx.choice.layer.split(".")[0], ""
    if n_layers := len(ctx.model.weights.stacks[stack].feed_forward):
        error = round_trip(ctx.model, stack, ctx.trace.target.ids[:MOST_TOKENS])
        tried = (
            f"With this model's {counted(n_layers, 'feed-forward layer')}, the input is recovered with an error of "
            f"**{tiny(error)}**."
        )
    st.markdown(
        "Each half changes by a function of the other: y₁ = x₁ + f(x₂), y₂ = x₂ + g(y₁). Subtraction recovers both "
        f"inputs. {tried}"
    )


@cached_for_all
def round_trip(model: Model, stack: str, ids: tuple[int, ...]) -> float:
    """The distance between the input and the one computed from the output, over the input's norm."""

    def after_a_norm(weights: FeedForwardWeights, x: Array) -> Array:
        return feed_forward.run(weights, x / (np.sqrt((x**2).mean(axis=-1, keepdims=True)) + np.float32(1e-5)))

    layers = [partial(after_a_norm, weights) for weights in model.weights.stacks[stack].feed_forward.values()]
    blocks = list(zip(layers, [*layers[1:], layers[0]], strict=True))
    x = model.weights.W_E[list(ids)].astype(np.float32)
    if model.config.embeddings.width is not None:
        x = model.trace(ids, sites=(widened := f"{stack}.widened",))[widened]
    back, _ = backward(*forward(x, x, blocks), blocks)
    return float(np.linalg.norm(back - x) / np.linalg.norm(x))
