"""Text in one stream: split, packed, cut into batches."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tests.training.toys import SENTENCES, read, write_lines
from tfmviz.text.corpora import CorpusError
from tfmviz.text.tokenizer import END, END_OF_TEXT, Tokenizer
from tfmviz.training.data import TextBatches, load_split, pack


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
