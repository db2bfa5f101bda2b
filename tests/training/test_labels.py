"""Batches of texts whose tokens have labels."""

from typing import Any

import numpy as np

from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.labels import LabelBatches

PAIRS = [(f"aà{i} b.", f"x{i} yz z.") for i in range(40)]
"""No letter is in both languages."""

TOKENIZER = Tokenizer.train((" ".join(pair) for pair in PAIRS), vocab_size=290)


def batches(**changes: Any) -> LabelBatches:
    settings: dict[str, Any] = {"texts": "mixed", "batch_size": 7, "longest": 13, "seed": 5}
    return LabelBatches(pairs=PAIRS, tokenizer=TOKENIZER, **settings | changes)


def test_every_letter_has_the_label_of_its_language() -> None:
    seen, lengths = set(), set()
    for step in range(20):
        inputs, labels = batches().batch(step)
        assert inputs["ids"].shape == labels.shape
        assert inputs["ids"].dtype == labels.dtype == np.int64
        assert len(labels) == 7
        lengths.add(labels.shape[1])
        for index, label in zip(inputs["ids"].ravel().tolist(), labels.ravel().tolist(), strict=True):
            token = TOKENIZER.bytes_of(index).decode("latin-1").lower()
            if letters := set(token) & set("abxyz"):
                assert letters <= set("ab" if label == 0 else "xyz"), token
                seen.add((label, len(token)))
        single = batches(texts="single").batch(step)[1]
        assert (single == single[:, :1]).all()  # a text in one language has one label
    assert {label for label, _ in seen} == {0, 1}
    assert len({size for _, size in seen}) > 2
    assert lengths <= set(range(1, 14))
    assert len(lengths) > 5


def test_a_batch_depends_on_seed_and_step_alone() -> None:
    first, again = batches().batch(3), batches().batch(3)
    assert np.array_equal(first[0]["ids"], again[0]["ids"])
    assert np.array_equal(first[1], again[1])
    others = [batches().batch(4), batches(seed=6).batch(3)]
    assert all(
        other[1].shape != first[1].shape or not np.array_equal(other[0]["ids"], first[0]["ids"]) for other in others
    )
    assert batches().settings != batches(texts="single").settings
    assert batches().settings == batches().settings
