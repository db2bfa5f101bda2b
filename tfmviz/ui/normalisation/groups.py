from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz.analysis import normalisation
from tfmviz.constants import MOST_TYPED
from tfmviz.plots.cells import Axis, Cells, Frame, ValueFormat, signed
from tfmviz.record.trace import Array
from tfmviz.record.weights import Norm
from tfmviz.ui import icons, inputs, lesson, models
from tfmviz.ui.figures import result, show, show_code, show_pairs
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible, whole
from tfmviz.words.numbers import decimal, per_cent

MORE = "The cat sat on the mat.\nMy dog ran home."
JOINING = "Once upon a time there was a king!"

MAX_SENTENCES = 5

ROWS, NUMBERS = 8, 24
"""Tokens of each sentence and coordinates of each vector that are drawn; the averages count all."""

PHASES = ("in training", "in use")

NORMS = ("none", "LayerNorm", "RMSNorm", "BatchNorm")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Batch:
    """The norms' input.

    Attributes:
        vectors: (sentence, longest, d_model), 0 in the padding.
        present: (sentence, longest), False in the padding.
    """

    tokens: tuple[tuple[str, ...], ...]
    vectors: Array
    present: Array


def batch(ctx: PageContext) -> list[str]:
    """Draws the choice of the batch's sentences; the reader's is the first."""
    typed = inputs.text_area(
        f"More sentences for the batch, one per line, at most {MAX_SENTENCES}",
        MORE,
        key="batch",
        max_chars=MOST_TYPED,
        height=96,
    )
    lines = [line for line in typed.splitlines() if line.strip()]
    if len(lines) > MAX_SENTENCES:
        st.info(f"The first {MAX_SENTENCES} of your {len(lines)} lines are used.", icon=icons.CUT)
    return [ctx.text, *lines[:MAX_SENTENCES]]


def read_batch(ctx: PageContext, texts: list[str]) -> Batch:
    """The stream before the chosen layer."""
    stack, index, _ = ctx.choice.layer.split(".")
    site = f"{stack}.{index}.resid_pre"
    runs = [ctx.trace if text == ctx.text else models.trace_at(ctx.model, text, site) for text in texts]
    vectors, present = normalisation.padded([run[site] for run in runs])
    tokens = tuple(run.axes(f"{stack}.{index}.self_attn")[0].tokens for run in runs)
    return Batch(tokens=tokens, vectors=vectors, present=present)


def _normed(batch: Batch, norm: str, statistics: tuple[Array, Array]) -> Array:
    match norm:
        case "LayerNorm":
            return normalisation.layer_norm(batch.vectors)
        case "RMSNorm":
            return normalisation.rms_norm(batch.vectors)
        case "BatchNorm":
            return normalisation.batch_norm(batch.vectors, *statistics)
    return batch.vectors


def _statistics(batch: Batch, *, padding: bool = False) -> tuple[Array, Array]:
    return normalisation.batch_statistics(batch.vectors, np.ones_like(batch.present) if padding else batch.present)


