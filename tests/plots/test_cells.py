"""Pictures of cells: what travels to the browser, in which colours, and what is said of a cell."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from plotly.colors import sample_colorscale, unlabel_rgb

from tests.plots.cells import colours, received, sentences, ticks
from tfmviz.constants import LEAST_SHARE, LEFT_BY_ROUNDING
from tfmviz.plots import (
    attribution,
    compare,
    damage,
    learning,
    masks,
    normalisation,
    positions,
    residual,
    rotations,
    side_by_side,
    steps,
    translating,
    writing,
)
from tfmviz.plots.cells import Axis, Cells
from tfmviz.plots.theme import DARK, LIGHT
from tfmviz.record.trace import Array

THEMES = (LIGHT, DARK)

# Repeated tokens, a number, markup, white space, a long word.
Q_TOKENS = ("<s>", " cat", "7", "7", "\t")
K_TOKENS = ("7", " the", " the", "<s>", "&", "<b>" + 20 * "o" + "</b>", "\n")
Q_LABELS = ["<s>", "cat", "7", "7", "⇥"]
K_LABELS = ["7", "the", "the", "<s>", "&", "<b>oooooooo…</b>", "⏎"]
Q_LEN, K_LEN = len(Q_TOKENS), len(K_TOKENS)


def some_weights(*shape: int) -> Array:
    """Float32 patterns, rows sum to 1."""
    weights = np.exp(np.random.default_rng(5).standard_normal(shape))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


PATTERN = some_weights(Q_LEN, K_LEN)
MASK = np.tri(Q_LEN, K_LEN, k=2, dtype=bool)
CAUSAL = np.tri(Q_LEN, dtype=bool)
SQUARES = [some_weights(Q_LEN, Q_LEN), -3 * some_weights(Q_LEN, Q_LEN)]
NORMS = np.array([[7.0, 8, 9, 10, 11, 12, 13], [17, 18, 19, 20, 21, 22, 23], [27, 28, 29, 30, 31, 32, 33]])
SHARES = np.array([[0.25, 0.5, 1.25, -0.5, 0, 1, math.nan], [0.6, 0.7, 0.8, 0.9, 0.1, 0.2, 0.3]])
STAGES = ["embedding", "after layer 0", "after layer 1"]
BOTH = (Q_TOKENS, K_TOKENS)

PICTURES: dict[str, Callable[[], Cells]] = {
    "attribution": lambda: attribution.heads(
        SHARES, columns=[f"head {n}" for n in range(7)], title="<a>", chosen=(1, 2)
    ),
    "scheme map": lambda: compare.scheme_map(SHARES, title="<a>", axes=("x", "y")),
    "shares": lambda: compare.shares(SQUARES, CAUSAL, titles=["<a>", "b"], tokens=Q_TOKENS),
    "parts": lambda: compare.parts(SQUARES, CAUSAL, titles=["<a>", "b"], tokens=Q_TOKENS),
    "damage": lambda: damage.damage(SHARES - 0.3, rows=["layer 0", "<1>"], off=[(1, 2)], chosen=(0, 1)),
    "recovered": lambda: damage.recovered(
        SHARES, tokens=list(zip(K_TOKENS, K_TOKENS[::-1], strict=True)), position=2, title="x"
    ),
    "small mask": lambda: masks.small(MASK, title="<a>", k_tokens=K_TOKENS),
    "attention rows": lambda: writing.attention_rows(
        SQUARES[0], CAUSAL, q_tokens=Q_TOKENS, k_tokens=Q_TOKENS, first=2, title="<a>"
    ),
    "temperatures": lambda: writing.temperatures(SHARES, degrees=(0.5, 1.0), entropies=(1.0, 2.0), words=K_TOKENS),
    "gaps": lambda: writing.gaps(
        np.array([[0.5, 0.25], [0.75, np.nan]]), words=[["<a>", "b"], ["c", "b"]], order=(1, 0)
    ),
    "cache": lambda: writing.cache_steps(np.array([[1, 1, np.nan], [0, 0, 1]]), tokens=Q_TOKENS[:3]),
    "reach": lambda: masks.reach(np.eye(Q_LEN, dtype=int) - 1, tokens=Q_TOKENS, n_layers=2),
    "change": lambda: masks.change(NORMS / 100, tokens=K_TOKENS),
    "vectors": lambda: normalisation.vectors(
        np.stack((SHARES[:, :5], SHARES[:, 2:])), tokens=[K_TOKENS[:1], K_TOKENS], row=0, column=3, limit=None
    ),
    "signed table": lambda: positions.table(NORMS - 15, title="x", text="numbers"),
    "between positions": lambda: positions.between(NORMS[:, :3] / 40, title="x"),
    "between tokens": lambda: positions.between(np.eye(Q_LEN), title="x", tokens=Q_TOKENS),
    "bits": lambda: positions.bits(np.eye(3)),
    "norms": lambda: residual.norms(NORMS, SHARES, tokens=K_TOKENS, position=5),
    "score tiles": lambda: rotations.score_tiles({"<a>": SQUARES[0]}, CAUSAL, tokens=Q_TOKENS, row=2),
    "class map": lambda: rotations.class_map(np.eye(Q_LEN, dtype=int), tokens=Q_TOKENS, title="bucket", mask=CAUSAL),
    "tiles": lambda: steps.tiles([PATTERN, PATTERN], MASK, titles=["<a>", "b"], tokens=BOTH),
    "head scores": lambda: steps.head_scores(SHARES, title="induction", chosen=(1, 2)),
    "heads in training": lambda: learning.patterns(
        SQUARES, CAUSAL, titles=["<a>", "b"], queries=Q_TOKENS, keys=Q_TOKENS, across=2
    ),
    "translated": lambda: translating.probabilities(SHARES[1], words=K_TOKENS, n_given=2),
    "losses of words": lambda: translating.losses(SHARES[1], SHARES[0], words=K_TOKENS, wrote=K_TOKENS[::-1]),
}
SHARE = ("shares", "tiles", "head scores")
SIGNED = (
    "attribution", "scheme map", "parts", "damage", "recovered", "vectors", "signed table", "between positions",
    "between tokens", "score tiles",
)  # fmt: skip
AMOUNTS = ("reach", "change", "norms", "class map", "bits")


def colour(text: str) -> list[int]:
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


def cividis(v: float) -> Sequence[float]:
    """Plotly's own scale at v."""
    return unlabel_rgb(sample_colorscale("cividis", [v])[0])


