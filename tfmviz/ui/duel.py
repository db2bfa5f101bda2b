"""Two position schemes side by side: which are chosen, what each is on paper, and how the trained twins attend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import position_terms, sinusoids
from tfmviz.plots import compare as figures
from tfmviz.plots.compare import Role
from tfmviz.positions.schemes import SCHEMES, Seam
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import PositionEffects
from tfmviz.ui import beside, icons, lesson, models
from tfmviz.ui import sides as both
from tfmviz.ui.beside import What
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show, show_cells, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words.numbers import rounded

TRAINED = 64
"""Length of the texts that the twins were trained on, in tokens."""

FACTOR = 8
"""The curves reach this many times the trained length."""

NEAR_AND_FAR = (0, 1, 2, 4, 8, 16, 32, 63)
"""Distances that the words for a figure name."""


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


def side_by_side(here: Lesson, first: tuple[str, str]) -> None:
    """Any two schemes on the reader's sentence, and on paper, in place of a page's tabs.

    Args:
        first: the schemes to begin with.
    """
    lesson.hide("model", "kind", "layer", "head")
    duel = choose(here, first, beside.SCHEMES)
    st.markdown("Two models, trained alike but for their positions. Leave B for the tabs about one scheme.")
    attention(duel)
    on_paper(duel)


def choose(here: Lesson, first: tuple[str, str] = ("sinusoidal", "rope"), options: Sequence[What] = ()) -> Duel:
    """Draws the controls. Stops the run with an explanation if there are not two models to compare.

    Args:
        options: of `beside`, where the reader came here by one of them.
    """
    there = available()
    if len(there) < 2:
        models.needed(next(name_of(scheme) for scheme in SCHEMES if scheme not in there))
        st.stop()
    line = lesson.line("duel")
    with line:
        beside.on_projector(options)
    left_scheme, right_scheme = (
        line.selectbox(label, there, index=there.index(scheme) if scheme in there else n, key=key, bind="query-params")
        for n, (label, key, scheme) in enumerate(zip(("Scheme A", "Scheme B"), ("left", "right"), first, strict=True))
    )
    left, right = twin_of(left_scheme), twin_of(right_scheme)
    counts = left.model.config.n_layers, left.model.config.attention.n_heads
    layer, head = (
        line.slider(f"{label} of both", 0, count - 1, 0, key=key, bind="query-params")
        for label, key, count in zip(("Layer", "Head"), ("twin_layer", "twin_head"), counts, strict=True)
    )
    if left.trace(here.text).target.n_dropped:
        st.info(
            f"The first {TRAINED} tokens of your text; “Longer texts” on “Sinusoidal or RoPE?” reads up to "
            f"{FACTOR * TRAINED}.",
            icon=icons.CUT,
        )
    return Duel(left=left, right=right, layer=layer, head=head, text=here.text)


TOUCHES: dict[Seam | None, str] = {
    "embed": "the **embedding**, once, below the first layer",
    "rotate": "**queries and keys**, in every layer",
    "bias": "the **scores**, in every layer",
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
        st.markdown("Both use sines and cosines: sinusoidal **adds** them to the words, RoPE **turns** by them.")
    st.markdown("**Does only the distance count?** A band: pairs at the same distance differ.")
    for column, (role, twin) in zip(st.columns(2), duel.sides, strict=True):
        with column:
            _against_distance(role, twin, duel)


def _on_paper(twin: Twin) -> None:
    facts, (own, every) = SCHEMES[twin.scheme], twin.n_parameters
    st.header(facts.title)
    st.markdown(facts.idea)
    st.code(facts.formula, language=None, wrap_lines=True)
    st.markdown(f"It acts on {TOUCHES[facts.acts]}. Trained for it: **{own:,}** of {every:,} numbers.")


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
    else:
        st.markdown("Nothing to draw.")
        return
    show_cells(
        figures.scheme_map(values, title=f"{scheme}: {title}", axes=axes),
        key=f"map_{role}",
        alt=f"{scheme}: {title}, {values.shape[0]} × {values.shape[1]} numbers from {np.nanmin(values):.2f} to "
        f"{np.nanmax(values):.2f}.",
    )


def _against_distance(role: Role, twin: Twin, duel: Duel) -> None:
    did, scheme = twin.effects, twin.scheme
    vectors = did.added if did.added is not None else did.turned
    if vectors is not None:
        mean, lowest, highest = position_terms.along_diagonals(sinusoids.cosines(vectors))
        title = f"{scheme}: cosine of i and j"
        drawn = figures.similarity(mean, lowest, highest, title=title, role=role, theme=theme())
    elif did.bias is not None:
        lines, lowest, highest = (
            np.stack(lines) for lines in zip(*map(position_terms.along_diagonals, did.bias), strict=True)
        )
        mean, title = lines[duel.head], f"{scheme}: added to the score"
        drawn = figures.biases(lines, title=title, chosen=duel.head, role=role, theme=theme())
    else:
        st.markdown("Nothing is added, near or far.")
        return
    spread = float((highest - lowest).max())
    said = f"Pairs at the same distance differ by up to **{rounded(spread)}**: " + (
        "only the distance counts." if spread < 1e-5 else "positions count too."
    )
    samples = ", ".join(f"{mean[distance]:.2f}" for distance in NEAR_AND_FAR)
    show(drawn, key=f"distance_{role}", alt=f"{title}, at distances {NEAR_AND_FAR}: {samples}. {said}")
    st.markdown(said)


def attention(duel: Duel) -> None:
    """The chosen head of both twins on the sentence, and what differs; then all heads of its layer."""
    choices = [
        Choice(model=twin.model.name, layer=f"decoder.{duel.layer}.self_attn", head=duel.head) for _, twin in duel.sides
    ]
    left, right = (
        Lesson(choice=choice, text=duel.text, model=twin.model)
        for choice, (_, twin) in zip(choices, duel.sides, strict=True)
    )
    a, b = duel.schemes
    sides = replace(both.of(left, right), titles=(f"A, {a}", f"B, {b}"))
    st.markdown(f"{both.expected(sides)} {both.said(sides)}")
    both.show_heads(sides)
    runs = [twin.trace(duel.text) for _, twin in duel.sides]
    site = f"decoder.{duel.layer}.self_attn"
    for column, (role, twin), run in zip(st.columns(2), duel.sides, runs, strict=True):
        patterns = run[f"{site}.pattern"]
        titles = [f"{twin.scheme}, head {head}" for head in range(len(patterns))]
        with column:
            show_cells(
                figures.shares(list(patterns), run[f"{site}.mask"], titles=titles, tokens=run.tokens),
                key=f"heads_{role}",
                alt="; ".join(f"{title}: {_habit(pattern)}" for title, pattern in zip(titles, patterns, strict=True)),
            )


def _habit(pattern: Array) -> str:
    here, before = float(np.diagonal(pattern).mean()), float(np.diagonal(pattern, offset=-1).sum() / len(pattern))
    return f"{here:.0%} of the attention on the token itself, {before:.0%} on the one before"
