from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from tfmviz.analysis import alignment
from tfmviz.record.model import AnyModel, Model
from tfmviz.ui import icons, translators, url
from tfmviz.ui.bottleneck import contexts
from tfmviz.ui.bottleneck.choices import SCORES, Translating
from tfmviz.ui.figures import show, show_table
from tfmviz.ui.translators import SAID, TRANSFORMER, source_of, written

OPENS = "Je vais vous montrer le chemin jusqu'à la gare."
"""A held-out sentence. Through one vector its middle is lost; attention keeps “the way to the station”."""


def translations(at: Translating) -> None:
    kinds = list(at.recurrent)
    rows = [
        (SAID[kind], SCORES[kind], beginning(model, translators.translation(model, at.ctx.text), at))
        for kind, model in at.recurrent.items()
    ]
    if at.transformer is not None:
        wrote = at.ctx.trace.target.ids[1:]
        rows.append((name_of(at.transformer), "q · k / √d, in every head", beginning(at.transformer, wrote, at)))

    def take(row: int) -> None:
        if row < len(kinds):
            st.session_state["attention"] = kinds[row]
        else:  # its cross-attention is there
            st.session_state["seen"] = "Alignments"

    show_table(
        "translations",
        caption=f"“{at.ctx.text}”",
        columns=("model", "score", "what it writes"),
        rows=rows,
        picked=kinds.index(at.kind),
        on_pick=take,
    )
    if at.transformer is not None and at.transformer.name == TRANSFORMER:

        def from_to(values: Sequence[float], form: str) -> str:
            least, most = format(min(values), form), format(max(values), form)
            return least if least == most else f"{least} to {most}"

        sizes = [model.config.n_parameters for model in at.recurrent.values()]
        times = [at.transformer.weights.n_parameters / size for size in sizes]
        st.markdown(
            f"The recurrent models have {from_to(sizes, ',')} parameters each, the transformer "
            f"{from_to(times, '.0f')} times as many: compare how they work."
        )


def beginning(model: AnyModel | Model, ids: Sequence[int], at: Translating) -> str:
    ids = [token for token in ids if token not in model.tokenizer.marks.ends]
    is_whole = at.asked is None or at.asked > len(ids)  # the last step shows how it ends
    return model.tokenizer.decode(ids[: at.asked]).strip() + ("" if is_whole else " …")


def name_of(model: Model) -> str:
    return "transformer" if model.name == TRANSFORMER else model.name


def alignments(at: Translating) -> None:
    """α of the chosen model next to the pattern of a transformer's head; below, the sum behind the clicked cell."""
    left, right = st.columns(2)
    attends, model, choice = alignment.has_attention(at.trace), at.transformer, at.ctx.choice
    with left:
        if attends:
            alpha, tokens, picked = at.trace["decoder.alpha"], written(at.trace), contexts.picked(at)
            count, title = at.shown(len(tokens)), f"α, {SAID[at.kind]}"
            show(
                "alignment",
                translators.alignment(alpha, title, source_of(at.trace), tokens, count, picked),
                click="show its sum",
                on_pick=lambda row, column: url.put({"word": str(row), "state": str(column)}),
            )
        else:
            st.info("Without attention there is no α.", icon=icons.INFO)
    with right:
        if model is None or not choice.layer.endswith("cross_attn"):
            st.info("Choose a transformer's cross-attention above to compare.", icon=icons.INFO)
        else:
            trace = at.ctx.trace
            pattern, tokens = trace[f"{choice.layer}.pattern"][choice.head], written(trace, model.tokenizer.marks.ends)
            title, count = f"{name_of(model)}, layer {choice.layer_index}, head {choice.head}", at.shown(len(tokens))
            show("cross", translators.alignment(pattern, title, source_of(trace), tokens, count), follows=attends)
    if attends:
        contexts.context_sum(at)
