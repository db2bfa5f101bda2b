"""The step-by-step page: what its view gets, where the reader stands, and the parts below it."""

from __future__ import annotations

import io
import re
from typing import Any, get_args

import numpy as np
import streamlit as st

from tfmviz.analysis import attention_layer, scaling
from tfmviz.analysis.attention_layer import Projections
from tfmviz.analysis.heads import IN_WORDS, Kind, confirmed, layer_scores
from tfmviz.analysis.predictions import softmax
from tfmviz.plots import steps as figures
from tfmviz.plots.labels import visible
from tfmviz.plots.pairs import pairs
from tfmviz.trace import Array, Trace
from tfmviz.ui import controls, models
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show, show_code, show_view, theme
from tfmviz.views import steps

STAGE = re.compile(r"[a-z]{1,12}")
CELL = re.compile(r"[A-Za-z_]{0,12}(\.\d{1,4}){4}")

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
N_QUERIES, N_KEYS = 256, 16
"""Rows and keys per row of the experiment with random vectors."""


@st.cache_resource(show_spinner=False, max_entries=16)
def projections(name: str, layer: str, q_len: int, k_len: int) -> Projections:
    """The matrices of one layer, head by head."""
    from tfmviz.model.attention import Attention

    model = models.load(name)
    stack, index, part = layer.split(".")
    attention = model.module.get_submodule(f"{stack}.blocks.{index}.{part}")
    assert isinstance(attention, Attention)
    d_head = model.config.d_head

    def split(weight: Any) -> Array:
        """(heads × d_head, …) to (heads, d_head, …)."""
        return weight.detach().unflatten(0, (-1, d_head)).numpy()

    return Projections(
        W_Q=split(attention.W_Q.weight).swapaxes(1, 2),
        b_Q=split(attention.W_Q.bias),
        W_K=split(attention.W_K.weight).swapaxes(1, 2),
        b_K=split(attention.W_K.bias),
        W_V=split(attention.W_V.weight).swapaxes(1, 2),
        b_V=split(attention.W_V.bias),
        W_O=split(attention.W_O.weight.T),
        b_O=attention.W_O.bias.detach().numpy(),
        **(_positions(model.module.get_submodule(stack).positions, q_len, k_len) if part == "self_attn" else {}),
    )


def _positions(scheme: Any, q_len: int, k_len: int) -> dict[str, Array]:
    """What a position scheme does to queries, keys and scores."""
    from tfmviz.positions.rope import Rope, rotation_angles

    if isinstance(scheme, Rope):
        return {"angles": rotation_angles(k_len, 2 * scheme.angles.shape[1]).numpy()}
    bias = scheme.bias(q_len, k_len)
    return {} if bias is None else {"bias": bias.detach().numpy()}


def projections_of(trace: Trace, choice: Choice) -> Projections:
    """The matrices of the chosen layer, with its position scheme for a text of this length."""
    return projections(choice.model, choice.layer, *trace[f"{choice.layer}.pattern"].shape[1:])


@st.cache_resource(show_spinner=False, max_entries=32)
def payload(choice: Choice, text: str) -> bytes:
    """What the view in the browser gets."""
    trace = models.trace(choice.model, text)
    return steps.payload(trace, choice.layer, choice.head, projections_of(trace, choice), title=choice.model)


def stages(choice: Choice, text: str, token: int) -> None:
    """The stages themselves, in the browser."""
    asked = {key: st.query_params.get(key, "") for key in ("stage", "at")}
    show_view(
        "steps",
        js=steps.JS,
        css=steps.CSS,
        data=payload(choice, text),
        selection={
            "sequence": st.session_state.get("steps_sequence", 0),
            "stage": asked["stage"] if STAGE.fullmatch(asked["stage"]) else "sentence",
            "at": asked["at"] if CELL.fullmatch(asked["at"]) else "",
            "token": token,
        },
        on_report=follow,
    )


