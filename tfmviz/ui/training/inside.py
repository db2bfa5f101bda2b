from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tfmviz import zoo
from tfmviz.analysis import forming
from tfmviz.analysis.forming import Copying
from tfmviz.analysis.heads import layer_scores, random_repeats
from tfmviz.plots import panels
from tfmviz.plots.cells import Axis, Cells, masked, share
from tfmviz.plots.charts import Chart
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.runs.choices import Choices
from tfmviz.text.tasks import ANSWERS, questions
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import theme
from tfmviz.ui.training.shipped import chance
from tfmviz.words.labels import visible, whole

PROMPTS = ("Once upon a", "abcdeabcdeabcde")

SHOWN = 3
"""Questions whose answers are shown over the updates."""

LONGEST = 24
"""Tokens that a language model adds to a prompt."""


@cached_for_all
def model_at(folder: Path, step: int) -> Model:
    """Raises: ModelUnavailable."""
    return zoo.snapshots.load(folder, step)


@cached_for_all
def on_repeats(folder: Path, step: int) -> Trace:
    model = model_at(folder, step)
    return model.trace(random_repeats(vocab_size=model.config.vocab_size, max_len=model.config.max_len))


@cached_for_all
def requested(task: str) -> tuple[str, ...]:
    """Questions that no run is trained on, the longest first, the same for all runs of a task."""
    found = questions(task, np.random.default_rng(1), n=40, size=3 if task == "add" else 8, held_out=True)
    return tuple(sorted(dict.fromkeys(found), key=len, reverse=True)[:SHOWN])


@cached_for_all
def probe(folder: Path, step: int, choices: Choices) -> Trace:
    """The trace on the fixed probe: a question and its right answer, or random tokens that occur twice."""
    if choices.is_language_model:
        return on_repeats(folder, step)
    question = requested(choices.task)[0]
    return model_at(folder, step).trace(question, target=ANSWERS[choices.task](question))


@cached_for_all
def answers(folder: Path, step: int, choices: Choices) -> tuple[str, ...]:
    """Answers to `requested`, or continuations of `PROMPTS`."""
    prompts = PROMPTS if choices.is_language_model else requested(choices.task)
    made = [zoo.writing.generate(model_at(folder, step), prompt, max_new_tokens=LONGEST).text for prompt in prompts]
    return tuple(text[len(prompt) * choices.is_language_model :] for prompt, text in zip(prompts, made, strict=True))


@cached_for_all
def copying(folder: Path, step: int) -> Copying:
    trace = on_repeats(folder, step)
    return forming.copying(trace, partial(zoo.experiments.logits_under, model_at(folder, step), trace.target.ids))


def kinds(trace: Trace) -> dict[str, list[str]]:
    """The layers by their kind of attention, nearest to the answer first."""
    by_kind: dict[str, list[str]] = {}
    for layer in trace.layers:
        stack, _, part = layer.split(".")
        by_kind.setdefault("cross-attention" if part == "cross_attn" else stack, []).append(layer)
    return dict(sorted(by_kind.items(), key=lambda item: ("cross-attention", "decoder", "encoder").index(item[0])))


def picture(trace: Trace, layers: Sequence[str], most: int = 4) -> Cells:
    """All heads of some layers on the probe, `most` of them side by side; grey is masked."""
    rows, columns = (
        Axis("", (), [f"{side} {i} “{whole(visible(token))}”" for i, token in enumerate(text.tokens)])
        for side, text in zip(("query", "key"), trace.axes(layers[0]), strict=True)
    )
    patterns = masked([head for layer in layers for head in trace[f"{layer}.pattern"]], trace[f"{layers[0]}.mask"])
    titles = tuple(f"head {name}" for name in heads_of(trace, layers))
    across = min(most, len(trace[f"{layers[0]}.pattern"]))
    return Cells(patterns, rows, columns, share(), titles=titles, square=True, across=across)


def heads_of(trace: Trace, layers: Sequence[str]) -> list[str]:
    """ "layer.head" …"""
    return [f"{layer.split('.')[1]}.{n}" for layer in layers for n in range(len(trace[f"{layer}.pattern"]))]


def alignment_over(folder: Path, steps: Sequence[int], choices: Choices, layers: Sequence[str]) -> dict[str, Array]:
    """The alignment score of each head over the snapshots: (snapshot,) by its name."""
    rows = []
    for step in steps:
        scores = layer_scores(probe(folder, step, choices))
        rows.append(np.concatenate([scores[layer]["alignment"] for layer in layers]))
    names = [f"head {name}" for name in heads_of(probe(folder, steps[0], choices), layers)]
    return dict(zip(names, np.stack(rows, axis=1), strict=True))


ABOUT = "**Induction score**: attention to what followed the same token before."
"""The panels' subject; their titles have to fit a narrow column."""


def chart(steps: Sequence[int], found: Sequence[Copying], *, vocab_size: int, now: int) -> Chart:
    """Losses on random tokens that occur twice, and each head's attention there.

    Args:
        found: measurements at each of the steps.
        now: the step shown next to the chart.
    """

    def of_heads(values: Sequence[Array]) -> dict[str, Array]:
        return dict(zip([f"head {name}" for name in found[0].heads], np.stack(values, axis=1), strict=True))

    return panels.forming(
        np.array(steps, dtype=float),
        losses={
            "first time": np.array([one.first for one in found]),
            "second time": np.array([one.second for one in found]),
        },
        heads={
            "induction score": of_heads([one.scores["induction"] for one in found]),
            "attention to the previous token": of_heads([one.scores["previous token"] for one in found]),
            "loss added when switched off, nats": of_heads([one.damage for one in found]),
        },
        level=chance(vocab_size),
        now=now,
        theme=theme(),
    )
