"""The score of a pair of tokens as a sum: its terms, and the effect of removing one of them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.why.reading import BIASES, folded, largest
from tfmviz.analysis.why.score import SIDES, Pair, ScoreSum, Side, measured, removal, score_sum, sharing
from tfmviz.plots.cells import Axis, Cells, ValueFormat, chosen_cell, named, short, signed
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import AttentionWeights
from tfmviz.ui import before_after, icons, inputs, lesson, models, side, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_pairs, show_table
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, said_of_queries
from tfmviz.words.numbers import counted, decimal, per_cent, rounded


def ask(ctx: PageContext) -> ScoreSum | None:
    if ctx.weights.is_linear:
        st.info("Linear attention has no scores. Choose another model.", icon=icons.INFO)
        return None
    with lesson.control_row("pair"):
        lesson.pair_boxes(ctx)
    return sum_of(ctx.model, ctx.text, pair_of(ctx))


def pair_of(ctx: PageContext) -> Pair:
    return Pair(layer=ctx.choice.layer, head=ctx.choice.head, query=ctx.query, key=ctx.key)


@cached_for_all
def sum_of(model: Model, text: str, pair: Pair) -> ScoreSum:
    trace = models.trace(model, text)
    return score_sum(trace, pair, model.weights, lesson.positions_in(model, trace, pair.layer))


def names_of(ctx: PageContext) -> dict[Side, str]:
    return {side: markdown.plain(label) for side, label in labels_of(ctx).items()}


def labels_of(ctx: PageContext) -> dict[Side, str]:
    queries, keys = ctx.trace.axes(ctx.choice.layer)
    return {"query": quoted(queries.tokens)[ctx.query], "key": quoted(keys.tokens)[ctx.key]}


def summary_text(writer: str) -> str:
    """A writer within a sentence: "the embedding", but "MLP 0"."""
    return writer if any(map(str.isdigit, writer)) else f"the {writer}"


def term_cells(values: Array, rows: Axis, columns: Axis, added: str, *, chosen: tuple[int, int] | None = None) -> Cells:
    """The terms of a sum, (row, column), such as a score: signed, with small ones visible."""
    scale, texts = signed(values, added, root=True), short(values, "+.2f")
    form, frames = ValueFormat(sign=True), chosen_cell(chosen)
    return Cells(values[None], rows, columns, scale, form=form, texts=texts, frames=frames, row_height=30)


def said_to_share(attention: AttentionWeights, head: int) -> str:
    """Other heads that lose a share of a common key or value too; else ""."""
    heads = sharing(attention, head)
    if len(heads) == 1:
        return ""
    return f" Heads {', '.join(map(str, heads))} share keys and values."


TAB = "Test it"  # its title in pages/why.py, which the search reads there

Path = tuple[Side, int]

SERIES = ("as it is", "without the path")


def remove(side: Side, writer: int) -> None:
    url.put({"taken": f"{side[0]}{writer}"})
    st.session_state["why"] = TAB


def believe(ctx: PageContext) -> None:
    if (found := ask(ctx)) is None:
        return
    path = _chosen_paths(found)
    pair = pair_of(ctx)
    after = _run(ctx.model, ctx.text, pair, path)
    left, right = st.columns(2)
    with left:
        paths, labels = _paths(found), labels_of(ctx)
        show_table(
            "paths",
            caption="Click a path to remove it.",
            columns=["path", "predicted change"],
            rows=[
                [f"{_writer(found, p)} → {p[0]} of {labels[p[0]]}", decimal(found.predicted(*p), "+.2f")] for p in paths
            ],
            picked=paths.index(path) if path in paths else -1,
            low=True,
            on_pick=lambda row: remove(*paths[row]),
        )
    with right:
        (side, _), names = path, names_of(ctx)
        together = said_to_share(ctx.weights, ctx.choice.head) if side == "key" else ""
        change = measured(after, pair, ctx.weights) + found.bias - found.measured
        result(
            f"Without {summary_text(_writer(found, path))} in the {side} of {names[side]}: predicted "
            f"**{decimal(found.predicted(*path), '+.2f')}**, measured **{decimal(change, '+.2f')}**. "
            f"{_why(found, path)} {_share(ctx, found, after)}{together}"
        )
    left, right = st.columns(2)  # aligns the charts
    with left:
        site, at = f"{ctx.choice.layer}.pattern", (ctx.choice.head, ctx.query)
        keys = ctx.trace.axes(ctx.choice.layer)[1].tokens
        old, new = ctx.trace[site][at], after[site][at]
        show_pairs("row_without", keys, old, new, series=SERIES, title="share of attention")
    with right, lesson.where_it_predicts():
        before_after.next_words(ctx, after, ctx.target, series=SERIES, key="words_without")


@cached_for_all
def _run(model: Model, text: str, pair: Pair, path: Path) -> Trace:
    trace, (side, writer) = models.trace(model, text), path
    edit = removal(sum_of(model, text, pair), pair, model.weights, side=side, writer=writer)
    names = [name for name in ("q", "k", "rot_q", "rot_k", "pattern") if f"{pair.layer}.{name}" in trace]
    logits = ["logits"] if "logits" in trace else []
    return models.run(model, text, (edit,), sites=[f"{pair.layer}.{name}" for name in names] + logits)


def _paths(found: ScoreSum) -> list[Path]:
    return [(side, writer) for side in SIDES for writer in largest(found.by_writer(side), 5)]


def _chosen_paths(found: ScoreSum) -> Path:
    if asked := url.match("taken", r"([qk])([0-9]{1,5})"):
        side: Side = "query" if asked[1] == "q" else "key"
        if int(asked[2]) < len(found.readings[side].names):
            return side, int(asked[2])
    return max(_paths(found), key=lambda path: abs(found.predicted(*path)) * (_writer(found, path) != BIASES))


def _writer(found: ScoreSum, path: Path) -> str:
    return found.readings[path[0]].names[path[1]]


def _why(found: ScoreSum, path: Path) -> str:
    if (scales := found.readings[path[0]].scales(path[1])) is None:
        return "Later norms change too."
    before, after = map(rounded, scales)
    return f"Predicted with σ = {before}, which " + (f"becomes {after}." if before != after else "hardly changes.")


def _share(ctx: PageContext, found: ScoreSum, after: Trace) -> str:
    at, site = (ctx.choice.head, ctx.query, ctx.key), f"{ctx.choice.layer}.pattern"
    if found.is_masked:
        return "The mask keeps the share at 0."
    before, now = (per_cent(float(run[site][at])) for run in (ctx.trace, after))
    return f"Its share goes from {before} to {now}." if before != now else f"Its share stays at {now}."


SHOWN, PROJECTED = 11, 6
"""Writers of each side with a separate row or column; on half of a projector, where numbers are large."""


def terms(ctx: PageContext) -> None:
    if (found := ask(ctx)) is None:
        return
    names, (a, b) = names_of(ctx), _largest(found)[0]
    query, key = (summary_text(found.readings[end].names[n]) for end, n in zip(SIDES, (a, b), strict=True))
    result(
        f"{_standing(ctx, found)} It is the sum of **{found.terms.size:,} terms**; the largest, "
        f"**{decimal(float(found.terms[a, b]), '+.2f')}**, pairs {query} in {names['query']} with {key} in "
        f"{names['key']}."
    )
    chosen = _chosen(found)
    sizes = np.abs(found.terms)
    most = PROJECTED if side.now() and st.session_state.get("projected") else SHOWN
    kept = [sorted(largest(sizes.sum(axis=axis), most)) for axis in (1, 0)]
    values = folded(found.terms, *kept)
    written = [_names(found, n, kept[n]) for n in (0, 1)]
    values = values[: len(written[0]), : len(written[1])]
    cell = tuple(lines.index(n) if n in lines else None for lines, n in zip(kept, chosen, strict=True))
    best, labels = _largest(found), labels_of(ctx)

    def pick(row: int, column: int) -> None:
        if row < len(kept[0]) and column < len(kept[1]):
            _choose((kept[0][row], kept[1][column]))

    show(
        "terms",
        term_cells(
            values,
            named(written[0], f"wrote into {labels['query']}"),
            named(written[1], f"wrote into {labels['key']}"),
            "added to the score",
            chosen=None if None in cell else cell,  # type: ignore[arg-type]
        ),
        click="choose the term",
        on_pick=pick,
    )
    more = ""
    if found.bias:
        more += f" {decimal(found.bias, '+.2f')} is the distance bias."
    if found.cap is not None:
        more += f" Capped: {found.cap:g} · tanh(sum / {found.cap:g})."
    st.caption(f"With each σ held the sum is {decimal(found.total)}, the score {decimal(found.measured)}.{more}")
    left, right = st.columns([3, 2])
    with left:
        sides = [found.readings[end].names for end in SIDES]
        show_table(
            "largest_terms",
            caption=f"The {counted(len(best), 'largest term')}",
            columns=[f"wrote into {labels['query']}", f"wrote into {labels['key']}", "adds"],
            rows=[[sides[0][a], sides[1][b], decimal(float(found.terms[a, b]), "+.2f")] for a, b in best],
            picked=best.index(chosen) if chosen in best else -1,
            on_pick=lambda row: _choose(best[row]),
        )
    with right:
        for end, writer in zip(SIDES, chosen, strict=True):
            inputs.button(
                f"Remove {summary_text(found.readings[end].names[writer])} from the {end} of {names[end]}",
                key=f"remove_{end}",
                on_click=remove,
                args=(end, writer),
                width="stretch",
            )


def _standing(ctx: PageContext, found: ScoreSum) -> str:
    names, choice = names_of(ctx), ctx.choice
    asks = markdown.plain(said_of_queries(ctx.trace, choice.layer)[ctx.query])
    row = ctx.trace[f"{choice.layer}.scores"][choice.head, ctx.query]
    share = float(ctx.trace[f"{choice.layer}.pattern"][choice.head, ctx.query, ctx.key])
    if found.is_masked:
        return f"The mask replaces the score **{decimal(found.measured)}** from {asks} to {names['key']} with −∞."
    allowed = row[np.isfinite(row)]
    rank = 1 + int((allowed > row[ctx.key]).sum())
    place = "the largest" if rank == 1 else f"rank {rank}"
    return (
        f"From {asks} to {names['key']} the score is **{decimal(found.measured)}**, {place} of {len(allowed)} "
        f"in its row; its share is **{per_cent(share)}**."
    )


def _largest(found: ScoreSum) -> list[tuple[int, int]]:
    n_keys = found.terms.shape[1]
    return [divmod(index, n_keys) for index in largest(found.terms.ravel(), 10)]


def _chosen(found: ScoreSum) -> tuple[int, int]:
    term, (rows, columns) = url.pair("term"), found.terms.shape
    return term if term and term[0] < rows and term[1] < columns else _largest(found)[0]


def _choose(term: tuple[int, int]) -> None:
    url.put({"term": ".".join(map(str, term))})


def _names(found: ScoreSum, n: int, kept: list[int]) -> list[str]:
    names = found.readings[SIDES[n]].names
    others = len(names) - len(kept)
    return [names[index] for index in kept] + ([counted(others, "other")] if others else [])