def test_a_picture_survives_the_journey_to_the_browser() -> None:
    for name, make in PICTURES.items():
        picture = make()
        header, values = received(picture, name="file", alt="<words>", click="sets")
        np.testing.assert_array_equal(values, picture.matrices.astype(np.float32), name)
        assert (header["name"], header["alt"], header["click"]) == ("file", "<words>", "sets")
        for axis, count in (("rows", values.shape[1]), ("columns", values.shape[2])):
            assert {len(header[axis][names] or ()) for names in ("names", "spoken")} <= {0, count}, name
        for texts, shape in (
            (header["texts"], values.reshape(-1, values.shape[2]).shape),
            (header["notes"], values.shape[1:]),
        ):
            assert texts is None or np.shape(texts) == shape, name
        assert len(header["titles"]) in (0, len(values)), name


def test_numbers_that_are_none_do_not_reach_the_scale() -> None:
    """The header is strict JSON, and one such number must not take the colours from all others."""
    assert not [name for name, make in PICTURES.items() if not math.isfinite(make().scale.low + make().scale.high)]
    for odd in (math.nan, math.inf, -math.inf):
        values = np.array([[odd, 0.5, odd], [odd, odd, odd]])
        for drawn in (
            compare.scheme_map(values, title="x", axes=("x", "y")),
            steps.head_scores(values, title="x", chosen=(0, 0)),
            damage.damage(values, rows=["a", "b"], off=[]),
            masks.change(values, tokens=Q_TOKENS[:3]),
        ):
            header, sent = received(drawn)
            assert header["scale"]["high"] in (0.5, 1)
            assert np.isfinite(sent).sum() == 1
            assert sentences(drawn, [(1, 0)])[0].endswith(": –")


def test_a_difference_that_is_only_what_rounding_leaves_has_the_colour_of_nothing() -> None:
    """Of attention that is what pages call nothing: they say that nothing differs."""
    of_attention = partial(side_by_side.difference, rows=Axis(title="query"), columns=Axis(title="key"), cell=None)
    pictures: dict[Callable[[Array], Cells], float] = {
        partial(masks.change, tokens=Q_TOKENS[:3]): LEFT_BY_ROUNDING,
        of_attention: LEAST_SHARE,
    }
    for draw, rounding in pictures.items():
        for largest, is_nothing in ((0, True), (rounding / 100, True), (rounding, True), (2 * rounding, False)):
            drawn = draw(largest * np.array([[1, 0.5, 0], [0, 0, 0]]))
            shown, nothing = colours(drawn, [largest, 0], LIGHT)
            assert (np.abs(shown - nothing).max() <= 2) == is_nothing, (largest, drawn.scale)