def follow(report: dict[str, Any]) -> None:
    """Makes the address and the figures below follow what was chosen in the view."""
    st.session_state["steps_sequence"] = int(report["sequence"])
    parts = {"stage": (STAGE, str(report["stage"])), "at": (CELL, str(report["at"]))}
    controls.remember(int(report["token"]), {key: text for key, (form, text) in parts.items() if form.fullmatch(text)})


def scaling_lab(trace: Trace, choice: Choice, token: int) -> None:
    """Scores with and without ÷ √d, for vectors of any width."""
    source = st.radio(
        "Vectors", ("random, variance 1", "this head's own"), horizontal=True, key="vectors", bind="query-params"
    )
    own = source == "this head's own"
    d_head = trace[f"{choice.layer}.q"].shape[-1]
    widths = [d for d in WIDTHS if d < d_head] + [d_head] if own else list(WIDTHS)
    if own:
        controls.at_most("d_own", d_head)
    d = st.select_slider(
        "d, numbers in each vector", widths, min(64, widths[-1]), key="d_own" if own else "d", bind="query-params"
    )
    scores, mask, names = _own_scores(trace, choice, d) if own else _random_scores(d)
    row = token if own else 0
    plain, scaled = scaling.sharpness(scores, mask), scaling.sharpness(scores / np.sqrt(d), mask)
    law = f"The law for independent numbers of variance 1: Var(q · k) = d = {d}."
    st.markdown(
        f"Variance of q · k, measured over {int(mask.sum()):,} pairs: **{_number(plain.variance)}**. {law} "
        f"Divided by √d = {np.sqrt(d):.2f} it is **{_number(scaled.variance)}**."
    )
    left, right = st.columns(2)
    with left:
        largest = max(float(np.abs(scores[mask]).max()), 1e-6)
        parts = [scaling.histogram(values[mask], largest=largest) for values in (scores, scores / np.sqrt(d))]
        show(
            figures.histogram(*parts[0], parts[1][1], theme=theme()),
            key="score_histogram",
            alt=f"Scores reach from {scores[mask].min():.1f} to {scores[mask].max():.1f}; divided by √d they lie "
            f"between {scores[mask].min() / np.sqrt(d):.1f} and {scores[mask].max() / np.sqrt(d):.1f}.",
        )
    with right:
        shares = [softmax(np.where(mask[row], values[row], -np.inf)) for values in (scores, scores / np.sqrt(d))]
        show(
            pairs(names, *shares, series=("q · k", "q · k / √d"), title="share after softmax", theme=theme()),
            key="softmax_rows",
            alt=f"Softmax of one row: the largest share is {shares[0].max():.2f} without, {shares[1].max():.2f} with "
            "scaling.",
        )
    st.table(
        {
            "averaged over all rows": ["largest share", "evenness (entropy, 1 = all alike)", "gradient of the softmax"],
            "q · k": [_number(plain.largest), _number(plain.evenness), _number(plain.gradient)],
            "q · k / √d": [_number(scaled.largest), _number(scaled.evenness), _number(scaled.gradient)],
        }
    )


def _random_scores(d: int) -> tuple[Array, Array, list[str]]:
    scores = scaling.dot_products(*_random_vectors(d))
    return scores, np.ones(scores.shape, dtype=bool), [f"key {j}" for j in range(N_KEYS)]


@st.cache_resource(show_spinner=False, max_entries=4)
def _random_vectors(d: int) -> tuple[Array, Array]:
    return scaling.unit_vectors(d, n_queries=N_QUERIES, n_keys=N_KEYS, seed=d)


def _own_scores(trace: Trace, choice: Choice, d: int) -> tuple[Array, Array, list[str]]:
    """Scores of the chosen head from the first `d` numbers of its queries and keys."""
    q, k = (_own(trace, choice, name)[:, :d].astype(np.float64) for name in ("q", "k"))
    scores = q @ k.T
    mask = np.broadcast_to(trace[f"{choice.layer}.mask"], scores.shape)
    return scores, mask, list(trace.axes(choice.layer)[1].tokens)


