"""Methods that never form all pairs: Linformer, linear attention, Performer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.analysis.efficient import exact, features, linformer
from tfmviz.plots import efficient as figures
from tfmviz.record.trace import Array
from tfmviz.record.weights import feature
from tfmviz.ui import lesson, models
from tfmviz.ui.efficient.subject import BYTES, Head, beside, head_of, is_causal, no_bias
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted, in_bytes, tiny

BOTH_WAYS = "fill-in"
"""A model whose heads are not causal, in place of one that Linformer does not suit."""

MIXED = ("mean pooling", "best for this pattern (SVD)")
"""What the rows mix: what needs no training, and what no trained projection can beat."""

FEATURES = (8, 16, 32, 64, 128, 256, 512, 1024)

DRAWS = 3
"""The error of random features is the mean over so many draws."""


def projected(here: Lesson) -> None:
    """Linformer: keys and values mixed to a few rows, in a head that reads both ways; why a causal one cannot."""
    with lesson.line("projected"):
        percent = st.slider("Rows k, % of the text", 5, 100, 25, 5, key="linformer_rows", bind="query-params")
        mixed = st.segmented_control(
            "Rows", MIXED, default=MIXED[0], key="linformer_mixed", bind="query-params", required=True
        )
        causal = is_causal(here) and st.toggle("Why not in a causal head?", key="causal", bind="query-params")
    if is_causal(here) and not causal:
        if (model := models.needed(BOTH_WAYS)) is None:
            return
        index, n_heads = min(here.choice.layer_index, model.config.n_layers - 1), model.config.attention.n_heads
        choice = replace(here.choice, layer=f"encoder.{index}.self_attn", head=min(here.choice.head, n_heads - 1))
        here = replace(here, model=model, choice=choice)
    head = head_of(here)
    n = len(head.k)
    rows = max(1, round(n * percent / 100))
    if causal:
        _refused(head, rows)
    else:
        if here.model.name == BOTH_WAYS:
            st.caption(
                f"Layer {here.choice.layer_index}, head {here.choice.head} of `{BOTH_WAYS}`, which reads both ways."
            )
        cost = linformer.cost(len(head.q), n, head.q.shape[1], rows)
        if mixed == MIXED[0]:
            pattern, z = linformer.pattern(head.q, head.k, rows), linformer.attend(head.q, head.k, head.v, rows)
        else:
            pattern = linformer.best(head.pattern, rows)
            z = pattern @ head.v
        beside(here, head, pattern, z, title=f"{rows} rows", cost=cost)
    _ranks(head)
    no_bias(head)


def _refused(head: Head, rows: int) -> None:
    """Why a causal head cannot have it: the rows and what they mix."""
    E = linformer.pooling(len(head.k), rows)
    show("mixing", figures.mixing(E, k_tokens=head.k_tokens))
    last = np.flatnonzero(E[0])[-1]
    first, later = (markdown.plain(quoted(head.k_tokens)[i]) for i in (0, int(last)))
    reason = f"{first} would see {later}" if last else "with as many rows as tokens nothing is saved"
    st.warning(
        f"**Linformer does not suit this head**: it is causal, and Linformer mixes keys along the text: {reason}."
    )


def _ranks(head: Head) -> None:
    """How many singular values hold most of this very pattern, and how the error falls with the rows."""
    n = min(head.scores.shape)
    steps = np.unique(np.linspace(1, n, min(n, 24)).round().astype(int))
    kept = linformer.shares(head.pattern)
    curves = {"kept by k singular values": kept[steps - 1]}
    if not head.is_causal:
        errors = [exact.pattern_error(head.pattern, linformer.pattern(head.q, head.k, int(k))) for k in steps]
        curves["error of mean pooling"] = np.array(errors)
    show("ranks", figures.errors(steps.astype(float), curves, title="rows k", theme=theme()))
    enough = int(np.argmax(kept >= 0.99)) + 1
    st.markdown(
        f"**{enough} of {n}** singular values hold 99% of this pattern's squared norm. Linformer trains its "
        "projection (Wang et al. 2020); here it is mean pooling."
    )


def linear(here: Lesson) -> None:
    """Linear attention in place of the softmax, and its running state."""
    head = head_of(here)
    phi_q, phi_k = feature(head.q), feature(head.k)
    pattern = features.pattern(phi_q, phi_k, head.allowed)
    d = head.q.shape[1]
    z = features.running(phi_q, phi_k, head.v) if head.is_causal else features.attend(phi_q, phi_k, head.v)
    cost = features.cost(len(head.q), len(head.k), d, d, drawn=False)
    beside(here, head, pattern, z, title="linear", cost=cost)
    if head.is_causal:
        _running(head, phi_k)
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


def _running(head: Head, phi_k: Array) -> None:
    """The sum that takes the place of the cache, after the first token, half of them and all."""
    sums = np.cumsum(phi_k[:, :, None] * head.v[:, None], axis=0)
    places = sorted({0, (len(sums) - 1) // 2, len(sums) - 1})
    names = quoted(head.k_tokens)
    show("running_state", figures.running_state(sums[places], titles=[f"after {names[n]}" for n in places]))


def performer(here: Lesson) -> None:
    """Random features whose products are exp(q · k) on average."""
    head = head_of(here)
    with lesson.line("performer"):
        m = st.select_slider("Random features m", FEATURES, 64, key="features", bind="query-params")
        seed = st.slider("Random seed", 0, 20, 0, key="features_draw", bind="query-params")
    pattern = _drawn(head, m, seed)
    d = head.q.shape[1]
    cost = features.cost(len(head.q), len(head.k), d, m, drawn=True)
    beside(here, head, pattern, pattern @ head.v, title=f"{m} features", cost=cost)
    short, name = _shortest(here)
    errors = {f"head {here.choice.layer_index}.{here.choice.head}": _errors(head, seed), name: _errors(short, seed)}
    show("features_errors", figures.random_features(FEATURES, errors, theme=theme()))
    st.markdown(
        "For m random directions w and φ(x) = exp(w · x − |x|²/2) the mean of φ(q) · φ(k) is exp(q · k) (Choromanski "
        f"et al. 2021). Larger norms need more features: here |q| · |k| / √d reaches {_size(head):.1f}; in {name}, "
        f"which has the smallest, {_size(short):.1f}."
    )
    no_bias(head)


def _size(head: Head) -> float:
    return float(np.linalg.norm(head.q, axis=-1).max() * np.linalg.norm(head.k, axis=-1).max())


def _shortest(here: Lesson) -> tuple[Head, str]:
    """The head of the same kind of attention with the shortest queries and keys, and its name."""
    stack, _, part = here.choice.layer.split(".")
    layers = [layer for layer in here.trace.layers if layer.startswith(f"{stack}.") and layer.endswith(part)]
    choices = [
        replace(here.choice, layer=layer, head=head)
        for layer in layers
        for head in range(here.model.config.attention.n_heads)
    ]
    heads = [head_of(replace(here, choice=choice)) for choice in choices]
    best = int(np.argmin([_size(head) for head in heads]))
    return heads[best], f"head {choices[best].layer_index}.{choices[best].head}"


def _errors(head: Head, seed: int) -> Array:
    """The share of attention that lies elsewhere, for each number of features: (len(FEATURES),)."""
    draws = [[_drawn(head, n, seed + draw) for draw in range(DRAWS)] for n in FEATURES]
    return np.array([np.mean([exact.pattern_error(head.pattern, one) for one in drawn]) for drawn in draws])


def _drawn(head: Head, m: int, seed: int) -> Array:
    directions = features.random_directions(m, head.q.shape[1], seed)
    return features.pattern(*features.performer(head.q, head.k, directions), head.allowed)
