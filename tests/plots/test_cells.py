"""Pictures of cells: what travels to the browser, in which colours, and what is written and said of a cell."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from plotly.colors import sample_colorscale, unlabel_rgb

from tests.plots.cells import colours, drawn, received, sentences
from tfmviz.constants import LEAST_SHARE, LEFT_BY_ROUNDING, MOST_WRITTEN
from tfmviz.plots import cells, compare
from tfmviz.plots.cells import Axis, Cells, HeadPair, Scale, ValueFormat
from tfmviz.plots.theme import DARK, LIGHT
from tfmviz.record.trace import Array
from tfmviz.views.cells import payload

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
BOTH = cells.masked(SQUARES, CAUSAL)
NORMS = np.array([[7.0, 8, 9, 10, 11, 12, 13], [17, 18, 19, 20, 21, 22, 23], [27, 28, 29, 30, 31, 32, 33]])
SHARES = np.array([[0.25, 0.5, 1.25, -0.5, 0, 1, math.nan], [0.6, 0.7, 0.8, 0.9, 0.1, 0.2, 0.3]])
PER_CENT = ValueFormat(digits=1, percent=True)
CLASSES = np.where(CAUSAL, np.eye(Q_LEN), np.nan)

PICTURES = {
    "heads": cells.of_heads(
        SHARES, cells.share("x, 0 to 1"), texts=cells.written(SHARES, ".2f", absent="–"), chosen=(1, 2)
    ),
    "patterns": cells.of_pairs(
        cells.masked([PATTERN] * 2, MASK), Q_TOKENS, K_TOKENS, cells.share(), titles=("<a>", "b")
    ),
    "in rows of two": compare.shares(SQUARES, CAUSAL, titles=["<a>", "b"], tokens=Q_TOKENS),
    "parts": cells.of_pairs(BOTH, Q_TOKENS, Q_TOKENS, cells.signed(BOTH, "x"), titles=("<a>", "b")),
    "added": Cells(
        SHARES[None],
        Axis("layer"),
        cells.named([f"head {n}" for n in range(7)]),
        cells.signed(SHARES, "<a>", root=True),
        form=ValueFormat(sign=True),
        texts=cells.short(SHARES, "+.1f"),
    ),
    "scheme": compare.scheme_map(SHARES, title="<a>", axes=("x", "y")),
    "lengths": Cells(
        NORMS[None],
        cells.named(["embedding", "after layer 0", "after layer 1"]),
        cells.of_tokens("token", K_TOKENS),
        cells.amounts(NORMS, "norm"),
        form=ValueFormat(name="norm ", digits=2),
        notes=[["", *["more"] * 6]] * 3,
        frames=(*cells.chosen_column(5, 3), *cells.chosen_row(1, 7), *cells.chosen_cell((2, 0))),
    ),
    "moved": Cells(
        NORMS[None] / 100, Axis("a"), Axis("b"), cells.amounts(NORMS / 100, "x", ticks="per cent"), form=PER_CENT
    ),
    "classes": cells.of_pairs(
        CLASSES[None], Q_TOKENS, Q_TOKENS, Scale("norms", 0, 2, "x", ticks="whole"), form=ValueFormat(digits=0)
    ),
    "mask": Cells(
        np.where(MASK, 1.0, np.nan)[None],
        Axis("query", ()),
        cells.of_tokens("key", K_TOKENS),
        Scale("open", 0, 1),
        form=ValueFormat(words=("may look", "may not look")),
    ),
    "words": Cells(SHARES[None], Axis("T"), cells.of_tokens("next", K_TOKENS), cells.probability("x"), form=PER_CENT),
}
SHARE, SIGNED, AMOUNTS = ("heads", "patterns", "in rows of two"), ("parts", "added", "scheme"), ("lengths", "moved")


def colour(text: str) -> list[int]:
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


def cividis(v: float) -> Sequence[float]:
    """Plotly's own scale at v."""
    return unlabel_rgb(sample_colorscale("cividis", [v])[0])


def test_a_picture_survives_the_journey_to_the_browser() -> None:
    for name, picture in PICTURES.items():
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
        assert name != "scheme" or (header["columns"]["title"], header["rows"]["title"]) == ("x", "y")


