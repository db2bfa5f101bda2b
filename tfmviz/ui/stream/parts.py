from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import streamlit as st

from tfmviz.analysis import contributions, deletions
from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.analysis.contributions import Attribution, River
from tfmviz.plots import bars, dots
from tfmviz.plots.bars import bar_chart, of_signs
from tfmviz.plots.cells import Axis, ValueFormat, chosen_cell, named, short, signed
from tfmviz.plots.columns import looks
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.record.weights import StackWeights
from tfmviz.ui import before_after, controls, icons, inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_columns, show_matrix, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import counted, decimal, per_cent, tiny


def river(ctx: PageContext) -> None:
    trace, stack = ctx.trace, ctx.choice.layer.split(".")[0]
    tokens = trace.axes(ctx.choice.layer)[0].tokens
    with lesson.control_row("token"):
        controls.token_box([visible(t) for t in tokens], ctx.query)
    found = contributions.river(trace, stack, ctx.query, ctx.model.weights.stacks[stack])
    names, kinds = [part.name for part in found.parts], [part.kind for part in found.parts]
    show(
        "river",
        bars.waterfall(found.along, kinds=kinds, names=names, steps=[part.step for part in found.parts], theme=theme()),
        title="How far each part takes the vector along its final direction",
    )
    result(
        f"The {len(found.parts)} parts sum to the model's own vector, to within **{tiny(found.residue)}**. Heads are "
        "blue, feed-forward layers (MLP) orange."
    )
    if not is_pre_norm(trace):
        st.info("Post-norm: the norms rescale the stream, so they are parts too (grey).", icon=icons.NORM)
    if worst := found.against():
        named = "; ".join(
            f"**{names[n]}** (norm {found.size[n]:.2f}, cosine {decimal(found.to_stream[n])})" for n in worst[:5]
        )
        count = "1 part points" if len(worst) == 1 else f"{len(worst)} parts point"
        st.markdown(f"{count} against the stream (cosine below −0.1): {named}.")
    else:
        st.markdown("No part points against the stream here (cosine below −0.1).")
    show(
        "sizes",
        dots.sizes(found.size, found.to_stream, kinds=kinds, names=names, theme=theme()),
        title="Each part's norm and its cosine with the stream it is added to",
    )
    _deleted(ctx, found, stack)
    with st.expander("All parts in numbers"):
        columns = {
            "norm": found.size,
            "cosine to the stream before": found.to_stream,
            "cosine to the final vector": found.to_final,
            "along the final direction": found.along,
        }
        show_columns(
            "parts",
            {"part": names} | {name: [decimal(value, ".3f") for value in values] for name, values in columns.items()},
            caption="Every part, in the order of writing.",
            low=True,
        )