def _own(trace: Trace, choice: Choice, name: str) -> Array:
    """Queries, keys or values of the chosen head, turned where the position scheme turns them: (len, d_head)."""
    turned = f"{choice.layer}.rot_{name}"
    values = trace[turned if turned in trace else f"{choice.layer}.{name}"]
    return attention_layer.grouped(values, len(trace[f"{choice.layer}.q"]))[choice.head]


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def lookup(trace: Trace, choice: Choice, token: int) -> None:
    """One row of attention as a look-up in a table, soft and hard."""
    row = trace[f"{choice.layer}.pattern"][choice.head][token]
    queries, keys = trace.axes(choice.layer)
    best, cosine = attention_layer.hard_lookup(row, _own(trace, choice, "v"))
    hard = np.eye(len(row))[best]
    show(
        pairs(keys.tokens, row, hard, series=("soft: attention", "hard: best key"), title="part taken", theme=theme()),
        key="lookup",
        alt="Soft look-up: "
        + ", ".join(f"“{visible(t)}” {a:.2f}" for t, a in zip(keys.tokens, row, strict=True) if a >= 0.01),
    )
    found, asked = controls.plain(visible(keys.tokens[best])), controls.plain(visible(queries.tokens[token]))
    st.markdown(
        f"“{asked}” asks. A Python `dict` would return the value of “{found}” alone. Attention takes {row[best]:.0%} "
        f"of it and the rest from the others: the cosine between the two results is **{_number(cosine)}** (1 = same "
        "direction)."
    )


def contributions(trace: Trace, choice: Choice, token: int) -> None:
    """What each head adds for the token, and which looks matter."""
    layer = choice.layer
    weights = projections_of(trace, choice)
    pattern, n_heads = trace[f"{layer}.pattern"], len(trace[f"{layer}.q"])
    written = np.linalg.norm(attention_layer.writes(trace[f"{layer}.z"], weights.W_O), axis=-1)[:, token]
    v = attention_layer.grouped(trace[f"{layer}.v"], n_heads)
    effects = attention_layer.effects(pattern, v, weights.W_O)[choice.head, token]
    share = effects / max(float(effects.sum()), 1e-12)
    keys = trace.axes(layer)[1].tokens
    left, right = st.columns([2, 3])
    with left:
        st.markdown("Length of what each head adds to the stream, ‖z W_O‖:")
        show(
            figures.bars([f"head {h}" for h in range(n_heads)], written, chosen=choice.head, theme=theme()),
            key="head_writes",
            alt="; ".join(f"head {h}: {length:.2f}" for h, length in enumerate(written)),
        )
    with right:
        st.markdown(f"Head {choice.head}: attention to each key, and the key's part in what is added, ‖a v W_O‖:")
        show(
            pairs(
                keys,
                pattern[choice.head, token],
                share,
                series=("attention", "effect"),
                title="share",
                theme=theme(),
            ),
            key="look_effects",
            alt="; ".join(
                f"“{visible(t)}” attention {a:.2f}, effect {e:.2f}"
                for t, a, e in zip(keys, pattern[choice.head, token], share, strict=True)
            ),
        )
    most_looked, most_felt = int(pattern[choice.head, token].argmax()), int(share.argmax())
    names = [controls.plain(visible(keys[j])) for j in (most_looked, most_felt)]
    st.markdown(
        f"Most looked at: “{names[0]}” ({pattern[choice.head, token, most_looked]:.0%} of the attention, "
        f"{share[most_looked]:.0%} of the effect). Most felt: “{names[1]}” ({share[most_felt]:.0%} of the effect). "
        + (
            "Here both agree."
            if most_looked == most_felt
            else "**High attention is not high effect:** a short value carries little."
        )
    )