def test_numbers_that_are_none_do_not_reach_the_scale() -> None:
    """The header is strict JSON, and one such number must not take the colours from all others."""
    for odd in (math.nan, math.inf, -math.inf):
        values = np.array([[odd, 0.5, odd], [odd, odd, odd]])
        for scale in (cells.signed(values, "x"), cells.amounts(values, "x"), cells.share()):
            drawn = cells.of_heads(values, scale)
            header, sent = received(drawn)
            assert header["scale"]["high"] in (0.5, 1)
            assert np.isfinite(sent).sum() == 1
            assert sentences(drawn, [(1, 0)])[0].endswith(": –")


def test_a_difference_that_is_only_what_rounding_leaves_has_the_colour_of_nothing() -> None:
    """Of attention that is what pages call nothing: they say that nothing differs."""

    def attention(values: Array) -> Cells:
        order = [(0, 0), (1, 1), (2, 2)]
        axes, scale = (Axis("query", ["a", "b"]), Axis("key", ["a", "b", "c"])), cells.share()
        pair = HeadPair(side=0, queries=order[:2], keys=order, cell=(0, 0), other=Cells(values[None], *axes, scale))
        return Cells(np.zeros((1, 2, 3)), *axes, cells.signed(values, "x"), pair=pair)

    for draw, rounding in (
        (lambda x: cells.of_heads(x, cells.amounts(x, "x")), LEFT_BY_ROUNDING),
        (attention, LEAST_SHARE),
    ):
        for largest, is_nothing in ((0, True), (rounding / 100, True), (rounding, True), (2 * rounding, False)):
            picture = draw(largest * np.array([[1, 0.5, 0], [0, 0, 0]]))
            shown, nothing = colours(picture, [largest, 0], LIGHT)
            assert (np.abs(shown - nothing).max() <= 2) == is_nothing, largest


def test_the_largest_of_each_row_is_said_and_of_several_matrices_that_of_each() -> None:
    def said(matrices: Array, titles: tuple[str, ...] = (), **form: Any) -> str:
        axes = Axis("query"), Axis("key")
        picture = Cells(matrices, *axes, cells.share(), form=ValueFormat(**form), titles=titles)
        return str(drawn(payload(picture, name="x", alt=""))["alt"])

    matrix = np.array([[[0.25, 0.75], [np.nan, np.nan], [0.5, np.nan]]])
    assert said(matrix, digits=2) == "query 0: key 1, 0.75; query 2: key 0, 0.50"
    assert said(matrix, percent=True) == "query 0: key 1, 75%; query 2: key 0, 50%"
    assert said(np.full((1, 2, 2), np.nan)) == "no numbers yet"
    matrices = np.array([[[0.25, 0.5], [1.0, 0.0]], [[0.0, 0.0], [0.0, -2.0]]])
    expected = "one: query 1, key 0, +1.0 nats; other: query 1, key 1, −2.0 nats"
    assert said(matrices, ("one", "other"), digits=1, sign=True, unit=" nats") == expected
    assert said(np.ones((1, 70, 1))).endswith("; query 63: key 0, 1.000; 6 more rows")


def test_every_cell_is_spoken_of_and_a_difference_loses_only_a_zero() -> None:
    for name, picture in PICTURES.items():
        places = list(np.ndindex(*picture.matrices.shape[1:]))
        for matrix in range(len(picture.matrices)):
            said = [sentence.split(": ")[0:2] for sentence in sentences(picture, places, matrix=matrix)]
            where = [" ".join(part) if len(picture.matrices) > 1 else part[0] for part in said]
            assert len(set(where)) == len(places), name
    assert cells.differences(np.array([[10.5, -20.31, 0.07, -0.5, 0.001]])) == [
        ["+10.50", "−20.31", "+.07", "−.50", "·"]
    ]


def test_shares_of_attention_are_cividis_at_their_root_and_fixed() -> None:
    values = [0, 1e-3, 0.01, 0.04, 0.1, 0.25, 0.5, 0.77, 1]
    expected = [cividis(math.sqrt(v)) for v in values]
    for name, theme in itertools.product(SHARE, THEMES):
        picture = PICTURES[name]
        assert (picture.scale.low, picture.scale.high) == (0, 1), name
        np.testing.assert_allclose(colours(picture, values, theme), expected, atol=1.5)


