"""Two position schemes side by side: which are chosen, what each is on paper, and how the trained twins attend."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.heads import overlap
from tfmviz.plots import compare as figures
from tfmviz.plots.compare import Curve, Role
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import PositionEffects
from tfmviz.ui import icons, inputs, lesson, models
from tfmviz.ui import sides as both
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, per_cent, rounded

TRAINED = 64
"""Length of the texts that the twins were trained on, in tokens."""

FACTOR = 8
"""The curves reach this many times the trained length."""

ROUNDING = 1e-3
"""Smaller differences are rounding: scores are of the order of 1 to 10 with seven digits, and RoPE's angles lose some
of these at late positions."""

STRIDE = 4
"""A pair of words moves on by so many positions from point to point."""


CUT_DIFFERENTLY = "The two models cut your text into different tokens."


@dataclass(frozen=True, slots=True)
class Twin:
    """A model trained with one of the schemes; the twins differ in nothing else."""

    scheme: str
    model: Model

    def trace(self, text: str) -> Trace:
        return models.trace(self.model, text)

    @property
    def effects(self) -> PositionEffects:
        """What its scheme does to a text of the trained length."""
        return _effects(self.model)

    @property
    def n_parameters(self) -> tuple[int, int]:
        """Trained numbers of the scheme, and of the whole model."""
        weights = self.model.weights
        return weights.stacks["decoder"].n_position_parameters, weights.n_parameters


@dataclass(frozen=True, kw_only=True, slots=True)
class Duel:
    """What the page compares: two twins, on one text, and where in them to look."""

    left: Twin
    right: Twin
    layer: int
    head: int
    text: str

    @property
    def sides(self) -> tuple[tuple[Role, Twin], tuple[Role, Twin]]:
        return ("left", self.left), ("right", self.right)

    @property
    def schemes(self) -> tuple[str, str]:
        return self.left.scheme, self.right.scheme


def available() -> list[str]:
    """The schemes whose model is here."""
    there = zoo.available()
    return [scheme for scheme in SCHEMES if name_of(scheme) in there]


def name_of(scheme: str) -> str:
    """The model trained with a scheme."""
    return f"twins-{scheme}"


def twin_of(scheme: str) -> Twin:
    return Twin(scheme, models.load(name_of(scheme)))


@shared
def _effects(model: Model) -> PositionEffects:
    return model.position_effects("decoder", TRAINED)


def scores_from(twin: Twin, text: str, first: int, *, most: int | None = None) -> Array:
    """Scores of a twin, (layer, head, len, len), when the text begins at position `first`.

    Args:
        most: so many tokens are enough; None: all.
    """
    run = twin.trace(text)
    if first:
        return _later(twin, run.target.ids[:most], first)
    return np.stack([run[f"{layer}.scores"][:, :most, :most] for layer in run.layers])


@shared
def _later(twin: Twin, ids: tuple[int, ...], first: int) -> Array:
    return zoo.experiments.scores_from(twin.model, ids, first=first)


def side_by_side(here: Lesson, first: tuple[str, str]) -> None:
    """Any two schemes on the reader's sentence, and on paper, in place of a page's tabs.

    Args:
        first: the schemes to begin with.
    """
    lesson.hide("model", "kind", "layer", "head")
    duel = choose(here, first)
    st.markdown("The models differ only in their positions. Leave B for the tabs about one scheme.")
    attention(duel)
    on_paper(duel)
    if lessons := same_tokens(duel):
        moving(duel, *pair(lessons[0]))


def choose(here: Lesson, first: tuple[str, str] = ("sinusoidal", "rope")) -> Duel:
    """Draws the controls. Stops the run with an explanation if there are not two models to compare."""
    there = available()
    if len(there) < 2:
        models.needed(next(name_of(scheme) for scheme in SCHEMES if scheme not in there))
        st.stop()
    line = lesson.line("duel")
    left_scheme, right_scheme = (
        inputs.selectbox(label, there, index=there.index(scheme) if scheme in there else n, key=key, line=line)
        for n, (label, key, scheme) in enumerate(zip(("Scheme A", "Scheme B"), ("left", "right"), first, strict=True))
    )
    left, right = twin_of(left_scheme), twin_of(right_scheme)
    counts = left.model.config.n_layers, left.model.config.attention.n_heads
    layer, head = (
        inputs.slider(f"{label} (A and B)", 0, count - 1, 0, key=key, line=line)
        for label, key, count in zip(("Layer", "Head"), ("twin_layer", "twin_head"), counts, strict=True)
    )
    if left.trace(here.text).target.n_dropped:
        st.info(
            f"Only the first {TRAINED} tokens are read; “Longer texts” on “Sinusoidal or RoPE?” reads up to "
            f"{FACTOR * TRAINED}.",
            icon=icons.CUT,
        )
    return Duel(left=left, right=right, layer=layer, head=head, text=here.text)


TOUCHES: dict[str | None, str] = {
    "embed": "the **embedding**, once, below the first layer",
    "rotate": "**queries and keys**, in every layer",
    "bias": "the **scores**, in every layer",
    "relate": "the **keys**, as each query sees them, in every layer",
    None: "**nothing**",
}
"""Where schemes act, in words."""


def on_paper(duel: Duel) -> None:
    """Both schemes on paper, and as the trained models have them."""
    for column, (role, twin) in zip(st.columns(2), duel.sides, strict=True):
        with column:
            _heat_map(role, twin, duel)
            _on_paper(twin)
    if set(duel.schemes) == {"sinusoidal", "rope"}:
        st.markdown("Both use sines and cosines: sinusoidal **adds** them to the embeddings, RoPE **rotates** by them.")


def _on_paper(twin: Twin) -> None:
    facts, (own, every) = SCHEMES[twin.scheme], twin.n_parameters
    st.header(facts.title)
    st.markdown(facts.idea)
    st.code(facts.formula, language=None, wrap_lines=True)
    st.markdown(f"It acts on {TOUCHES[facts.acts]} and trains **{own:,}** of {every:,} parameters.")


def _heat_map(role: Role, twin: Twin, duel: Duel) -> None:
    did, scheme = twin.effects, twin.scheme
    if did.added is not None:
        values, axes, title = did.added, ("dimension", "position"), "added to the embedding"
    elif did.turned is not None:
        values, axes, title = did.turned, ("coordinate", "position"), "cos, sin of each pair's turn"
    elif did.bias is not None:
        bias = did.bias[duel.head]
        values, axes = np.where(np.tri(len(bias), dtype=bool), bias, np.nan), ("key", "query")
        title = f"added to the scores of head {duel.head}"
    elif did.vectors is not None:
        values, axes, title = did.vectors[:TRAINED][::-1], ("coordinate", "distance i − j"), "added to the key"
    else:
        st.markdown("Nothing to draw.")
        return
    show(f"map_{role}", figures.scheme_map(values, title=f"{scheme}: {title}", axes=axes))


def same_tokens(duel: Duel) -> tuple[Lesson, Lesson] | None:
    """The chosen head of both twins; None, with a sentence, where their tokens differ."""
    left, right = _lessons(duel)
    if left.trace.tokens == right.trace.tokens:
        return left, right
    st.info(CUT_DIFFERENTLY, icon=icons.INFO)
    return None


def pair(here: Lesson) -> tuple[int, int]:
    """Asks for two words: positions of the query and of the key, which comes no later."""
    with lesson.line("pair"):
        lesson.pair_boxes(here)
    return here.query, min(here.key, here.query)


def moving(duel: Duel, query: int, key: int) -> None:
    """One score of each twin as the whole text moves on: what the model uses of the positions."""
    places = np.arange(query, TRAINED, STRIDE)
    words = [quoted(duel.left.trace(duel.text).tokens)[place] for place in (query, key)]
    curves = [
        Curve(name=twin.scheme, x=places, y=_score(duel, twin, query, key), role=role) for role, twin in duel.sides
    ]
    said = [_said_of_score(curve) for curve in curves]
    show(
        "moving",
        figures.moving(curves, theme=theme()),
        title=f"Score of {words[0]} and {words[1]} as the whole text shifts: layer {duel.layer}, head {duel.head}",
    )
    st.markdown("  \n".join(f"**{curve.name}**: {sentence}" for curve, sentence in zip(curves, said, strict=True)))


def _score(duel: Duel, twin: Twin, query: int, key: int) -> Array:
    """The score of a pair in the chosen head while the text begins at 0, `STRIDE`, … and the query is within reach."""
    firsts = range(0, TRAINED - query, STRIDE)
    scores = (scores_from(twin, duel.text, first, most=query + 1) for first in firsts)
    return np.array([found[duel.layer, duel.head, query, key] for found in scores])


def _said_of_score(curve: Curve) -> str:
    if len(curve.y) == 1:
        return f"the query is at position {curve.x[0]}, with no room to move."
    spread = float(np.ptp(curve.y))
    low, high = (decimal(float(end)) for end in (curve.y.min(), curve.y.max()))
    matter = "matter" if spread >= ROUNDING else "do not matter; the rest is rounding" if spread else "do not matter"
    return f"from {low} to {high}, a change of **{rounded(spread)}**: the positions {matter}."


def _lessons(duel: Duel) -> tuple[Lesson, Lesson]:
    """The chosen head of both twins."""
    layer = f"decoder.{duel.layer}.self_attn"
    left, right = (
        Lesson(choice=Choice(model=twin.model.name, layer=layer, head=duel.head), text=duel.text, model=twin.model)
        for _, twin in duel.sides
    )
    return left, right


MATCHED = ("most alike", "same number")
"""Which head of B stands beside the chosen one of A. Training gives the numbers no meaning."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """The head of B that shares most attention with the chosen one of A.

    Attributes:
        share: what they have in common, in [0, 1]; see `analysis.heads.overlap`.
        of_same_number: the same of the head of B with A's numbers.
    """

    layer: int
    head: int
    share: float
    of_same_number: float


def most_alike(duel: Duel) -> Match | None:
    """None where the two models cut the text differently, or where no token has a choice."""
    left, right = (twin.trace(duel.text) for _, twin in duel.sides)
    if left.tokens != right.tokens or len(left.tokens) < 2:
        return None
    chosen = left[f"decoder.{duel.layer}.self_attn.pattern"][[duel.head]]
    patterns = [right[f"{layer}.pattern"] for layer in right.layers]
    shares = overlap(np.concatenate((chosen, *patterns)), left[f"{left.layers[0]}.mask"])[0, 1:]
    by_head = shares.reshape(len(patterns), -1)
    layer, head = np.unravel_index(by_head.argmax(), by_head.shape)
    return Match(
        layer=int(layer),
        head=int(head),
        share=float(by_head.max()),
        of_same_number=float(by_head[duel.layer, duel.head]),
    )


def _number(here: Lesson) -> str:
    return f"{here.choice.layer_index}.{here.choice.head}"


def _said_of_match(duel: Duel, found: Match | None) -> str:
    if found is None:
        return ""
    said = f"Head {duel.layer}.{duel.head} of A has **{per_cent(found.share)}** of its attention in common with "
    if (found.layer, found.head) == (duel.layer, duel.head):
        return f"{said}the head of the same number, its best match.  \n"
    alike = f"{said}head {found.layer}.{found.head} of B"
    return f"{alike}, and {per_cent(found.of_same_number)} with the head of the same number.  \n"


def attention(duel: Duel) -> None:
    """The chosen head of both twins on the sentence, and what differs; then all heads of its layer."""
    left, right = _lessons(duel)
    a, b = duel.schemes
    line = lesson.line("match")
    how = inputs.segmented_control("Head of B", MATCHED, default=MATCHED[0], key="match", line=line)
    found = None if how == MATCHED[1] else most_alike(duel)
    if found is not None:
        right = replace(right, choice=replace(right.choice, layer=f"decoder.{found.layer}.self_attn", head=found.head))
    sides = replace(both.of(left, right), titles=(f"A, {a} {_number(left)}", f"B, {b} {_number(right)}"))
    result(f"{_said_of_match(duel, found)}{both.expected(sides)} {both.said(sides)}{_cut(left)}")
    both.show_heads(sides)
    for column, (role, twin), shown in zip(st.columns(2), duel.sides, (left, right), strict=True):
        run, site = twin.trace(duel.text), shown.choice.layer
        patterns = run[f"{site}.pattern"]
        titles = [f"{twin.scheme}, head {head}" for head in range(len(patterns))]
        with column:
            show(
                f"heads_{role}",
                figures.shares(list(patterns), run[f"{site}.mask"], titles=titles, tokens=run.tokens),
                follows=role == "right",
            )


def _cut(twin: Lesson) -> str:
    """That small vocabularies cut words into shorter pieces than the model which the reader knows, where they do."""
    usual = models.load(models.usual(models.names()))
    mine, others = len(twin.trace.tokens), len(usual.encode(twin.text))
    if mine <= others:
        return ""
    return (
        f" These models know fewer words: they split your sentence into {mine} tokens, "
        f"{markdown.code(usual.name)} into {others}."
    )
