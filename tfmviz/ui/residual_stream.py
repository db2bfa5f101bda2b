"""The residual-stream page: lengths by depth, pre-norm beside post-norm, and the parts that a token's stream is of."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import contributions, residual
from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.analysis.contributions import River
from tfmviz.plots import residual as maps
from tfmviz.plots import stream as figures
from tfmviz.plots.labels import visible
from tfmviz.plots.numbers import decimal, tiny
from tfmviz.plots.pairs import pairs
from tfmviz.trace import Array, Trace
from tfmviz.ui import controls, models, weights
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show, theme

TWINS = {"pre-norm": "twins-rope", "post-norm": "twins-postnorm"}
"""Two shipped models that differ in nothing but where their norms stand."""

STANDS_OUT = 2.0
"""From this factor on the first token is called an outlier."""


def token_box(tokens: tuple[str, ...], position: int) -> None:
    """Asks for the token that the figures are about; it is the same on all pages."""
    st.session_state["chosen_token"] = position
    st.selectbox(
        "Token",
        range(len(tokens)),
        format_func=lambda n: f"{n}  {visible(tokens[n])}",
        key="chosen_token",
        on_change=lambda: controls.remember(st.session_state["chosen_token"], {}),
        width=260,
    )


def lengths(trace: Trace, choice: Choice, token: int) -> None:
    """Length of every token's vector by depth, as lines and as a map, and what the norms do to it."""
    stack = choice.layer.split(".")[0]
    tokens = trace.axes(choice.layer)[0].tokens
    stages = residual.stages(trace, stack, "steps")
    values = residual.lengths(trace, list(stages.values()))
    _growth_in_words(values, trace)
    show(
        figures.growth(values, stages=list(stages), tokens=tokens, position=token, theme=theme()),
        key="growth",
        alt="Mean length: " + "; ".join(f"{s} {v:.1f}" for s, v in zip(stages, values.mean(axis=1), strict=True)),
    )
    _outlier_in_words(values, list(stages), tokens[0])
    show(
        maps.lengths(values, stages=list(stages), tokens=tokens, theme=theme(), position=token),
        key="lengths",
        alt=f"Length of “{visible(tokens[token])}”: "
        + "; ".join(f"{s} {v:.1f}" for s, v in zip(stages, values[:, token], strict=True)),
    )
    st.markdown(
        f"What a norm does: the length of “{controls.plain(visible(tokens[token]))}” before and after each of them. "
        + (
            "In a pre-norm model a layer reads the normed copy; the stream itself keeps its length."
            if is_pre_norm(trace)
            else "In a post-norm model the normed vector takes the stream's place."
        )
    )
    _before_and_after(trace, stack, token)


def _growth_in_words(values: Array, trace: Trace) -> None:
    first, last = values[0].mean(), values[-1].mean()
    kind = (
        "This is a pre-norm model: no norm touches the stream itself, every layer adds to it, so it can grow with depth"
        if is_pre_norm(trace)
        else "This is a post-norm model: a norm after every layer sets the length anew, so it cannot pile up"
    )
    st.markdown(
        f"{kind}. Mean length **{first:.2f}** at the start, **{last:.2f}** at the end: "
        f"{last / max(first, 1e-12):.3g} times."
    )


def _outlier_in_words(values: Array, stages: list[str], first: str) -> None:
    if values.shape[1] < 2:
        st.markdown("One token alone has nothing to stand out from. Type more to compare lengths.")
        return
    stage, factor = residual.outlier(values)
    name, where = controls.plain(visible(first)), stages[stage]
    where = "in the embedding" if stage == 0 else f"after {where}"
    if factor >= STANDS_OUT:
        st.markdown(
            f"**The first token “{name}” stands out**: {where} it is {factor:.1f} times as long as the median of the "
            "others. Heads with nothing to do often rest on such a token."
        )
        return
    st.markdown(
        f"The first token “{name}” is no outlier here: at most {factor:.2f} times the median of the others, {where}. "
        "In large models it is often many times as long as all others."
    )


def _before_and_after(trace: Trace, stack: str, token: int) -> None:
    norms = residual.normalisations(trace, stack)
    before, after = (
        np.array([np.linalg.norm(pair[side][token]) for pair in norms.values()], dtype=float) for side in (0, 1)
    )
    show(
        pairs(
            list(norms),
            before,
            after,
            series=("before the norm", "after it"),
            title="length",
            token_title="the norm of layer",
            top=None,
            theme=theme(),
        ),
        key="norms_before_after",
        alt="; ".join(f"{n}: {b:.1f} → {a:.1f}" for n, b, a in zip(norms, before, after, strict=True)),
    )


