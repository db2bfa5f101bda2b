from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import ablation
from tfmviz.analysis.why.reading import folded, largest
from tfmviz.analysis.why.sinks import sinks, without_value
from tfmviz.analysis.why.writes import Pushes, pushes
from tfmviz.plots.cells import named, of_heads, share, written
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace, kind_of
from tfmviz.ui import before_after, controls, icons, lesson, models, why
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import of_queries, quoted, visible
from tfmviz.words.numbers import counted, decimal, per_cent

RAISED, LOWERED = 6, 4
"""Words on the map: those that the head raises most, and those that it lowers most."""

SHOWN = 11


def writes(ctx: PageContext) -> None:
    stack = ctx.model.writes_from
    if "logits" not in ctx.trace:
        st.info(lesson.NO_HEAD, icon=icons.INFO)
        return
    if ctx.model.weights.stacks[stack].readout.transform is not None:
        st.info("After Norm(GELU(x W + b)), logits are not a sum of values.", icon=icons.INFO)
        return
    if not ctx.choice.layer.startswith(f"{stack}."):
        st.info("Encoders write no words. Choose another kind of attention.", icon=icons.INFO)
        return
    with lesson.control_row("writes"):
        controls.token_box(of_queries(ctx.trace, ctx.choice.layer), ctx.query, label="Query")
    found = _pushes(ctx.model, ctx.text, ctx.choice.layer, ctx.choice.head, ctx.query)
    keys = ctx.trace.axes(ctx.choice.layer)[1].tokens
    best = int(found.by_key[:, 0].argmax())
    word = markdown.plain(visible(ctx.model.vocabulary[found.words[0]]))
    result(
        f"At {why.names_of(ctx)['query']} this head raises “{word}” most, by "
        f"**{decimal(float(found.by_key[:, 0].sum()), '+.2f')}**; the value of "
        f"{markdown.plain(quoted(keys)[best])} adds **{decimal(float(found.by_key[best, 0]), '+.2f')}**."
    )
    words = [visible(ctx.model.vocabulary[word]) for word in found.words]
    sizes = np.abs(found.by_key).sum(axis=1)
    kept = sorted(n for n in largest(sizes, SHOWN) if sizes[n] > 0)  # masked keys add exactly 0
    values = folded(found.by_key, kept, range(len(words)))[:, :-1]
    row = ctx.trace[f"{ctx.choice.layer}.pattern"][ctx.choice.head, ctx.query]
    rows = [f"{n} {visible(keys[n])} · {per_cent(float(row[n]))}" for n in kept]
    if others := int((sizes > 0).sum()) - len(kept):
        rows.append(counted(others, "other"))
    values = values[: len(rows)]
    show("writes", why.term_cells(values, named(rows, "value of"), named(words, "word"), "added to the logit"))


@cached_for_all
def _pushes(model: Model, text: str, layer: str, head: int, token: int) -> Pushes:
    weights = model.weights.stacks[model.writes_from]
    return pushes(models.trace(model, text), layer, head, token, weights=weights, raised=RAISED, lowered=LOWERED)


TWINS = ("twins-rope", "twins-sink")


def sink(ctx: PageContext) -> None:
    kind = kind_of(ctx.choice.layer)
    found = sinks(ctx.trace, ctx.model.weights, kind)
    if np.isnan(found.shares).all():
        st.info("The first token can only attend to itself. Type more words.", icon=icons.INFO)
        return
    texts, chosen = written(found.shares, ".2f", absent="–"), (ctx.choice.layer_index, ctx.choice.head)
    show(
        "sinks",
        of_heads(found.shares, share(), texts=texts, chosen=chosen),
        click=controls.LOOKS,
        on_pick=lambda layer, head: controls.look_at(found.layers[layer], head),
    )
    choice = ctx.choice
    first = markdown.plain(quoted(ctx.trace.axes(choice.layer)[1].tokens)[0])
    at = found.layers.index(choice.layer), choice.head
    result(
        f"Heads give **{per_cent(float(np.nanmean(found.shares)))}** to {first} on average; "
        f"head {choice.layer_index}.{choice.head} gives **{per_cent(float(found.shares[at]))}**. The norm of its "
        f"value there is **{decimal(float(found.lengths[at]))}** times that elsewhere."
    )
    ids = ctx.trace.target.ids
    if "logits" in ctx.trace and ctx.model.config.architecture != "encoder-only" and len(ids) > 1:
        one = _run(ctx.model, ctx.text, (choice.layer,), choice.head)
        every = _run(ctx.model, ctx.text, found.layers, None)
        losses = [ablation.surprise_of(run, ablation.whole_text(ids)) for run in (ctx.trace, one, every)]
        st.markdown(
            f"Mean surprise: **{losses[0]:.2f}** nats; without that value in this head **{losses[1]:.2f}**, in all "
            f"**{losses[2]:.2f}**.{why.said_to_share(ctx.weights, choice.head)}"
        )
    _twins(ctx)
    if "logits" in ctx.trace:
        after = _run(ctx.model, ctx.text, (ctx.choice.layer,), ctx.choice.head)
        before_after.next_words(
            ctx, after, ctx.target, series=("as it is", "without that value"), key="words_without_value"
        )


def _twins(ctx: PageContext) -> None:
    if not set(TWINS) <= set(zoo.available()):
        return
    sentences = []
    for name in TWINS:
        model = models.load(name)
        trace = models.trace(model, ctx.text)
        found, ids = sinks(trace, model.weights, "decoder.self_attn"), trace.target.ids
        if np.isnan(found.shares).all():
            return  # a single token for the twins: it can only attend to itself
        loss = ablation.surprise_of(trace, ablation.whole_text(ids))
        sentences.append(
            f"{markdown.code(name)} gives **{per_cent(float(np.nanmean(found.shares)))}** to the first "
            f"token, leaves **{per_cent(float(found.unused.mean()))}** unused and has a loss of **{loss:.2f}** nats"
        )
    st.markdown(
        f"Twins, the second with a trained sink in each head: {'; '.join(sentences)}.{before_after.of_twins(ctx.text)}"
    )


@cached_for_all
def _run(model: Model, text: str, layers: tuple[str, ...], head: int | None) -> Trace:
    """The first token's value is zero in one head; None: in all heads of these layers."""
    return models.run(model, text, without_value(model.weights, layers, head), sites=("logits",))
