"""Each picture of cells by itself: what is where, what is written, marked and said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.plots.cells import received, sentences
from tests.plots.test_cells import (
    CAUSAL,
    K_LABELS,
    K_TOKENS,
    NORMS,
    PATTERN,
    PICTURES,
    Q_LABELS,
    Q_TOKENS,
    SHARES,
    SQUARES,
    STAGES,
)
from tfmviz.constants import MOST_WRITTEN
from tfmviz.plots import attribution, damage, masks, residual, steps
from tfmviz.plots.cells import Cells, shares

FULL_NAME = "<b>" + 20 * "o" + "</b>"


def test_lengths_run_down_from_the_embedding_and_the_chosen_token_is_framed() -> None:
    header, values = received(PICTURES["norms"]())
    np.testing.assert_array_equal(values[0], NORMS)
    assert header["rows"]["names"] == STAGES
    assert header["columns"]["names"] == K_LABELS
    for position in (0, 5):
        (frame,) = received(residual.norms(NORMS, SHARES, tokens=K_TOKENS, position=position))[0]["frames"]
        assert frame == {"top": 0, "left": position, "bottom": 3, "right": position + 1, "colour": "accent"}
    assert not received(residual.norms(NORMS, SHARES, tokens=K_TOKENS))[0]["frames"]


def test_pointing_tells_the_length_and_who_wrote_the_step() -> None:
    picture = PICTURES["norms"]()
    places = list(np.ndindex(*NORMS.shape))
    for (stage, k), said in zip(places, sentences(picture, places), strict=True):
        name = FULL_NAME if k == 5 else K_LABELS[k]
        head = f"{STAGES[stage]}, token {k} “{name}”: norm {NORMS[stage, k]:.2f}"
        share = SHARES[stage - 1, k] if stage else math.nan
        if math.isnan(share):
            assert said == head, "where nothing is written there are no shares"
        else:
            assert said.startswith(head)
            of_attention, of_mlp = said.removeprefix(head).split("attention ")[1].split(", MLP ")
            assert int(of_attention.removesuffix("%")) == round(100 * share)
            assert int(of_mlp.removesuffix("%")) == round(100 * (1 - share))


def test_matrices_side_by_side_keep_cells_tokens_mask_and_one_scale() -> None:
    for name, matrices in (("shares", SQUARES), ("parts", SQUARES), ("score tiles", SQUARES[:1])):
        header, values = received(PICTURES[name]())
        np.testing.assert_array_equal(values, [np.where(CAUSAL, matrix, np.nan) for matrix in matrices])
        assert header["titles"] == ["<a>", "b"][: len(matrices)]
        assert header["rows"]["names"] == Q_LABELS
        title = "<a>: " if len(matrices) > 1 else ""
        below, above = sentences(PICTURES[name](), [(3, 1), (1, 3)])
        assert below.startswith(f"{title}query 3 “7”, key 1 “cat”: {matrices[0][3, 1]:.3f}"[:-2]), name
        assert above == f"{title}query 1 “cat”, key 3 “7”: –"
    open_cells = [np.abs(matrix[CAUSAL]).max() for matrix in SQUARES]
    assert PICTURES["parts"]().scale.high == pytest.approx(max(open_cells))


def test_heads_say_query_key_and_share_and_write_their_scores() -> None:
    header, _ = received(PICTURES["head scores"]())
    assert header["texts"][0] == ["0.25", "0.50", "1.25", "−0.50", "0.00", "1.00", "–"]
    assert [(frame["top"], frame["left"]) for frame in header["frames"]] == [(1, 2)]
    assert sentences(PICTURES["head scores"](), [(0, 6), (1, 0)]) == ["layer 0, head 6: –", "layer 1, head 0: 0.600"]
    header, values = received(PICTURES["tiles"]())
    assert np.isnan(values[:, 0, 3:]).all()
    said = sentences(PICTURES["tiles"](), [(2, 1), (0, 6)], matrix=1)
    assert said == [f"b: query 2 “7”, key 1 “the”: {PATTERN[2, 1]:.3f}", "b: query 0 “<s>”, key 6 “⏎”: –"]
    assert header["across"] == 2
    five = steps.tiles([PATTERN] * 5, PATTERN > 0, titles="abcde", tokens=(Q_TOKENS, K_TOKENS), row=0)
    assert received(five)[0]["across"] == 5


def test_on_the_map_of_damage_the_largest_ends_the_scale_and_every_number_is_written() -> None:
    values = np.array([[0.1, -0.2, 7.9], [0.004, -0.001, math.nan]])
    picture = damage.damage(values, rows=["encoder 0", "cross-attention 0"], off=[(1, 0)], chosen=(0, 1))
    header, _ = received(picture)
    assert (header["scale"]["high"], header["scale"]["root"]) == (7.9, True)
    assert header["texts"] == [["+0.10", "−0.20", "+7.90"], ["+0.00", "+0.00", ""]]
    assert sentences(picture, [(0, 2), (1, 1), (1, 2)]) == [
        "encoder 0, MLP: +7.9000 nats",
        "cross-attention 0, head 1: −0.0010 nats",
        "cross-attention 0, MLP: –",
    ]
    assert header["crosses"] == [[1, 0]]
    assert [(frame["top"], frame["left"]) for frame in header["frames"]] == [(0, 1)]
    header, values = received(damage.damage(np.array([[0.1, math.nan]]), rows=["layer 0"], off=[(0, 1)]))
    np.testing.assert_allclose(values, [[[0.1]]], rtol=1e-6)
    assert header["columns"]["names"] == ["0"]
    assert (header["crosses"], header["frames"]) == ([], [])


def test_what_is_recovered_names_both_sentences_and_frames_the_answer() -> None:
    picture = damage.recovered(
        SHARES, tokens=[(" boy", " girl"), *[(token, token) for token in K_TOKENS[1:]]], position=2, title="x"
    )
    header, _ = received(picture)
    assert header["scale"]["high"] == 1.25
    assert header["columns"]["names"][:2] == ["boy / girl", "the"]
    assert sentences(picture, [(1, 0), (0, 6)]) == ["layer 1, token 0 “boy / girl”: +0.600", "layer 0, token 6 “⏎”: –"]
    assert [(frame["left"], frame["bottom"]) for frame in header["frames"]] == [(2, 2)]


def test_padding_has_rows_without_numbers_and_repeated_tokens_stay_apart() -> None:
    header, _ = received(PICTURES["vectors"]())
    assert header["rows"]["names"] == ["1 7", "1 padding", "2 7", "2 the"]
    assert header["rows"]["spoken"][1:3] == ["sentence 1, padding at 1", "sentence 2, token 0 “7”"]
    between, row, column = header["frames"]
    assert (between["top"], between["bottom"], between["colour"]) == (2, 2, "text")
    assert (row["top"], row["bottom"], row["colour"]) == (0, 1, "text")
    assert (column["left"], column["right"], column["bottom"], column["colour"]) == (3, 4, 4, "plain")
    header, _ = received(PICTURES["change"]())
    assert header["columns"]["names"] == K_LABELS
    assert header["columns"]["spoken"][1:3] == ["token 1 “the”", "token 2 “the”"]
    assert header["columns"]["spoken"][5] == f"token 5 “{FULL_NAME}”"
    assert len(header["columns"]["spoken"]) == len(K_TOKENS)


STEPS = np.array([[0, 2, -1], [1, 0, -1], [1, 1, 0]])

SAID: list[tuple[Cells, dict[tuple[int, int], str]]] = [
    (
        masks.small(np.eye(3) > 0, title="<1>", k_tokens=("<s>", "a", "a")),
        {(1, 1): "query 1, key 1 “a”: may look", (2, 1): "query 2, key 1 “a”: may not look"},
    ),
    (masks.reach(STEPS, tokens=("<s>", "a", "a"), n_layers=3), {(0, 1): "query 0 “<s>”, key 1 “a”: after 2 layers"}),
    (
        masks.change(np.array([[0.123]]), tokens=[" a"]),
        {(0, 0): "after layer 0, token 0 “a”: moved by 12.3% of its length"},
    ),
    (PICTURES["class map"](), {(1, 1): "query 1 “cat”, key 1 “cat”: bucket 1"}),
    (PICTURES["bits"](), {(2, 2): "bit 2, position 2: 1"}),
    (PICTURES["signed table"](), {(0, 1): "position 0, dimension 1: −7.0000"}),
    (PICTURES["between tokens"](), {(3, 2): "token 3 “7”, token 2 “7”: 0.0000"}),
    (
        attribution.heads(np.array([[0.04, math.nan]]), columns=["head 0", "MLP"], title="x", chosen=None),
        {(0, 0): "layer 0, head 0: +0.040", (0, 1): "layer 0, MLP: –"},
    ),
]


def test_what_is_said_of_a_cell() -> None:
    for picture, said in SAID:
        assert dict(zip(said, sentences(picture, [*said]), strict=True)) == said


def test_what_is_written_in_the_cells_and_beside_them() -> None:
    mask, reach, classes, bits, table, tokens = (
        received(SAID[n][0]) if isinstance(n, int) else received(PICTURES[n]())
        for n in (0, 1, "class map", "bits", "signed table", "between tokens")
    )
    assert mask[0]["titles"] == ["<1>"]
    np.testing.assert_array_equal(np.isnan(mask[1][0]), np.eye(3) == 0)
    np.testing.assert_array_equal(reach[1][0], np.where(STEPS < 0, np.nan, STEPS))
    assert reach[0]["columns"]["names"] == reach[0]["rows"]["names"] == ["<s>", "a", "a"]
    assert reach[0]["texts"] == [["0", "2", ""], ["1", "0", ""], ["1", "1", "0"]]
    assert reach[0]["scale"]["high"] == 3
    np.testing.assert_array_equal(np.isnan(classes[1][0]), ~CAUSAL)
    assert classes[0]["texts"][1] == ["0", "1", "", "", ""]
    assert bits[0]["rows"]["names"] == ["every 1", "every 2", "every 4"], "the quickest on top"
    np.testing.assert_array_equal(table[1][0], NORMS - 15)
    assert table[0]["texts"][0][:2] == ["−8.000", "−7.000"]
    assert tokens[0]["texts"] is None
    added = np.array([[0.04, 0.06, math.nan]])
    assert attribution.heads(added, columns=["0", "1", "MLP"], title="x", chosen=None).texts == [["·", "+0.1", ""]]


def test_shares_are_written_short_and_of_many_cells_not_at_all() -> None:
    values = np.array([[1, 0.996, 0.994, 0.25, 0.006, 0.004, 0, math.nan]])
    assert shares(values) == [["1.0", "1.0", ".99", ".25", ".01", "·", "·", ""]]
    most = MOST_WRITTEN
    for shape in ((most, most), (1, most + 1), (most + 1, 1)):
        picture = steps.head_scores(np.zeros(shape), title="x", chosen=(0, 0))
        assert (picture.texts is None) == (shape != (most, most)), shape


def test_words_of_the_reader_and_of_the_model_are_told_apart() -> None:
    picture = PICTURES["translated"]()
    said = sentences(picture, [(0, 1), (0, 2)])
    assert ["given by you" in one for one in said] == [True, False]
    assert ["chosen by the model" in one for one in said] == [False, True]
    assert [name[0] for name in received(picture)[0]["columns"]["names"]][:3] == ["[", "[", " "]
    right, own = sentences(PICTURES["losses of words"](), [(0, 2), (1, 2)])
    assert "the model wrote" not in right
    assert right.endswith("loss 0.80 nats")
    assert "loss 1.25 nats" in own
    assert "the model wrote “&”" in own
