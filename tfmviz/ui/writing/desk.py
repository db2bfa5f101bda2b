from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.side_by_side import parting
from tfmviz.constants import RIVALS
from tfmviz.record.decoding import Rules, Step, draw, entropy, number_for
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import compare_menu, controls, head_comparison, icons, live, url
from tfmviz.ui.boxes import marked
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.compare_menu import What
from tfmviz.ui.figures import result, show_view
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.writing import branches, edits
from tfmviz.ui.writing.branches import LIMIT, NOTHING, Tree
from tfmviz.ui.writing.settings import NAMES, SLIDERS, Settings
from tfmviz.words import markdown
from tfmviz.words.labels import END, visible, whole
from tfmviz.words.numbers import counted, per_cent

AHEAD, AHEAD_AT_FIRST = 8, 2
"""Words written in advance, so that there is no wait: fewer for a new text, since most readers look at its next word
and
continue typing.
"""

SHOWN = 60
"""Characters of a text that undoing would restore."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Written:
    """The reader's text, and the position looked at.

    Attributes:
        code: the tree as in the address.
        place: index of a word among the written ones, or of the next one.
    """

    tree: Tree
    code: str
    place: int

    @property
    def before(self) -> tuple[int, ...]:
        return self.tree.written[: self.place]


AT_THE_BEGINNING = Written(tree=NOTHING, code="", place=0)
"""A and B are compared at the word after the reader's text."""


def writing(ctx: PageContext) -> Written:
    """The tree in the address and the position looked at; with a note if the tree is invalid."""
    about = ctx.short_name
    code = edits.follow(about, model=ctx.model.name, text=ctx.text)
    tree = _read(ctx.model, code)
    if tree is None:
        st.info(
            "This link contains a text that this model cannot have written; you see its beginning.", icon=icons.INFO
        )
        code = ""
        edits.put(about, code)
    tree = tree or NOTHING
    place = url.place("word", tree.shown, tree.shown) if edits.in_address()[0] == code else tree.shown
    return Written(tree=tree, code=code, place=place)


def _read(model: Model, code: str) -> Tree | None:
    return branches.parse_tree(
        code, vocab_size=len(model.vocabulary), ends=model.tokenizer.marks.ends, limit=_limit(model)
    )


def _limit(model: Model) -> int:
    """The words of a translation must fit the model."""
    return min(LIMIT, model.config.max_len - 2) if model.config.architecture == "encoder-decoder" else LIMIT


def desk(ctx: PageContext, settings: Settings, now: Written) -> None:
    about, vocabulary = ctx.short_name, ctx.model.vocabulary
    places = _places(ctx.model, ctx.text, settings.rules, settings.seed, now.tree.written)
    encoding = ctx.model.encode(ctx.text)
    is_source = ctx.model.config.architecture == "encoder-decoder"
    typed = edits.memory().edits[ctx.model.name]
    data = {
        "about": about,
        "prompt": [] if is_source else [running(token) for token in encoding.tokens],
        "lead": f"{ctx.text} →" if is_source else "",
        "stages": settings.stages,
        "places": places,
        "texts": {str(token): running(vocabulary[token]) for token in now.tree.tokens},
        "ends": list(ctx.model.tokenizer.marks.ends),
        "limit": _limit(ctx.model),
        "undecided": math.log(len(vocabulary)),
        "edits": [None if text is None else text[:SHOWN] for text in (typed.by(-1), typed.by(1))],
    }
    if settings.rules.temperature > 0:
        rules = {"banned": settings.rules.banned, "order": settings.rules.order}
        set_to = ",".join(f"{rule}={round(getattr(settings.rules, rule), 2):g}" for rule in SLIDERS)
        live.follow_changes(ctx, "sliders", set_to, "writing", "offers", rules=rules, names=NAMES)
    looked = now.place if now.place < now.tree.shown else None
    show_view(
        "writing",
        data=data,
        selection={"path": now.code, "word": looked},
        on_report=lambda report: _follow(ctx.model, about, report),
    )


def _follow(model: Model, about: str, report: dict[str, Any]) -> None:
    path, word = str(report["path"]), report["word"]
    if report["about"] != about or _read(model, path) is None:
        return
    edits.put(about, path, None if word is None else int(word))
    text = edits.memory().edits[model.name].by(int(report["edit"])) if report["edit"] else None
    if text is not None:
        st.session_state["text"] = text
        controls.forget_token()