def twins(text: str, layer: int) -> None:
    """The same sentence through two models that differ only in where their norms stand."""
    missing = [name for name in TWINS.values() if name not in zoo.available()]
    if missing:
        st.info(f"This comparison needs the model {controls.code(missing[0])}, which is not among the shipped ones.")
        return
    runs = {kind: models.trace(name, text) for kind, name in TWINS.items()}
    controls.say_what_was_cut(runs["pre-norm"])
    measured = {}
    for kind, trace in runs.items():
        stages = residual.stages(trace, "decoder", "steps")
        measured[kind] = (list(stages), residual.lengths(trace, list(stages.values())))
    top = max(float(values.max()) for _, values in measured.values())
    for column, (kind, (names, values)) in zip(st.columns(2), measured.items(), strict=True):
        tokens = runs[kind].tokens
        with column:
            st.markdown(f"**{kind}** ({controls.code(TWINS[kind])})")
            show(
                figures.growth(
                    values, stages=names, tokens=tokens, position=controls.token(len(tokens)), theme=theme(), top=top
                ),
                key=f"growth_{kind.removesuffix('-norm')}",
                alt="Mean length: "
                + "; ".join(f"{n} {v:.1f}" for n, v in zip(names, values.mean(axis=1), strict=True)),
            )
    spread = {kind: values[-1].std() / values[-1].mean() for kind, (_, values) in measured.items()}
    st.markdown(
        f"After the last layer the tokens' lengths differ by {spread['pre-norm']:.0%} of their mean in the pre-norm "
        f"twin and by {spread['post-norm']:.0%} in the post-norm twin, whose last norm has just set them."
    )
    _five_tensors(runs, min(layer, residual.depth(runs["pre-norm"], "decoder") - 1))


def _five_tensors(runs: dict[str, Trace], layer: int) -> None:
    st.markdown(
        f"One layer is five tensors. Here those of layer {layer} (the sidebar chooses it), with the mean length of a "
        "token's vector in each. Follow the + : in pre-norm it goes past the norm, in post-norm into it."
    )
    columns: dict[str, list[str]] = {}
    for kind, trace in runs.items():
        tensors = residual.five_tensors(trace, f"decoder.{layer}")
        columns[kind] = list(tensors)
        columns[f"length, {kind}"] = [f"{np.linalg.norm(x, axis=-1).mean():.2f}" for x in tensors.values()]
    st.table(columns)


def river(trace: Trace, choice: Choice, token: int) -> None:
    """What every part of the model added to one token's stream."""
    stack = choice.layer.split(".")[0]
    found = contributions.river(trace, stack, token, weights.of_stack(choice.model, stack))
    kinds = [part.kind for part in found.parts]
    names = [part.name for part in found.parts]
    length = float(np.linalg.norm(found.final))
    show(
        figures.waterfall(
            found.along, kinds=kinds, names=names, steps=[part.step for part in found.parts], theme=theme()
        ),
        key="river",
        alt=f"Distances along the final direction, together {length:.2f}: "
        + "; ".join(f"{name} {a:+.2f}" for name, a in zip(names, found.along, strict=True)),
    )
    st.markdown(
        f"The {len(names)} parts sum to the model's own vector; no number of it is off by more than "
        f"**{tiny(found.residue)}**. Along the final direction they reach {found.along.sum():.2f}, its length."
    )
    if not is_pre_norm(trace):
        st.info(
            "This is a post-norm model: after each layer a norm rescales all that was written so far, so its stream is "
            "not a plain sum. The norms are steps of their own here (grey); with them the sum is exact. What a part "
            "looks like once all later norms have scaled it is on the tab “Who made the word”.",
            icon="📏",
        )
    st.markdown(
        "Length and direction of every part: left of the middle lies what points against the stream it meets. That is "
        "how a layer deletes: it writes the negative of what is there."
    )
    show(
        figures.sizes(found.size, found.to_stream, kinds=kinds, names=names, theme=theme()),
        key="sizes",
        alt="; ".join(
            f"{n}: length {s:.2f}, cosine {c:.2f}" for n, s, c in zip(names, found.size, found.to_stream, strict=True)
        ),
    )
    _erasers_in_words(found)
    with st.expander("All parts as numbers"):
        _table(found)


def _erasers_in_words(found: River) -> None:
    worst = found.erasers()
    if not worst:
        st.markdown("On this token no part erases: none points against the stream it meets (cosine below −0.1).")
        return
    named = "; ".join(
        f"**{found.parts[n].name}** (length {found.size[n]:.2f}, cosine {decimal(found.to_stream[n])}, takes away "
        f"{-found.size[n] * found.to_stream[n]:.2f})"
        for n in worst[:5]
    )
    count = "1 part erases" if len(worst) == 1 else f"{len(worst)} parts erase"
    st.markdown(f"{count} on this token (cosine below −0.1), most of all: {named}.")


def _table(found: River) -> None:
    st.dataframe(
        {
            "part": [part.name for part in found.parts],
            "length": np.round(found.size, 3),
            "cosine to the stream it meets": np.round(found.to_stream, 3),
            "cosine to the final vector": np.round(found.to_final, 3),
            "along the final direction": np.round(found.along, 3),
        },
        hide_index=True,
        height=320,
    )