def _deleted(ctx: PageContext, found: River, stack: str) -> None:
    if (gone := deletions.strongest(found)) is None:
        return
    first, then = found.parts[gone.earlier].name, found.parts[gone.later].name
    amount = f"{per_cent(gone.share)} of {first} back" if gone.share <= 1 else f"more than all of {first} back"
    st.markdown(
        f"**{then[0].upper()}{then[1:]} takes {amount}**: theirs is the most negative product (cosine "
        f"{decimal(gone.cosine)})."
    )
    if not ctx.model.weights.has_head or stack != ctx.model.writes_from:
        return
    weights = ctx.model.weights.stacks[stack]
    if weights.readout.transform is not None:  # not linear: the logits are no sum over parts
        return
    raised, lowered = (
        weights.readout.W_U @ contributions.carried(found, weights, n) for n in (gone.earlier, gone.later)
    )
    best = np.argsort(-np.minimum(raised, -lowered), kind="stable")[:6]
    show_columns(
        "deleted",
        {
            "word": [visible(ctx.model.vocabulary[n]) for n in best.tolist()],
            first: [decimal(float(raised[n]), "+.2f") for n in best],
            then: [decimal(float(lowered[n]), "+.2f") for n in best],
        },
        caption="Words it takes back, and what both add to their logits",
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Account:
    """A token's stream as a sum of parts, and each part's contribution to a score.

    Attributes:
        title: name of the sum of the scores, such as "logit of “mat”".
        measured: that number as the model computed it, before a cap if the model has one.
        word_bias: b_U's part of it, whatever the text is.
    """

    title: str
    measured: float
    word_bias: float
    token: int
    weights: StackWeights
    river: River
    scores: Attribution


def attribution(ctx: PageContext) -> None:
    trace, token = ctx.trace, ctx.target
    if ctx.model.weights.stacks[ctx.model.writes_from].readout.transform is not None:
        st.info("Norm(GELU(x W + b)) precedes this model's logits, so they are not such a sum.", icon=icons.INFO)
        return
    with lesson.control_row("token"):
        controls.token_box([visible(t) for t in trace.tokens], token)
        account = _account(ctx)
    layer, head = _looked_at(ctx, account)
    left, right = st.columns([3, 2])
    with left:
        _map(account, layer, head)
    with right:
        names = [
            f"β after {p.step.removesuffix(': norm')}" if p.kind == "norm" else p.name for p in account.river.parts
        ]
        scores = account.scores.scores
        if account.weights.readout.norm is not None:
            names, scores = [*names, "β of the last norm"], np.append(scores, account.scores.last_bias)
        if account.word_bias:
            names, scores = [*names, "b_U of the word"], np.append(scores, account.word_bias)
        order = np.argsort(-np.abs(scores), kind="stable")
        best, rest = order[:12], order[12:]
        shown, values = [names[n] for n in best], scores[best]
        if len(rest):
            shown, values = [*shown, f"the other {counted(len(rest), 'part')}"], np.append(values, scores[rest].sum())
        words, colours = [decimal(value, "+.2f") for value in values], of_signs(values, theme())
        show("ranked", bar_chart(shown, values, "added", words=words, colours=colours, room=1.5, theme=theme()))
    total = account.scores.total + account.word_bias
    where = f"{before_after.place(ctx).lower()} token {token} “{markdown.plain(visible(trace.tokens[token]))}”"
    result(
        f"The {markdown.plain(account.title)} {where} is **{decimal(account.measured)}**; these parts sum to "
        f"{decimal(total)}, a difference of {tiny(abs(total - account.measured))}. {_linearised(account)}"
    )
    for place, (column, n) in enumerate(zip(st.columns(4), _strongest(account), strict=False)):
        part = account.river.parts[n]
        inputs.button(
            f"{part.name}: {decimal(account.scores.scores[n], '+.2f')}",
            key=f"look_at_{place}",
            on_click=controls.look_at,
            args=(part.site, part.head),
            width="stretch",
            line=column,
        )
    _chosen_head(ctx, account, layer, head)


def _looked_at(ctx: PageContext, account: Account) -> tuple[str, int]:
    elsewhere = not ctx.choice.layer.startswith(f"{ctx.model.writes_from}.")
    if elsewhere or controls.has_chosen_head():
        return ctx.choice.layer, ctx.choice.head
    part = account.river.parts[_strongest(account)[0]]
    return part.site, int(part.head or 0)


def _strongest(account: Account) -> list[int]:
    heads = [n for n, part in enumerate(account.river.parts) if part.kind == "head"]
    return sorted(heads, key=lambda n: -abs(account.scores.scores[n]))


def _account(ctx: PageContext) -> Account:
    trace, token, stack = ctx.trace, ctx.target, ctx.model.writes_from
    matrices = ctx.model.weights.stacks[stack]
    readout = matrices.readout
    river = contributions.river(trace, stack, token, matrices)
    logits = trace.row("logits", token) if readout.cap is None else readout.before_cap(river.final)
    W_U, biases = readout.W_U, np.zeros(len(logits)) if readout.b_U is None else readout.b_U
    vocabulary = ctx.model.vocabulary
    one, other = _words(ctx.model, best := int(logits.argmax()))
    index = best if one is None else one
    title, measured, direction = f"logit of “{visible(vocabulary[index])}”", float(logits[index]), W_U[index]
    word_bias = float(biases[index])
    if other is not None:
        title = f"logit of “{visible(vocabulary[index])}” minus that of “{visible(vocabulary[other])}”"
        measured, direction = measured - float(logits[other]), direction - W_U[other]
        word_bias -= float(biases[other])
    scores = contributions.attribution(river, matrices, direction)
    return Account(
        title=title, measured=measured, word_bias=word_bias, token=token, weights=matrices, river=river, scores=scores
    )


def _words(model: Model, best: int) -> tuple[int | None, int | None]:
    answer = visible(model.vocabulary[best])
    one = inputs.text_input("Word", key="word", max_chars=60, placeholder=answer)
    other = inputs.text_input("minus", key="versus", max_chars=60, placeholder="nothing")
    found = []
    for typed in (one or "", other or ""):
        indices = _indices(model)
        forms = (f" {typed.strip()}", typed, typed.strip()) if typed.strip() else ()
        index = next((indices[form] for form in forms if form in indices), None)
        if typed.strip() and index is None:
            word = typed.strip()
            pieces = model.tokenizer.pieces(f" {word}")
            near = _nearest(model, word)
            named = ", ".join(f"“{markdown.plain(visible(text))}”" for text in near)
            offer = f"The nearest tokens: {named}." if near else "Type a shorter, more common word."
            read = ", ".join(f"“{markdown.plain(visible(piece))}”" for piece in pieces[:8])
            st.warning(
                f"“{markdown.plain(word)}” is not a single token of this model, which reads it as {read}. {offer}",
                icon=icons.CUT,
            )
        found.append(index)
    if found[0] is None and (one or "").strip():
        st.caption("Below is the model's own answer.")
    return found[0], found[1]


@cached_for_all
def _indices(model: Model) -> dict[str, int]:
    return {text: index for index, text in reversed(list(enumerate(model.vocabulary)))}


@cached_for_all
def _nearest(model: Model, word: str) -> list[str]:
    words = list(dict.fromkeys(text.strip() for text in model.vocabulary if text.strip()))
    return get_close_matches(word, words, n=4, cutoff=0.4)


def _linearised(account: Account) -> str:
    norms = sum(part.kind == "norm" for part in account.river.parts)
    if (last := account.weights.readout.norm) is None:
        return f"Every part counts after all later norms ({norms} for the embedding)."
    scale = float(last.scale(account.river.final)[0])
    capped = " The model caps its logits; this is the logit before the cap." if account.weights.readout.cap else ""
    return f"The last norm's σ is held at {scale:.2f}.{capped}"


def _map(account: Account, layer: str, head: int) -> None:
    parts = account.river.parts
    column_of = {"self_attn": "head {}", "cross_attn": "cross {}", "mlp": "MLP {}"}
    kept = [(n, part, part.site.rsplit(".", 1)[1]) for n, part in enumerate(parts) if part.kind in ("head", "MLP")]
    names = {
        (kind, part.head): column_of[kind].format("" if part.head is None else part.head) for _, part, kind in kept
    }
    order = sorted(names, key=lambda key: (list(column_of).index(key[0]), key[1] or 0))
    n_layers = 1 + max(int(part.site.split(".")[1]) for _, part, _ in kept)
    grid, cells = np.full((n_layers, len(order)), np.nan), {}
    for n, part, kind in kept:
        cell = int(part.site.split(".")[1]), order.index((kind, part.head))
        grid[cell] = account.scores.scores[n]
        if part.head is not None:
            cells[part.site, part.head] = cell
    heads = {cell: head for head, cell in cells.items()}

    def look_at(row: int, column: int) -> None:
        if (row, column) in heads:
            controls.look_at(*heads[row, column])

    show_matrix(
        "head_scores_map",
        grid,
        Axis("layer"),
        named([names[key].strip() for key in order]),
        signed(grid, f"added to the {account.title}", root=True),
        form=ValueFormat(sign=True),
        texts=short(grid, "+.1f"),
        frames=chosen_cell(cells.get((layer, head))),
        row_height=40,
        click=controls.LOOKS,
        on_pick=look_at,
    )


def _chosen_head(ctx: PageContext, account: Account, layer: str, head: int) -> None:
    trace = ctx.trace
    index = next((n for n, p in enumerate(account.river.parts) if (p.site, p.head) == (layer, head)), None)
    if index is None:
        st.info("Heads of the encoder write into another stream. Choose the decoder.")
        return
    if lesson.is_off(ctx, layer, head):
        return
    part, score = account.river.parts[index], account.scores.scores[index]
    direction = account.scores.directions[index]
    effect = contributions.looks(trace, part, account.token, weights=account.weights, direction=direction)
    keys = trace.axes(layer)[1].tokens
    row = trace[f"{layer}.pattern"][head][account.token]
    strongest = int(np.abs(effect).argmax())
    names = quoted(keys)
    most, felt = (markdown.plain(names[n]) for n in (int(row.argmax()), strongest))
    st.markdown(
        f"**{part.name[0].upper()}{part.name[1:]}** looked most at {most} ({row.max():.0%}); {felt} counted most "
        f"({decimal(effect[strongest], '+.2f')}). All keys together add {decimal(score, '+.2f')}."
    )
    looked, wrote = looks(row, effect, tokens=keys, title="added", theme=theme())
    show("looked", looked)
    show("wrote", wrote)
    moved = account.weights.readout.W_U @ contributions.carried(account.river, account.weights, index)
    order = np.argsort(-moved, kind="stable")

    def named(indices: Array) -> str:
        return ", ".join(
            f"“{markdown.plain(visible(ctx.model.vocabulary[n]))}” ({decimal(moved[n], '+.2f')})" for n in indices
        )

    st.markdown(f"It raises most: {named(order[:5])}; and lowers most: {named(order[::-1][:5])}.")
