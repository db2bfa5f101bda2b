"""Methods that never form all pairs: Linformer, linear attention, Performer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.analysis.efficient import exact, features, linformer
from tfmviz.plots.cells import Axis, Cells, of_tokens, share, signed
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, curves
from tfmviz.record.trace import Array
from tfmviz.record.weights import feature
from tfmviz.ui import inputs, lesson, models
from tfmviz.ui.efficient.subject import BYTES, Head, beside, head_of, is_causal, no_bias
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted, in_bytes, per_cent, tiny

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
        percent = inputs.slider("Rows k, % of the text", 5, 100, 25, 5, key="linformer_rows")
        mixed = inputs.segmented_control("Rows", MIXED, key="linformer_mixed", required=True)
        causal = is_causal(here) and inputs.toggle("Why not in a causal head?", key="causal")
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


def _falling(m: Array, errors: dict[str, Array]) -> Chart:
    """The attention that random features move elsewhere, (m,) for each head; the last one gets 1/√m beside it."""
    last = list(errors.values())[-1]
    lines = {**errors, "1/√m": last[-1] * np.sqrt(m[-1] / m)}
    points = {name: (m, np.where(y > 0, y, np.nan)) for name, y in lines.items()}  # powers have no 0
    axes = Axes("features m", "share of attention moved to other keys", 260, log=True, doubling=True)
    return curves(points, axes, lambda name, m, y: f"{name}, {m:.0f} features: {per_cent(y)}", theme=theme(), dot=50)


def _refused(head: Head, rows: int) -> None:
    """Why a causal head cannot have it: the rows and what they mix."""
    E = linformer.pooling(len(head.k), rows)
    columns, scale = of_tokens("key", head.k_tokens), share("share of the row")
    show("mixing", Cells(np.where(E > 0, E, 0.0)[None], Axis("row"), columns, scale, row_height=24))
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
    x = steps.astype(float)
    points = {"kept by k singular values": (x, kept[steps - 1])}
    if not head.is_causal:
        errors = [exact.pattern_error(head.pattern, linformer.pattern(head.q, head.k, int(k))) for k in steps]
        points["error of mean pooling"] = x, np.array(errors)

    def said(name: str, k: float, share: float) -> str:
        return f"{name}, rows k {k:.0f}: {per_cent(share)}"

    axes = Axes("rows k", "share", 260)
    show("ranks", curves(points, axes, said, theme=theme(), dot=50, words=(), y_range=(0.0, 1.0)))
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
    rows, columns, scale = Axis("feature of φ(k)"), Axis("coordinate of v"), signed(sums[places], "Σ φ(k) vᵀ")
    titles = tuple(f"after {names[n]}" for n in places)
    show("running_state", Cells(sums[places], rows, columns, scale, titles=titles, square=True))


def performer(here: Lesson) -> None:
    """Random features whose products are exp(q · k) on average."""
    head = head_of(here)
    with lesson.line("performer"):
        m = inputs.select_slider("Random features m", FEATURES, 64, key="features")
        seed = inputs.slider("Random seed", 0, 20, 0, key="features_draw")
    pattern = _drawn(head, m, seed)
    d = head.q.shape[1]
    cost = features.cost(len(head.q), len(head.k), d, m, drawn=True)
    beside(here, head, pattern, pattern @ head.v, title=f"{m} features", cost=cost)
    short, name = _shortest(here)
    errors = {f"head {here.choice.layer_index}.{here.choice.head}": _errors(head, seed), name: _errors(short, seed)}
    show("features_errors", _falling(np.array(FEATURES, float), errors))
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