def test_every_cell_is_spoken_of_and_no_two_alike() -> None:
    for name, make in PICTURES.items():
        picture = make()
        places = list(np.ndindex(*picture.matrices.shape[1:]))
        for matrix in range(len(picture.matrices)):
            said = [sentence.split(": ")[0:2] for sentence in sentences(picture, places, matrix=matrix)]
            where = [" ".join(part) if len(picture.matrices) > 1 else part[0] for part in said]
            assert len(set(where)) == len(places), name


def test_shares_of_attention_are_cividis_at_their_root_and_fixed() -> None:
    values = [0, 1e-3, 0.01, 0.04, 0.1, 0.25, 0.5, 0.77, 1]
    expected = [cividis(math.sqrt(v)) for v in values]
    for name in SHARE:
        picture = PICTURES[name]()
        assert (picture.scale.low, picture.scale.high) == (0, 1), name
        for theme in THEMES:
            np.testing.assert_allclose(colours(picture, values, theme), expected, atol=1.5)


def test_signed_values_and_amounts_have_their_scales() -> None:
    for name, theme in itertools.product(SIGNED, THEMES):
        picture = PICTURES[name]()
        end = picture.scale.high
        assert picture.scale.low == -end < 0, name
        below, zero, above, past = colours(picture, [-end, 0, end, 2 * end], theme)
        assert [*map(list, (below, zero, above))] == [*map(colour, theme.signed)], name
        assert below[2] > below[0]
        assert above[0] > above[2]
        assert np.array_equal(past, above), "past the end lies the last colour"
    for name, theme in itertools.product(AMOUNTS, THEMES):
        picture = PICTURES[name]()
        assert picture.scale.low == 0, name
        assert picture.scale.high >= np.nanmax(picture.matrices), name
        found = colours(picture, [0, picture.scale.high / 2, picture.scale.high], theme)
        assert found.tolist() == [*map(colour, theme.norms)], name


def test_masked_is_neutral_and_what_is_allowed_has_the_colour_of_attention() -> None:
    for theme in THEMES:
        assert colours(PICTURES["small mask"](), [1], theme).tolist() == [colour(theme.attention)]
    for theme in THEMES:
        masked = np.array(colour(theme.masked))
        assert np.ptp(masked) <= 20
        palette = colours(PICTURES["tiles"](), np.linspace(0, 1, 254).tolist(), theme)
        assert np.linalg.norm(palette - masked, axis=1).min() > 30
        for name in (*SIGNED, *AMOUNTS):
            assert np.linalg.norm(colours(PICTURES[name](), [0], theme)[0] - masked) > 30, name


def test_small_signed_values_are_coloured_at_their_root() -> None:
    plain, rooted = PICTURES["parts"](), PICTURES["attribution"]()
    assert rooted.scale.high == 1.25
    parts = np.array([-0.25, 0.01, 0.49])
    at_root = np.sign(parts) * np.sqrt(np.abs(parts)) * plain.scale.high
    for theme in THEMES:
        expected = colours(plain, at_root.tolist(), theme)
        np.testing.assert_allclose(colours(rooted, (parts * 1.25).tolist(), theme), expected, atol=1)


def test_the_colour_bar_counts_in_round_steps_and_stays_true() -> None:
    assert list(ticks(PICTURES["tiles"](), 5).values()) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert list(ticks(PICTURES["reach"](), 8).values()) == ["0", "1", "2"]
    assert list(ticks(PICTURES["change"](), 4).values()) == ["0%", "10%", "20%", "30%"]
    assert list(ticks(PICTURES["attribution"](), 4).values()) == ["−1", "0", "1"]
    assert list(ticks(PICTURES["attribution"](), 5).values()) == ["−1.0", "−0.5", "0.0", "0.5", "1.0"]
    assert ticks(PICTURES["norms"](), 4) == pytest.approx({0: "0", 10: "10", 20: "20", 30: "30"})


PLUS = {"attribution", "damage", "recovered", "vectors"}
"""Pictures of what is added or changed, and of numbers on both sides of 0."""

SQUARE = {
    *("shares", "parts", "small mask", "reach", "between positions", "between tokens", "score tiles", "class map"),
    *("tiles", "heads in training"),
}
"""Pictures whose rows and columns are tokens or positions."""


def test_changes_are_said_with_their_sign_and_tokens_by_tokens_are_square() -> None:
    pictures = {name: make() for name, make in PICTURES.items()}
    assert {name for name, picture in pictures.items() if picture.form.sign} == PLUS
    assert {name for name, picture in pictures.items() if picture.square} == SQUARE