def average(trace: Trace, choice: Choice) -> None:
    """The mean of a layer's heads beside the heads."""
    pattern = trace[f"{choice.layer}.pattern"]
    mask = np.broadcast_to(trace[f"{choice.layer}.mask"], pattern.shape[1:])
    mean = pattern.mean(axis=0)
    titles = ["mean of all heads", *(f"head {h}" for h in range(len(pattern)))]
    evenness = [scaling.entropy(matrix.astype(np.float64)).mean() for matrix in (mean, *pattern)]
    show(
        figures.tiles([mean, *pattern], mask, titles=titles, theme=theme()),
        key="mean_and_heads",
        alt="Entropy of the rows, in nats: " + "; ".join(f"{t} {e:.2f}" for t, e in zip(titles, evenness, strict=True)),
    )
    st.markdown(
        f"The mean is a blur of what the heads do: its rows have an entropy of **{evenness[0]:.2f}**, the heads' own "
        f"**{np.mean(evenness[1:]):.2f}** on average, from {min(evenness[1:]):.2f} to {max(evenness[1:]):.2f}. One "
        "head with the mean pattern could not do their work."
    )


def finder(trace: Trace, choice: Choice) -> None:
    """All heads of all layers, by what they do."""
    if trace.source is not None or not trace.layers[0].endswith("self_attn"):
        st.info("Heads are found by what they do within one text. Choose a model with one text in the sidebar.")
        return
    kinds: tuple[Kind, ...] = get_args(Kind)
    kind = (
        st.segmented_control(
            "What should the head do?", kinds, default=kinds[0], key="kind_of_head", bind="query-params"
        )
        or kinds[0]
    )
    on_repeats = models.scores_on_repeats(choice.model)
    measured = layer_scores(trace)
    scores = np.stack([confirmed(measured[layer], on_repeats[layer])[kind] for layer in trace.layers])
    best = attention_layer.ranking(scores)
    show(
        figures.head_scores(scores, title=kind, chosen=(choice.layer_index, choice.head), theme=theme()),
        key="head_scores",
        alt="; ".join(f"layer {layer}, head {head}: {score:.2f}" for layer, head, score in best[:8]),
    )
    if not best:
        st.markdown("This text gives no head the chance to do that: there must be a token that comes twice.")
        return
    named = "; ".join(f"**layer {layer}, head {head}** ({score:.2f})" for layer, head, score in best[:5])
    st.markdown(
        f"A head that {IN_WORDS[kind]}: {named}. Set layer and head in the sidebar to take it through the stages."
    )


def code(trace: Trace, choice: Choice) -> None:
    """The model's own source, and the same in numpy with the numbers to run it on."""
    from tfmviz.analysis import numpy_attention

    st.markdown(
        "The same in numpy. Download the layer's input and matrices and run this in a notebook: it gives the numbers "
        "of this page."
    )
    st.code(notebook(numpy_attention), language="python")
    st.download_button(
        "attention.npz", lambda: arrays(trace, choice), "attention.npz", "application/octet-stream", on_click="ignore"
    )
    show_code(*models.attention_code())


def notebook(module: Any) -> str:
    """The numpy version as it stands in its file, and how to call it."""
    import inspect

    source = re.sub(r"  # type: ignore.*", "", inspect.getsource(module).split('"""', 2)[2].strip())
    return f'{source}\n\n\ndata = np.load("attention.npz")\nscores, pattern, z, out = attention(**data)\n'


def arrays(trace: Trace, choice: Choice) -> bytes:
    """The arguments of the numpy version for the chosen layer, for `numpy.load`."""
    weights = projections_of(trace, choice)
    x_q, x_kv = attention_layer.inputs(trace, choice.layer)
    given = {name: getattr(weights, name) for name in Projections.__slots__ if getattr(weights, name) is not None}
    data = io.BytesIO()
    np.savez_compressed(data, allow_pickle=False, x_q=x_q, x_kv=x_kv, mask=trace[f"{choice.layer}.mask"], **given)
    return data.getvalue()