def test_signed_values_and_amounts_have_their_scales() -> None:
    for name, theme in itertools.product(SIGNED, THEMES):
        end = PICTURES[name].scale.high
        assert PICTURES[name].scale.low == -end < 0, name
        below, zero, above, past = colours(PICTURES[name], [-end, 0, end, 2 * end], theme)
        assert [*map(list, (below, zero, above))] == [*map(colour, theme.signed)], name
        assert below[2] > below[0]
        assert above[0] > above[2]
        assert np.array_equal(past, above), "past the end lies the last colour"
    for name, theme in itertools.product(AMOUNTS, THEMES):
        picture = PICTURES[name]
        assert picture.scale.low == 0, name
        assert picture.scale.high >= np.nanmax(picture.matrices), name
        found = colours(picture, [0, picture.scale.high / 2, picture.scale.high], theme)
        assert found.tolist() == [*map(colour, theme.norms)], name
    for theme in THEMES:  # teal over the ground on which nothing stands
        ends = [colour(theme.norms[0]), colour(theme.probability)]
        assert colours(PICTURES["words"], [0, 1], theme).tolist() == ends


def test_masked_is_neutral_and_what_is_allowed_has_the_colour_of_attention() -> None:
    for theme in THEMES:
        assert colours(PICTURES["mask"], [1], theme).tolist() == [colour(theme.attention)]
        masked = np.array(colour(theme.masked))
        assert np.ptp(masked) <= 20
        palette = colours(PICTURES["patterns"], np.linspace(0, 1, 254).tolist(), theme)
        assert np.linalg.norm(palette - masked, axis=1).min() > 30
        for name in (*SIGNED, *AMOUNTS):
            assert np.linalg.norm(colours(PICTURES[name], [0], theme)[0] - masked) > 30, name


def test_matrices_side_by_side_keep_cells_tokens_mask_and_one_scale() -> None:
    for name in ("in rows of two", "parts"):
        header, values = received(PICTURES[name])
        np.testing.assert_array_equal(values, [np.where(CAUSAL, matrix, np.nan) for matrix in SQUARES])
        assert header["titles"] == ["<a>", "b"]
        assert header["square"]
        assert header["rows"]["names"] == Q_LABELS
        below, above = sentences(PICTURES[name], [(3, 1), (1, 3)])
        assert below.startswith(f"<a>: query 3 “7”, key 1 “cat”: {SQUARES[0][3, 1]:.3f}"[:-2]), name
        assert above == "<a>: query 1 “cat”, key 3 “7”: –"
    largest = max(np.abs(matrix[CAUSAL]).max() for matrix in SQUARES)
    assert PICTURES["parts"].scale.high == pytest.approx(largest)


def test_names_stay_apart_and_frames_lie_around_what_is_chosen() -> None:
    header, _ = received(PICTURES["lengths"])
    assert header["columns"]["names"] == K_LABELS
    assert header["columns"]["spoken"][1:3] == ["token 1 “the”", "token 2 “the”"]
    frames = [(frame["top"], frame["left"], frame["bottom"], frame["right"]) for frame in header["frames"]]
    assert frames == [(0, 5, 3, 6), (1, 0, 2, 7), (2, 0, 3, 1)]
    assert [*cells.chosen_column(None, 3), *cells.chosen_cell(None)] == []
    later = cells.of_tokens("query", Q_TOKENS, first=3)
    assert (later.names, later.spoken) == (["7", "⇥"], ["query 3 “7”", "query 4 “⇥”"])


def test_numbers_are_written_short_and_of_many_cells_not_at_all() -> None:
    assert received(PICTURES["heads"])[0]["texts"][0] == ["0.25", "0.50", "1.25", "−0.50", "0.00", "1.00", "–"]
    assert cells.short(np.array([[0.04, 0.06, math.nan]]), "+.1f") == [["·", "+0.1", ""]]
    values = np.array([[1, 0.996, 0.994, 0.25, 0.006, 0.004, 0, math.nan]])
    assert cells.shares(values) == [["1.0", "1.0", ".99", ".25", ".01", "·", "·", ""]]
    for shape in ((MOST_WRITTEN,) * 2, (1, MOST_WRITTEN + 1), (MOST_WRITTEN + 1, 1)):
        assert (cells.written(np.zeros(shape), ".2f") is None) == (max(shape) > MOST_WRITTEN), shape
