"""Parts of pages: each takes a trace and what the reader has chosen, and draws one figure with its words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz.analysis.heads import Kind, Verdict, confirmed, head_scores, verdicts
from tfmviz.analysis.predictions import top_predictions
from tfmviz.analysis.residual import stream
from tfmviz.plots import attention, predictions, residual
from tfmviz.plots.labels import visible
from tfmviz.trace import Array, Trace
from tfmviz.ui import controls
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show, show_clickable, show_tokens, theme

Repeats = dict[str, dict[Kind, Array]]
"""Per layer its `head_scores` on random tokens said twice."""

IN_WORDS: dict[str, str] = {
    "previous token": "looks at the token just before",
    "current token": "looks at the token itself",
    "first token": "rests on the first token",
    "induction": "looks at what followed the same token earlier",
    "duplicate": "looks at the same token earlier in the text",
    "broad": "spreads its attention evenly",
    "mixed": "follows none of the simple patterns",
}


def token_strip(trace: Trace, choice: Choice, token: int) -> None:
    """The sentence, shaded by what the chosen token looks at."""
    show_tokens(
        trace.target,
        weights=trace[f"{choice.layer}.pattern"][choice.head, token],
        allowed=trace[f"{choice.layer}.mask"][token],
        chosen=token,
    )
    st.text(sentence_about(trace, choice, token))


def sentence_about(trace: Trace, choice: Choice, token: int) -> str:
    """One row of a pattern in words, the largest weights first."""
    weights = trace[f"{choice.layer}.pattern"][choice.head, token]
    keys = trace.axes(choice.layer)[1].tokens
    largest = [int(k) for k in np.argsort(-weights, kind="stable")[:4] if weights[k] > 0]
    looks = ", ".join(f"“{visible(keys[k])}” {weights[k]:.{2 if weights[k] >= 0.01 else 4}f}" for k in largest)
    return f"{name_of(choice)}: “{visible(trace.tokens[token])}” (token {token}) looks at {looks}."


def all_heads(trace: Trace, choice: Choice, on_repeats: Repeats) -> None:
    """Thumbnails of every head; a click chooses one."""
    layers = trace.layers
    found = [layer_verdicts(trace, layer, on_repeats[layer]) for layer in layers]
    show_clickable(
        attention.thumbnails(
            np.stack([trace[f"{layer}.pattern"] for layer in layers]),
            np.stack([trace[f"{layer}.mask"] for layer in layers]),
            row_names=[f"layer {i}" for i in range(len(layers))],
            hover=[[f"layer {i}, head {h}\n{in_short(v)}" for h, v in enumerate(row)] for i, row in enumerate(found)],
            selected=(layers.index(choice.layer), choice.head),
            theme=theme(),
        ),
        key="thumbnails",
        alt="Attention of every head: "
        + "; ".join(f"layer {i}, head {h}: {in_short(v)}" for i, row in enumerate(found) for h, v in enumerate(row)),
        on_click=lambda point: controls.choose_head(*point),
    )


def one_head(trace: Trace, choice: Choice, token: int) -> None:
    """The chosen head as a heat map, with its verdict above."""
    q, k = trace.axes(choice.layer)
    show(
        attention.heatmap(
            trace[f"{choice.layer}.pattern"][choice.head],
            mask=trace[f"{choice.layer}.mask"],
            q_tokens=q.tokens,
            k_tokens=k.tokens,
            title=name_of(choice),
            theme=theme(),
            query=token,
        ),
        key="head_picture",
        alt=sentence_about(trace, choice, token),
    )


def verdict(trace: Trace, choice: Choice, on_repeats: Repeats) -> None:
    """What the chosen head does, in plain words, here and where text repeats."""
    scores = on_repeats[choice.layer]
    found = layer_verdicts(trace, choice.layer, scores)[choice.head]
    st.markdown(f"**{name_of(choice)}** {IN_WORDS[found.kind]}: **{in_short(found)}** on your sentence.")
    repeats = verdicts(scores)[choice.head]
    st.caption(
        f"On random tokens said twice it {IN_WORDS[repeats.kind]}: {in_short(repeats)}. Scores are mean shares of "
        "attention, 0 to 1; that of “broad” is the evenness of the spread."
    )


def next_words_in_short(trace: Trace, vocabulary: Sequence[str], token: int) -> None:
    """The three most probable next tokens in one line."""
    best = top_predictions(trace["logits"][token], 3)
    words = (f"“{visible(vocabulary[p.index])}” {p.probability:.{0 if p.probability >= 0.01 else 2}%}" for p in best)
    st.text(f"Next, most probably: {', '.join(words)}.")


def next_words(trace: Trace, vocabulary: Sequence[str], token: int) -> None:
    """The most probable next tokens after the chosen one."""
    best = top_predictions(trace["logits"][token], 10)
    words = [vocabulary[prediction.index] for prediction in best]
    chances = [prediction.probability for prediction in best]
    show(
        predictions.bars(words, chances, theme=theme()),
        key="predictions",
        alt="; ".join(f"“{word}” {chance:.1%}" for word, chance in zip(words, chances, strict=True)),
    )


def stream_norms(trace: Trace, token: int) -> None:
    """Length of every token's vector through the layers, and who wrote how much into the chosen one's."""
    measured = stream(trace, "decoder")
    left, right = st.columns([3, 2])
    with left:
        show(
            residual.norms(
                measured.norms, measured.attention_share, tokens=trace.tokens, theme=theme(), position=token
            ),
            key="norms",
            alt=f"Length of the vector of “{visible(trace.tokens[token])}”: "
            + ", ".join(f"{length:.1f}" for length in measured.norms[:, token])
            + ", from the embedding to the last layer.",
        )
    with right:
        show(
            residual.writes(
                measured.attention[:, token],
                measured.mlp[:, token],
                measured.attention_share[:, token],
                theme=theme(),
            ),
            key="writes",
            alt="Attention's share of each layer's step: "
            + ", ".join(f"{share:.0%}" for share in measured.attention_share[:, token]),
        )


def layer_verdicts(trace: Trace, layer: str, on_repeats: dict[Kind, Array]) -> tuple[Verdict, ...]:
    """One verdict per head of a self-attention layer on this text."""
    scores = head_scores(trace[f"{layer}.pattern"], trace.axes(layer)[1].ids, trace[f"{layer}.mask"])
    return verdicts(confirmed(scores, on_repeats))


def in_short(verdict: Verdict) -> str:
    """ "previous token 0.92"."""
    return "one token: nothing to choose" if np.isnan(verdict.score) else f"{verdict.kind} {verdict.score:.2f}"


def name_of(choice: Choice) -> str:
    return f"Layer {choice.layer.split('.')[1]}, head {choice.head}"
