from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis import lens, residual
from tfmviz.analysis.lens import Lens
from tfmviz.analysis.predictions import top_predictions
from tfmviz.analysis.residual import Detail
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, head_comparison, inputs, lesson, models, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_view
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.views.bars import Bars
from tfmviz.views.files import text_field
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import per_cent

WORD, RANK, ENTROPY, DIVERGENCE = "top word", "rank of the answer", "entropy", "distance to the end"

LEGENDS = {
    WORD: ("Probability of the word", "0", "1"),
    RANK: ("Probability of the final answer", "0", "1"),
    ENTROPY: ("Entropy in nats", "0", "{:.1f}"),
    DIVERGENCE: ("KL divergence of the final distribution from this one, in nats", "0", "{:.1f}"),
}


def lens_of(ctx: PageContext) -> None:
    trace, vocabulary = ctx.trace, ctx.model.vocabulary
    token = ctx.target
    line = lesson.control_row("lens")
    shown = inputs.segmented_control("Each cell shows", list(LEGENDS), key="cells", line=line)
    steps = inputs.segmented_control("Read out after", ("each layer", "each step"), key="after", line=line)
    detail: Detail = "steps" if steps == "each step" else "layers"
    stages = residual.stages(trace, ctx.model.writes_from, detail)
    found = _lens(ctx, detail)
    stage = url.place("read", len(stages) - 1, len(stages) // 2)
    show_view(
        "lens",
        data=_table(found, shown, list(stages), trace, vocabulary),
        selection={"row": token, "column": stage},
        on_report=lambda report: controls.remember(
            max(0, int(report["token"])), {"read": str(max(0, int(report["stage"])))}
        ),
    )
    _in_words(ctx, found, list(stages), token)
    name, site = list(stages.items())[stage]
    stage_site = None if stage == len(stages) - 1 else site
    readout = ctx.model.weights.stacks[ctx.model.writes_from].readout
    logits = trace.row("logits", token) if stage_site is None else readout.logits(trace[stage_site][token])
    best = top_predictions(logits, 10)
    bars = Bars(labels=[visible(vocabulary[p.index]) for p in best], shares=[[p.probability for p in best]])
    show("lens_cell", bars, title=f"Token {token} “{visible(trace.tokens[token])}”, {name}")
    inputs.download_button(
        "The lens as CSV", lambda: _csv(found, list(stages), trace, vocabulary), "logit_lens.csv", "text/csv"
    )


def _lens(ctx: PageContext, detail: Detail) -> Lens:
    return _read(ctx.model, ctx.text, detail, ctx.edits)


@cached_for_all
def _read(model: Model, text: str, detail: Detail, edits: tuple[Edit, ...]) -> Lens:
    trace, stack = models.trace(model, text, edits), model.writes_from
    sites = list(residual.stages(trace, stack, detail).values())
    return lens.read_stages(trace, sites, model.weights.stacks[stack].readout)


def diverge(both: HeadComparison) -> None:
    found = [_lens(lesson, "layers") for lesson in both.lessons]
    places = head_comparison.targets(both)
    if places[1] is None or len(found[0].top) != len(found[1].top):
        return
    words = [lesson.model.vocabulary for lesson in both.lessons]
    tops = [[names[n] for n in one.top[:, at]] for names, one, at in zip(words, found, places, strict=True)]
    differ = np.array([a != b for a, b in zip(*tops, strict=True)])
    sentence = ""
    if differ[-1]:
        stages = list(residual.stages(both.lessons[0].trace, both.lessons[0].model.writes_from, "layers"))
        first = 0 if differ.all() else len(differ) - int((~differ)[::-1].argmax())
        sentence = f"They diverge {'from the start' if first == 0 else f'{stages[first]} and stay apart'}."
    st.markdown(f"{head_comparison.expected(both)} {sentence}")


def _table(found: Lens, shown: str, stages: list[str], trace: Trace, vocabulary: tuple[str, ...]) -> dict[str, Any]:
    values: dict[str, Array] = {
        WORD: found.top_probability,
        RANK: found.answer_probability,
        ENTROPY: found.entropy,
        DIVERGENCE: found.divergence,
    }
    chosen = values[shown].T
    share = shown in (WORD, RANK)
    most = 1.0 if share else max(float(chosen.max()), 1e-9)
    what, low, high = LEGENDS[shown]

    def write(n: int, stage: int) -> str:
        if shown == WORD:
            return visible(vocabulary[found.top[stage, n]])
        return _rank(found, n, stage) if shown == RANK else f"{chosen[n, stage]:.2f}"

    def note(n: int, stage: int) -> str:
        top, answer = visible(vocabulary[found.top[stage, n]]), visible(vocabulary[found.answer[n]])
        return (
            f"“{top}” {per_cent(float(found.top_probability[stage, n]))}; the final answer “{answer}” has rank "
            f"{_rank(found, n, stage)} and {per_cent(float(found.answer_probability[stage, n]))}; entropy "
            f"{found.entropy[stage, n]:.2f}, distance to the end {found.divergence[stage, n]:.2f} nats"
        )

    return {
        "columns": stages,
        "rows": [visible(token) for token in trace.tokens],
        "tokens": trace.tokens,
        "texts": [[write(n, stage) for stage in range(len(stages))] for n in range(len(trace.tokens))],
        "notes": [[note(n, stage) for stage in range(len(stages))] for n in range(len(trace.tokens))],
        "shades": np.round(np.clip(chosen / most, 0, 1), 3).astype(float).tolist(),
        "scale": "share" if share else "amount",
        "legend": [what, low, high.format(most)],
    }


def _rank(found: Lens, n: int, stage: int) -> str:
    return f"{found.answer_rank[stage, n]:,}" + {1: " ↑", 0: "", -1: " ↓"}[int(found.step[stage, n])]


def _in_words(ctx: PageContext, found: Lens, stages: list[str], token: int) -> None:
    trace, model = ctx.trace, ctx.model
    same = int((found.top[0] == np.array(trace.target.ids)).sum())
    half = int(np.sort(found.settled)[(len(found.settled) - 1) // 2])
    answer = markdown.plain(visible(model.vocabulary[found.answer[token]]))
    way = " → ".join(_rank(found, token, stage) for stage in range(len(stages)))
    result(
        f"In the first column {same} of {len(trace.tokens)} tokens {'is' if same == 1 else 'are'} read out as "
        f"themselves; from “{stages[half]}” on, half keep their final answer. For "
        f"{markdown.plain(quoted(trace.tokens)[token])} it is “{answer}”; its rank by stage: {way}."
    )


def _csv(found: Lens, stages: list[str], trace: Trace, vocabulary: tuple[str, ...]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        ["position", "token", "stage", "top word", "p", "final answer", "p of answer", "rank", "entropy", "KL"]
    )
    for n, token in enumerate(trace.tokens):
        for s, stage in enumerate(stages):
            top, answer = (text_field(vocabulary[index]) for index in (found.top[s, n], found.answer[n]))
            measured = (found.answer_probability[s, n], found.answer_rank[s, n], found.entropy[s, n])
            numbers = [f"{value:.6g}" for value in (*measured, found.divergence[s, n])]
            writer.writerow([n, text_field(token), stage, top, f"{found.top_probability[s, n]:.6g}", answer, *numbers])
    return text.getvalue()
