"""What A and B write, token by token, by the same settings and the same draws; where they part."""

from __future__ import annotations

from dataclasses import replace

from tfmviz import zoo
from tfmviz.analysis.side_by_side import parting
from tfmviz.record.decoding import Rules, Step
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import beside, lesson
from tfmviz.ui import sides as both
from tfmviz.ui.beside import What
from tfmviz.ui.boxes import marked
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.writing.settings import Settings
from tfmviz.words import markdown
from tfmviz.words.labels import END, visible
from tfmviz.words.numbers import counted, per_cent

OPTIONS: tuple[What, ...] = ("another sentence", "another model", "a head off", "another temperature")

LENGTH = 16
"""Tokens that each side writes, unless it ends before."""


def side_by_side(here: Lesson, there: Lesson, said: Settings) -> None:
    lesson.hide("kind", "layer", "head")
    rules = replace(said.rules, banned=there.model.tokenizer.marks.ends) if said.rules.banned else said.rules
    if (temperature := beside.temperature()) is not None:
        rules = replace(rules, temperature=temperature)
    runs = (
        _continued(here.model, here.text, said.rules, said.seed),
        _continued(there.model, there.text, rules, said.seed, there.edits),
    )
    names = [
        [END if step.token in side.model.tokenizer.marks.ends else side.model.vocabulary[step.token] for step in run]
        for side, run in zip((here, there), runs, strict=True)
    ]
    shares = [[per_cent(float(step.stages[0].probabilities[step.token])) for step in run] for run in runs]
    at = parting(*names)
    if at is None:
        result(f"Both write the same {counted(min(map(len, names)), 'token')}.")
    else:
        a, b = (f"“{markdown.plain(visible(tokens[at]))}” ({p[at]})" for tokens, p in zip(names, shares, strict=True))
        result(f"They diverge at token {at + 1}: A writes {a}, B {b}. The probabilities are before any setting.")
    pieces = [marked(tokens, at, p) for tokens, p in zip(names, shares, strict=True)]
    both.show_rows(beside.titles(here, there), [counted(len(run), "token") for run in runs], pieces, "what it writes")


@shared
def _continued(model: Model, text: str, rules: Rules, seed: int, edits: tuple[Edit, ...] = ()) -> tuple[Step, ...]:
    return zoo.writing.generate(model, text, rules=rules, seed=seed, max_new_tokens=LENGTH, edits=edits).steps
