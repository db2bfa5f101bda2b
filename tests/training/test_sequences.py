"""Batches of separate sequences (pairs, masked texts, tasks, labelled texts) and of text in one stream."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.model.helpers import flat
from tests.training.toys import BYTES, SENTENCES, VOCAB, read, sequences, tiny_batches, write_lines
from tfmviz.constants import MASK
from tfmviz.model.transformer import build
from tfmviz.text.corpora import CorpusError
from tfmviz.text.tokenizer import END, END_OF_TEXT, SPANS, Tokenizer
from tfmviz.training.data import Batch, Batches, TextBatches, load_split, pack
from tfmviz.training.labels import LabelBatches
from tfmviz.training.loop import evaluate, n_tokens
from tfmviz.training.losses import IGNORED
from tfmviz.training.sequences import (
    Buckets,
    MaskedBatches,
    PairBatches,
    RepeatedBatches,
    SpanBatches,
    TaskBatches,
    leave_out_spans,
    mask_words,
    pair_batch,
)


@each("sides", [1, 2])
def test_an_epoch_holds_every_sequence_once_in_batches_within_the_budget(sides: int) -> None:
    lengths = np.random.default_rng(0).integers(1, 14, size=(499, sides))
    buckets = Buckets(lengths, budget=131, seed=5)
    for epoch in (0, 3):
        steps = [buckets.members(epoch * len(buckets.bounds) + i) for i in range(len(buckets.bounds))]
        assert sorted(np.concatenate(steps).tolist()) == list(range(499))
        for members in steps:
            assert len(members) * lengths[members].max(axis=0).sum() <= 131
    padding = sum(len(m) * lengths[m].max(axis=0).sum() for m in steps) / lengths.sum() - 1
    assert padding < 0.15


def test_epochs_mix_sequences_of_equal_length_anew_and_another_seed_does_too() -> None:
    lengths = np.random.default_rng(0).integers(1, 5, size=(1999, 1))
    orders = [tuple(Buckets(lengths, 131, seed).members(step)) for seed, step in ((5, 0), (5, 0), (6, 0))]
    assert orders[0] == orders[1] != orders[2]
    n = len(Buckets(lengths, 131, 5).bounds)
    epochs = [{frozenset(Buckets(lengths, 131, 5).members(e * n + i).tolist()) for i in range(n)} for e in range(2)]
    assert not epochs[0] & epochs[1]


@each("budget, message", [(2000, "has 499 tokens; one batch takes 2000"), (0, "longest text")])
def test_too_little_text_for_a_batch_is_refused_by_both_numbers(budget: int, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        Buckets(np.ones((499, 1), dtype=np.int64), budget=budget, seed=0)


def test_the_decoder_reads_what_it_should_have_written_so_far() -> None:
    inputs, targets = pair_batch([([5, 6, 7], [8, 9]), ([3], [4, 2, 11, 12])])
    assert inputs["src"].tolist() == [[5, 6, 7], [3, END, END]]
    assert inputs["src_lengths"].tolist() == [3, 1]
    assert inputs["tgt"].tolist() == [[END, 8, 9, END, END], [END, 4, 2, 11, 12]]
    assert targets.tolist() == [[8, 9, END, IGNORED, IGNORED], [4, 2, 11, 12, END]]
    assert n_tokens((inputs, targets)) == 3 + 1 + 3 + 5


@torch.no_grad()
def test_padding_changes_no_loss() -> None:
    sizes = {"max_len": 17, "d_model": 20, "n_layers": 2, "n_heads": 2, "n_kv_heads": 2, "d_ff": 29}
    model = build(flat(architecture="encoder-decoder", vocab_size=VOCAB, **sizes))
    pairs = list(zip(sequences(13, seed=1), sequences(13, seed=2), strict=True))
    alone = [(evaluate(model, [pair_batch([pair])]), len(pair[1]) + 1) for pair in pairs]
    expected = sum(loss * n for loss, n in alone) / sum(n for _, n in alone)
    assert evaluate(model, [pair_batch(pairs)]) == pytest.approx(expected, rel=1e-5)


def test_masked_tokens_are_asked_for_and_padding_is_not() -> None:
    rows = [[7] * 101 for _ in range(97)] + [[9] * 5]
    inputs, targets = mask_words(rows, np.random.default_rng(3), vocab_size=1009)
    ids, lengths = inputs["ids"], inputs["lengths"]
    asked = targets != IGNORED
    assert lengths.tolist() == [101] * 97 + [5]
    assert not asked[97, 5:].any()
    assert set(targets[asked].tolist()) <= {7, 9}
    assert (ids[asked] == MASK).mean() > 0.5
    assert set(ids[np.where(np.arange(101) < lengths[:, None], ~asked, False)].tolist()) <= {7, 9}


def test_what_is_left_out_is_written_after_its_mark_and_fills_the_gaps_again() -> None:
    rows = [list(range(10, 10 + n)) for n in (2, 7, 31, 64)]
    inputs, targets = leave_out_spans(rows, np.random.default_rng(3))
    for row, src, length, writes in zip(rows, inputs["src"], inputs["src_lengths"], targets, strict=True):
        written = writes[writes != IGNORED].tolist()
        assert written[-1] == END
        marks = [i for i, index in enumerate(written[:-1]) if index < 10]
        assert [written[i] for i in marks] == list(range(SPANS, SPANS + len(marks)))
        spans = {written[a]: written[a + 1 : b] for a, b in pairwise(marks)}
        assert [token for index in src[:length].tolist() for token in spans.get(index, [index])] == row
        assert sum(map(len, spans.values())) == max(round(0.15 * len(row)), 1)


def test_a_batch_of_spans_keeps_to_its_budget_and_each_epoch_leaves_other_spans_out() -> None:
    rows = [list(range(10, 10 + n)) for n in np.random.default_rng(1).integers(2, 40, size=83)]
    batches = SpanBatches(pieces=rows, budget=97)
    n = batches.steps_per_epoch
    epochs = [[batches.batch(epoch * n + step) for step in range(n)] for epoch in range(2)]
    for inputs, targets in epochs[0]:
        assert inputs["src"].size + targets.size <= 97
    assert sum(len(targets) for _, targets in epochs[0]) == 83
    seen = [{tuple(src) for inputs, _ in epoch for src in inputs["src"].tolist()} for epoch in epochs]
    assert len(seen[0] & seen[1]) < 40  # short texts have few spans


PAIRS = [(f"aà{i} b.", f"x{i} yz z.") for i in range(40)]
"""No letter is in both languages."""

TOKENIZER = Tokenizer.train((" ".join(pair) for pair in PAIRS), vocab_size=290)


def labelled(**changes: Any) -> LabelBatches:
    settings: dict[str, Any] = {"texts": "mixed", "batch_size": 7, "longest": 13, "seed": 5}
    return LabelBatches(pairs=PAIRS, tokenizer=TOKENIZER, **settings | changes)


def every_kind_of_batches(*, seed: int = 0) -> dict[str, Batches]:
    pairs = list(zip(sequences(97, seed=1), sequences(97, seed=2), strict=True))
    return {
        "text": tiny_batches(n_repeated=0, seed=seed),
        "text with repeated rows": tiny_batches(n_repeated=2, seed=seed),
        "labels": labelled(seed=seed),
        "pairs": PairBatches(pairs=pairs, budget=131, seed=seed),
        "masked": MaskedBatches(pieces=sequences(97, seed=1), budget=67, vocab_size=VOCAB, seed=seed),
        "spans": SpanBatches(pieces=[row for row in sequences(97, seed=1) if row[1:]], budget=67, seed=seed),
        "task": TaskBatches(task="sort", tokenizer=BYTES, size=5, batch_size=7, seed=seed),
        "repeated": RepeatedBatches(batch_size=7, length=11, vocab_size=VOCAB, seed=seed),
    }


def same(one: Batch, other: Batch) -> bool:
    return all(np.array_equal(one[0][name], other[0][name]) for name in one[0]) and np.array_equal(one[1], other[1])


@each("kind", list(every_kind_of_batches()))
def test_a_batch_is_a_function_of_seed_and_step(kind: str) -> None:
    batches, again, other = (every_kind_of_batches(seed=seed)[kind] for seed in (0, 0, 1))
    made = [batches.batch(step) for step in range(23)]
    assert all(same(again.batch(step), made[step]) for step in reversed(range(23)))
    assert not all(same(other.batch(step), made[step]) for step in range(23))
    assert batches.settings == again.settings != other.settings


def test_every_letter_has_the_label_of_its_language() -> None:
    seen, lengths = set(), set()
    for step in range(20):
        inputs, labels = labelled().batch(step)
        assert inputs["ids"].shape == labels.shape
        assert inputs["ids"].dtype == labels.dtype == np.int64
        assert len(labels) == 7
        lengths.add(labels.shape[1])
        for index, label in zip(inputs["ids"].ravel().tolist(), labels.ravel().tolist(), strict=True):
            token = TOKENIZER.bytes_of(index).decode("latin-1").lower()
            if letters := set(token) & set("abxyz"):
                assert letters <= set("ab" if label == 0 else "xyz"), token
                seen.add((label, len(token)))
        single = labelled(texts="single").batch(step)[1]
        assert (single == single[:, :1]).all()  # a text in one language has one label
    assert labelled().settings != labelled(texts="single").settings
    assert {label for label, _ in seen} == {0, 1}
    assert len({size for _, size in seen}) > 2
    assert lengths <= set(range(1, 14))
    assert len(lengths) > 5


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(SENTENCES, vocab_size=283)


def test_every_document_is_on_one_side_and_a_weight_repeats_training_alone(tmp_path: Path) -> None:
    paths = [write_lines(tmp_path / name, SENTENCES) for name in ("a.txt", "b.txt")]
    split = load_split([(paths[0], 1)])
    assert sorted(split.train + split.held_out) == sorted(SENTENCES)
    assert not set(split.train) & set(split.held_out)
    assert 1 <= len(split.held_out) <= 0.03 * len(SENTENCES)
    split = load_split([(path, 2) for path in paths])
    assert set(split.train) | set(split.held_out) == set(SENTENCES)
    assert not set(split.train) & set(split.held_out)
    for n in (0, 1):
        with pytest.raises(CorpusError, match=rf"^{n} documents are too few"):
            load_split([(write_lines(tmp_path / "a.txt", SENTENCES[:n]), 1)])
    once, thrice = SENTENCES[:700], SENTENCES[700:]
    split = load_split([(write_lines(tmp_path / "a.txt", once), 1), (write_lines(tmp_path / "b.txt", thrice), 3)])
    counts = Counter(split.train)
    assert counts == {d: 1 if d in set(once) else 3 for d in SENTENCES if d not in set(split.held_out)}
    assert set(Counter(split.held_out).values()) == {1}
    assert set(split.held_out) & set(thrice)


def unpack(stream: np.ndarray, tokenizer: Tokenizer) -> list[str]:
    assert stream[-1] == END
    ends = np.flatnonzero(stream == END)
    return [tokenizer.decode(piece[piece != END]) for piece in np.split(stream, ends[:-1] + 1)]


def test_packing_loses_nothing_and_depends_on_the_seed_alone(tokenizer: Tokenizer) -> None:
    documents = [*SENTENCES[:53], "你好 👩‍👩‍👧", f"typed {END_OF_TEXT} mark", "two\nlines"]
    first, again, other = (pack(documents, tokenizer, seed=seed) for seed in (3, 3, 5))
    assert first.dtype == np.int32
    assert Counter(unpack(first, tokenizer)) == Counter(documents)
    assert np.array_equal(first, again)
    assert unpack(other, tokenizer) != unpack(first, tokenizer) != documents


# Cutting the stream into batches. Where the stream holds 0, 1, 2, …, a token tells its own place.


def batches_of_places(n_tokens: int = 1009, **changes: int) -> TextBatches:
    shape = {"batch_size": 5, "length": 13, "vocab_size": 31, "n_repeated": 0, "seed": 7} | changes
    return TextBatches(stream=np.arange(n_tokens, dtype=np.uint16), **shape)


def test_targets_are_the_inputs_shifted_by_one() -> None:
    batches = batches_of_places(n_repeated=2)
    for step in range(batches.steps_per_epoch + 1):
        inputs, targets = read(batches, step)
        assert inputs.shape == targets.shape == (5, 13)
        assert inputs.dtype == targets.dtype == np.int64
        assert np.array_equal(inputs[:, 1:], targets[:, :-1])
        assert (np.diff(inputs[:3]) == 1).all()  # windows are stretches of the text
        assert (np.diff(targets[:3]) == 1).all()


def places_read(batches: TextBatches, epoch: int) -> np.ndarray:
    n_text = batches.batch_size - batches.n_repeated
    first = epoch * batches.steps_per_epoch
    return np.concatenate([read(batches, first + i)[0][:n_text].ravel() for i in range(batches.steps_per_epoch)])


@each("n_repeated", [0, 2])
@each("epoch", [0, 1, 4])
def test_no_place_of_the_text_is_read_twice_in_an_epoch(epoch: int, n_repeated: int) -> None:
    batches = batches_of_places(n_repeated=n_repeated)
    places = places_read(batches, epoch)
    assert len(np.unique(places)) == len(places)
    n_left_out = len(batches.stream) - len(places)
    assert n_left_out < (batches.batch_size + 2) * batches.length  # the batch that would not be full, and the offset


@each("n_tokens", [1009, 13 * (5 * 2 + 1) - 1])  # the second leaves nearly a batch over
def test_no_part_of_the_text_is_left_out_of_every_epoch(n_tokens: int) -> None:
    batches = batches_of_places(n_tokens)
    read = set(np.concatenate([places_read(batches, epoch) for epoch in range(200)]).tolist())
    assert set(range(n_tokens - 2 * batches.length)) <= read


def test_epochs_differ_and_a_stream_of_exactly_one_batch_is_enough() -> None:
    batches = batches_of_places()
    epochs = [places_read(batches, epoch) for epoch in range(4)]
    assert len({tuple(places) for places in epochs}) == 4
    assert len({places[0] % batches.length for places in epochs}) > 1
    needed = (3 + 1) * 13 + 1
    enough = batches_of_places(needed, n_repeated=2)
    assert enough.steps_per_epoch == 1
    assert all(enough.batch(step)[1][:3].max() < needed for step in range(50))
    with pytest.raises(CorpusError, match=rf"has {needed - 1} tokens; one batch needs {needed}\."):
        batches_of_places(needed - 1, n_repeated=2)


def test_repeated_rows_repeat_and_leave_the_text_rows_alone() -> None:
    plain, mixed = batches_of_places(batch_size=3), batches_of_places(batch_size=5, n_repeated=2)
    segments = set()
    for step in range(23):
        assert np.array_equal(read(mixed, step)[0][:3], read(plain, step)[0])
        inputs, targets = read(mixed, step)
        for row in np.concatenate((inputs, targets[:, -1:]), axis=1)[3:]:
            assert any((row[period:] == row[:-period]).all() for period in range(1, 13 // 2 + 1))
            assert row.min() > END
            assert row.max() < 31
            segments.add(tuple(row))
    assert len(segments) > 40  # of 46: they are drawn anew for every step


@each("n_repeated", [-1, 5, 7])
def test_some_rows_must_be_text(n_repeated: int) -> None:
    with pytest.raises(ValueError, match=rf"{n_repeated} of 5 rows"):
        batches_of_places(n_repeated=n_repeated)
