"""One head's look-up, the division by √d, each head's addition, and the differences and roles of heads."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import attention_layer, scaling
from tfmviz.analysis.heads import CROSS_KINDS, IN_WORDS, SELF_KINDS, Kind, confirmed, layer_scores, overlap, verdicts
from tfmviz.analysis.predictions import softmax
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import chosen_row, masked, of_heads, of_pairs, share, written
from tfmviz.plots.columns import histogram
from tfmviz.record.trace import Array, kind_of
from tfmviz.ui import controls, inputs, lesson, models, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_pairs, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, quoted, said_of_queries
from tfmviz.words.numbers import decimal

CANNOT_SHOW: dict[Kind, str] = {
    "next token": "the mask hides later tokens",
    "same word": "a word must occur twice",
    "induction": "a token must occur twice",
    "punctuation": "too few tokens can see a punctuation mark",
}


def own(ctx: PageContext, name: str) -> Array:
    """Queries, keys or values of the chosen head, rotated where the position scheme rotates them: (len, d_head)."""
    trace, layer = ctx.trace, ctx.choice.layer
    return attention_layer.of_head(trace, layer, ctx.choice.head, attention_layer.turned(trace, layer, name))


def number(value: float) -> str:
    return decimal(value, ".3g" if abs(value) < 100 else ",.0f")


def lookup(ctx: PageContext) -> None:
    trace, choice, token = ctx.trace, ctx.choice, ctx.query
    if not ctx.is_chosen:  # for a token that attends to one key alone, soft and hard hardly differ
        token = int(scaling.entropy(trace[f"{choice.layer}.pattern"][choice.head].astype(np.float64)).argmax())
    with lesson.control_row("token"):
        controls.token_box(of_queries(trace, choice.layer), token)
    if lesson.is_off(ctx, choice.layer, choice.head):
        return
    row = trace[f"{choice.layer}.pattern"][choice.head][token]
    keys = trace.axes(choice.layer)[1]
    best, cosine = attention_layer.hard_lookup(row, own(ctx, "v"))
    hard = np.eye(len(row))[best]
    series = ("soft: attention", "hard: best key")
    show_pairs("lookup", keys.tokens, row, hard, series=series, title="share taken")
    asked, found = said_of_queries(trace, choice.layer)[token], quoted(keys.tokens)[best]
    result(
        f"For {markdown.plain(asked)} a `dict` would return the value of {markdown.plain(found)} alone; "
        f"attention takes {row[best]:.0%} of it. The cosine between the two results is **{number(cosine)}**."
    )


def contributions(ctx: PageContext) -> None:
    trace, layer, head, token = ctx.trace, ctx.choice.layer, ctx.choice.head, ctx.query
    with lesson.control_row("token"):
        controls.token_box(of_queries(trace, layer), token)
    W_O, n_heads = ctx.weights.W_O_carried, len(trace[f"{layer}.q"])
    lengths = np.linalg.norm(ctx.weights.writes(trace[f"{layer}.z"]), axis=-1)[:, token]
    left, right = st.columns([2, 3])
    with left:
        chart = bar_chart(
            [f"head {h}" for h in range(n_heads)],
            lengths,
            "norm of what is added",
            words=[f"{length:.2f}" for length in lengths],
            colours=[theme().accent if h == head else theme().attention for h in range(n_heads)],
            tooltips=[f"head {h}: {length:.3f}" for h, length in enumerate(lengths)],
            room=1.25,
            theme=theme(),
        )
        show("head_writes", chart)
        st.markdown(r"Norm of each head's output, $\lVert z W_O \rVert$.")
    if lesson.is_off(ctx, layer, head):
        return
    attention = trace[f"{layer}.pattern"]
    effects = attention_layer.effects(attention, attention_layer.grouped(trace[f"{layer}.v"], n_heads), W_O)
    share = effects[head, token] / max(float(effects[head, token].sum()), 1e-12)
    with right:
        weights = attention[head, token]
        keys = trace.axes(layer)[1].tokens
        show_pairs("look_effects", keys, weights, share, series=("attention", "effect"), title="share")
        looked, felt = int(weights.argmax()), int(share.argmax())
        names = [markdown.plain(quoted(keys)[j]) for j in (looked, felt)]
        st.markdown(
            f"Most attention: {names[0]} ({weights[looked]:.0%}; effect {share[looked]:.0%}). Largest effect: "
            f"{names[1]} ({share[felt]:.0%}). "
            + ("" if looked == felt else "**High attention is not high effect:** a short value carries little.")
        )
        st.markdown(rf"Head {head}: attention to each key, and its share of $\lVert a v W_O \rVert$.")


def average(ctx: PageContext) -> None:
    trace, choice = ctx.trace, ctx.choice
    pattern = trace[f"{choice.layer}.pattern"]
    mask = np.broadcast_to(trace[f"{choice.layer}.mask"], pattern.shape[1:])
    mean = pattern.mean(axis=0)
    tokens = of_queries(trace, choice.layer), trace.axes(choice.layer)[1].tokens
    titles = ["mean of all heads", *(f"head {h}" for h in range(len(pattern)))]
    evenness = [scaling.entropy(matrix.astype(np.float64)).mean() for matrix in (mean, *pattern)]
    values, frames = masked([mean, *pattern], mask), chosen_row(ctx.query, len(tokens[1]))
    drawn = of_pairs(values, *tokens, share(), titles=tuple(titles), across=min(5, len(titles)), frames=frames)
    show("mean_and_heads", drawn)
    result(
        f"The mean's rows have an entropy of **{evenness[0]:.2f}** nats, the heads' own "
        f"**{np.mean(evenness[1:]):.2f}** on average ({min(evenness[1:]):.2f} to {max(evenness[1:]):.2f}). "
        f"{_alike(pattern, mask)}"
    )


def _alike(pattern: Array, mask: Array) -> str:
    shared = overlap(pattern, mask)
    pairs_of_heads = np.triu_indices(len(shared), k=1)
    found = shared[pairs_of_heads]
    if not len(found) or np.isnan(found).any():
        return ""
    (a, b), (c, d) = (tuple(int(side[n]) for side in pairs_of_heads) for n in (found.argmax(), found.argmin()))
    return (
        f"Heads {a} and {b} are most alike: **{found.max():.0%}** of their attention goes to the same keys. "
        f"Heads {c} and {d} are least alike: **{found.min():.0%}**."
    )


def finder(ctx: PageContext) -> None:
    trace, choice = ctx.trace, ctx.choice
    layers = [layer for layer in trace.layers if kind_of(layer) == kind_of(choice.layer)]
    with lesson.control_row("finder"):
        if url.text("kind_of_head") == "duplicate":  # the name that "same word" had
            st.session_state["kind_of_head"] = "same word"
        kinds, key = (
            (CROSS_KINDS, "kind_of_cross_head") if choice.layer.endswith("cross_attn") else (SELF_KINDS, "kind_of_head")
        )
        kind = inputs.segmented_control("What should the head do?", kinds, key=key, required=True)
    measured, on_repeats = layer_scores(trace), models.scores_on_repeats(ctx.model)
    believed = [
        confirmed(measured[layer], on_repeats[layer]) if layer in on_repeats else measured[layer] for layer in layers
    ]
    scores = np.stack([of_layer[kind] for of_layer in believed])
    best = attention_layer.ranking(scores)
    show(
        "head_scores",
        of_heads(
            scores,
            share(f"{kind}, 0 to 1"),
            chosen=(choice.layer_index, choice.head),
            texts=written(scores, ".2f", absent="–"),
            row_height=40,
        ),
        click=controls.LOOKS,
        on_pick=lambda layer, head: controls.look_at(layers[layer], head),
    )
    if not best:
        st.markdown(f"No head can show that here: {CANNOT_SHOW.get(kind, 'the text is too short')}.")
        return
    named = "; ".join(f"**layer {layer}, head {head}** ({score:.2f})" for layer, head, score in best[:5])
    n_named = sum(verdict.kind == kind for of_layer in believed for verdict in verdicts(of_layer))
    result(
        f"Closest to a head that {IN_WORDS[kind]}: {named}. **{n_named}** of {scores.size} heads "
        f"{'does' if n_named == 1 else 'do'} this clearly."
    )


WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

N_QUERIES, N_KEYS = 256, 16
"""Rows and keys per row of the experiment with random vectors."""


def scaling_lab(ctx: PageContext) -> None:
    with lesson.control_row("scaling"):
        source = inputs.radio("Vectors", ("random, variance 1", "this head's own"), horizontal=True, key="vectors")
        its_own = source == "this head's own"
        d = _ask_width(ctx, its_own=its_own)
    if its_own and ctx.weights.is_linear:
        st.markdown("Linear attention has no exponential, so it need not divide.")
    elif its_own and not ctx.weights.divided_by:
        st.markdown("This model does not divide: training keeps its queries and keys small.")
    if its_own:
        q, k = (own(ctx, name)[:, :d].astype(np.float64) for name in ("q", "k"))
        scores = q @ k.T
        mask = np.broadcast_to(ctx.trace[f"{ctx.choice.layer}.mask"], scores.shape)
        names = list(ctx.trace.axes(ctx.choice.layer)[1].tokens)
    else:
        scores = scaling.dot_products(*_random_vectors(d))
        mask, names = np.ones(scores.shape, dtype=bool), [f"key {j}" for j in range(N_KEYS)]
    row = ctx.query if its_own else 0
    plain, scaled = scaling.sharpness(scores, mask), scaling.sharpness(scores / np.sqrt(d), mask)
    left, right = st.columns(2)
    with left:
        drawn = scores[mask]
        largest = max(float(np.abs(drawn).max()), 1e-6)
        middles, raw = scaling.histogram(drawn, largest=largest)
        _, narrow = scaling.histogram(scores[mask] / np.sqrt(d), largest=largest)
        show("score_histogram", histogram(middles, raw, narrow, theme=theme()))
    with right:
        shares = [softmax(np.where(mask[row], values[row], -np.inf)) for values in (scores, scores / np.sqrt(d))]
        series = ("q · k", "q · k / √d")
        show_pairs("softmax_rows", names, *shares, series=series, title="share after softmax")
    result(
        f"Variance of q · k over {int(mask.sum()):,} pairs: **{number(plain.variance)}**; for independent values of "
        f"variance 1 it is d = {d}. Divided by √d = {np.sqrt(d):.2f}, it is **{number(scaled.variance)}**."
    )
    st.table(
        {
            "mean over all rows": ["largest share", "normalised entropy (1 = uniform)", "gradient of the softmax"],
            "q · k": [number(plain.largest), number(plain.evenness), number(plain.gradient)],
            "q · k / √d": [number(scaled.largest), number(scaled.evenness), number(scaled.gradient)],
        }
    )


def _ask_width(ctx: PageContext, *, its_own: bool) -> int:
    if not its_own:
        return inputs.select_slider("d, size of each vector", list(WIDTHS), 64, key="d")
    d_head: int = ctx.trace[f"{ctx.choice.layer}.q"].shape[-1]
    widths: list[int] = [*(d for d in WIDTHS if d < d_head), d_head]
    return inputs.select_slider("d, size of each vector", widths, d_head, key="d_own")


@cached_for_all
def _random_vectors(d: int) -> tuple[Array, Array]:
    return scaling.unit_vectors(d, n_queries=N_QUERIES, n_keys=N_KEYS, seed=d)