def groups(ctx: PageContext) -> None:
    line, figure = lesson.control_row("groups"), st.container()
    given = read_batch(ctx, batch(ctx))
    norm = inputs.segmented_control("Normalised by", NORMS, default="none", key="norm", line=line)
    last = min(ROWS, len(given.tokens[0])) - 1
    row = min(1, last)
    if last > 0:
        row = min(inputs.slider("Token", 0, last, row, key="row", line=line), last)
    numbers = min(NUMBERS, given.vectors.shape[2])
    column = inputs.slider("Coordinate", 0, numbers - 1, min(3, numbers - 1), key="column", line=line)
    normed = _normed(given, norm, _statistics(given))
    shown = np.where(given.present[..., None], normed, np.nan)[:, :ROWS, :numbers]
    across, down = normed[0, row], normed[..., column][given.present]
    name = markdown.plain(quoted(given.tokens[0])[row])
    tokens = f"all {len(down)} tokens" if len(down) > 1 else "the only token"
    row_first = (
        f"Row, as in LayerNorm and RMSNorm: the {len(across)} coordinates of {name}: mean "
        f"**{decimal(across.mean(), '.3f')}**, standard deviation **{decimal(across.std(), '.3f')}**, root mean "
        f"square **{decimal(np.sqrt((across**2).mean()), '.3f')}**",
        f"Column, as in BatchNorm: coordinate {column} of {tokens}: mean **{decimal(down.mean(), '.3f')}**, standard "
        f"deviation **{decimal(down.std(), '.3f')}**",
    )
    result(". ".join(reversed(row_first) if norm == "BatchNorm" else row_first) + ".")
    n_rows = shown.shape[1]
    names, spoken = [], []
    for s, i in np.ndindex(shown.shape[:2]):
        token = given.tokens[s][i] if i < len(given.tokens[s]) else None
        names.append(f"{s + 1} {'padding' if token is None else visible(token)}")
        sentence = f"padding at {i}" if token is None else f"token {i} “{whole(token)}”"
        spoken.append(f"sentence {s + 1}, {sentence}")
    ends = range(n_rows, len(names), n_rows)
    frames = [Frame(top=end, left=0, bottom=end, right=numbers, colour="text") for end in ends]
    if norm != "BatchNorm":
        frames.append(Frame(top=row, left=0, bottom=row + 1, right=numbers, colour="text"))
    if norm in ("none", "BatchNorm"):
        frames.append(Frame(top=0, left=column, bottom=len(names), right=column + 1, colour="plain"))
    with figure:
        show(
            "groups",
            Cells(
                shown.reshape(1, -1, numbers),
                Axis("", names, spoken),
                Axis("coordinate of the vector", spoken=[f"coordinate {i}" for i in range(numbers)]),
                signed(shown, "value", limit=None if norm == "none" else 3.0),
                form=ValueFormat(sign=True),
                frames=tuple(frames),
                row_height=21,
            ),
        )
    rows = given.vectors[given.present]
    apart = float(normalisation.change(normalisation.layer_norm(rows), normalisation.rms_norm(rows)).max())
    st.markdown(f"RMSNorm subtracts no mean; here it differs from LayerNorm by at most {per_cent(apart)} of the norm.")
    st.caption(
        f"Shown: at most {ROWS} tokens of each sentence and {numbers} of {given.vectors.shape[2]} coordinates, without "
        "γ and β; padding (grey) is not averaged."
    )
    if given.present.sum() == 1:
        st.info("With one token BatchNorm has nothing to average: each coordinate becomes 0.", icon=icons.INFO)
    show_code(Norm, normalisation.batch_statistics, normalisation.batch_norm)


def _is_uniform(given: Batch, *, padding: bool) -> bool:
    """BatchNorm averages equal vectors, such as that of a single token, and so makes all numbers 0."""
    rows = given.vectors[np.ones_like(given.present) if padding else given.present]
    return not np.ptp(rows, axis=0).any()


def company(ctx: PageContext) -> None:
    with lesson.control_row("company"):
        typed = inputs.text_input("The added sentence", JOINING, key="joining", max_chars=MOST_TYPED)
        phase = inputs.segmented_control("BatchNorm", PHASES, key="phase")
        padding = inputs.toggle("Count the padding too", key="padding")
    figure = st.container()
    texts = batch(ctx)
    before, after = read_batch(ctx, texts), read_batch(ctx, [*texts, typed if typed.strip() else JOINING])
    stored = phase == PHASES[1]
    with figure:
        if _is_uniform(before, padding=padding) and not stored:
            st.markdown(
                "Before, BatchNorm averaged equal vectors, so every coordinate was 0. "
                + (
                    "The new sentence brings no other vector, so they still are."
                    if _is_uniform(after, padding=padding)
                    else "Now they are not. LayerNorm and RMSNorm change nothing."
                )
            )
        else:
            length, moved = len(before.tokens[0]), {}
            statistics = [_statistics(before if stored else given, padding=padding) for given in (before, after)]
            for norm in NORMS[1:]:
                alone, together = (
                    _normed(given, norm, used)[0, :length]
                    for given, used in zip((before, after), statistics, strict=True)
                )
                moved[norm] = normalisation.change(alone, together)
            show_pairs(
                "company",
                before.tokens[0],
                moved["LayerNorm"],
                moved["BatchNorm"],
                series=("LayerNorm", "BatchNorm"),
                title="relative change of the vector",
                token_title="token of your sentence",
                percent=True,
            )
            result(
                f"Your vectors change by **{moved['BatchNorm'].mean():.1%}** of their norm on average with BatchNorm"
                + (", which now takes stored averages" if stored else "")
                + f", by {moved['LayerNorm'].max():.0%} with LayerNorm and {moved['RMSNorm'].max():.0%} with RMSNorm: "
                "these see each token alone."
            )
    st.markdown("Batches of text differ too much for BatchNorm (Shen et al. 2020).")