def step_at(ctx: PageContext, settings: Settings, now: Written) -> Step:
    return _steps(ctx.model, ctx.text, settings.rules, settings.seed, now.tree.written, ctx.edits)[now.place]


@cached_for_all
def _steps(
    model: Model, text: str, rules: Rules, seed: int, written: tuple[int, ...], edits: tuple[Edit, ...] = ()
) -> tuple[Step, ...]:
    most = min(len(written) + (AHEAD if written else AHEAD_AT_FIRST), _limit(model) + 1)
    return zoo.writing.generate(
        model, text, rules=rules, seed=seed, given=written, max_new_tokens=most, edits=edits
    ).steps


@cached_for_all
def _places(model: Model, text: str, rules: Rules, seed: int, written: tuple[int, ...]) -> list[dict[str, Any]]:
    return [_place(step, seed, model.vocabulary) for step in _steps(model, text, rules, seed, written)]


def _place(step: Step, seed: int, vocabulary: Sequence[str]) -> dict[str, Any]:
    """A position for the view; see `views/writing/rivals.tsx`."""
    stages = step.stages
    model, left = stages[0].probabilities, stages[-1].probabilities
    fallen = None if step.rules.temperature == 0 else draw(left, number_for(seed, step.place))
    falls = int(left.argmax()) if fallen is None else fallen.token
    listed = _listed(model, left, also=(step.token, falls))
    rivals = [
        {
            "token": token,
            "text": running(vocabulary[token]),
            "shares": [_share(one.probabilities[token]) if one.allowed[token] else None for one in stages],
        }
        for token in listed
    ]
    return {
        "token": step.token,
        "text": running(vocabulary[step.token]),
        "p": _share(model[step.token]),
        "left": _share(left[step.token]),
        "entropy": round(entropy(model), 3),
        "number": None if fallen is None else fallen.number,
        "falls": falls,
        "low": 0.0 if fallen is None else fallen.low,
        "high": 1.0 if fallen is None else fallen.high,
        "rivals": rivals,
    }


def _listed(model: Array, left: Array, *, also: tuple[int, ...]) -> list[int]:
    kept = [token for token in _largest(left, RIVALS // 2) if left[token] > 0]
    best = [*_largest(model, RIVALS), *kept, *also]
    return sorted({int(token) for token in best}, key=lambda token: (-left[token], -model[token]))


def _largest(values: Array, n: int) -> Array:
    """Indices of the n largest, in no order: sorting a whole vocabulary for every position takes longest of all."""
    return np.argpartition(values, -min(n, len(values)))[-n:]


def _share(probability: float) -> float:
    return float(f"{probability:.4g}")


def running(token: str) -> str:
    """The token with the space before it, and a sign for invisible characters."""
    return (" " if token.startswith(" ") and token.strip() else "") + whole(token)


OPTIONS: tuple[What, ...] = ("another sentence", "another model", "a head off", "another temperature")

LENGTH = 16
"""Tokens that A and B write, unless they end before."""


def two_texts(ctx: PageContext, ctx_b: PageContext, chosen_settings: Settings) -> None:
    """The texts that A and B write with the same random numbers, token by token, and where they diverge."""
    runs = [
        _written(side.model, side.text, settings.rules, chosen_settings.seed, side.edits)
        for side, settings in ((ctx, chosen_settings), (ctx_b, chosen_settings.of_b(ctx_b)))
    ]
    names = [
        [END if step.token in side.model.tokenizer.marks.ends else side.model.vocabulary[step.token] for step in run]
        for side, run in zip((ctx, ctx_b), runs, strict=True)
    ]
    shares = [[per_cent(step.probability) for step in run] for run in runs]
    at = parting(*names)
    if at is None:
        result(f"Both write the same {counted(min(map(len, names)), 'token')}.")
    else:
        a, b = (f"“{markdown.plain(visible(tokens[at]))}” ({p[at]})" for tokens, p in zip(names, shares, strict=True))
        result(f"They diverge at token {at + 1}: A writes {a}, B {b}. The probabilities are before any setting.")
    pieces = [marked(tokens, at, p) for tokens, p in zip(names, shares, strict=True)]
    head_comparison.show_rows(
        compare_menu.titles(ctx, ctx_b), [counted(len(run), "token") for run in runs], pieces, "what it writes"
    )


@cached_for_all
def _written(model: Model, text: str, rules: Rules, seed: int, edits: tuple[Edit, ...]) -> tuple[Step, ...]:
    return zoo.writing.generate(model, text, rules=rules, seed=seed, max_new_tokens=LENGTH, edits=edits).steps
