"""The shipped models have learned what their cards say, and what the lectures need of them."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import tfmviz
from tfmviz import zoo
from tfmviz.analysis.heads import head_scores
from tfmviz.zoo import ZooModel


@cache
def model() -> ZooModel:
    return tfmviz.load("tiny-english")


def card() -> str:
    return (zoo.MODELS / "tiny-english" / "CARD.md").read_text(encoding="utf-8")


def nats(row: str) -> float:
    """A figure of the card."""
    found = re.search(rf"\| {row} \| ([\d.]+) nats", card())
    assert found
    return float(found[1])


def test_it_beats_word_frequencies_by_far() -> None:
    assert nats("held-out loss") < 0.7 * nats("unigram cross-entropy on the same text")


def test_it_has_not_merely_learned_the_training_text() -> None:
    """Sentences written for this test: their loss is near the card's, far under the unigram's."""
    text = "One day, a little girl went to the park with her mother. They saw a big dog. The girl was very happy."
    trace = model().trace(text)
    logits = trace["logits"].astype(np.float64)
    logits -= logits.max(axis=-1, keepdims=True)
    log_probabilities = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    ids = trace.target.ids
    loss = -np.mean([log_probabilities[i, ids[i + 1]] for i in range(len(ids) - 1)])
    assert loss < nats("held-out loss")


def test_once_upon_a_time() -> None:
    assert model().generate("Once upon a", max_new_tokens=12).text.startswith("Once upon a time")


@pytest.mark.parametrize(("kind", "least"), [("previous token", 0.5), ("induction", 0.3)])
def test_it_has_the_heads_of_the_lectures(kind: str, least: float) -> None:
    """On fresh random tokens said twice; the seed is none that training or the app uses."""
    ids = tuple(np.random.default_rng(71).integers(1, model().config.vocab_size, size=43).tolist()) * 2
    trace = model().trace(ids, sites=("*.pattern", "*.mask"))
    scores = [head_scores(trace[f"{layer}.pattern"], ids, trace[f"{layer}.mask"]) for layer in trace.layers]
    assert max(float(layer[kind].max()) for layer in scores) > least  # type: ignore[index]


def test_the_page_opens_with_a_previous_token_head() -> None:
    from tfmviz.ui.controls import FIRST_LOOK
    from tfmviz.ui.sentences import SENTENCES

    layer = model().config.layers[FIRST_LOOK["layer"]]
    trace = model().trace(SENTENCES[0])
    scores = head_scores(trace[f"{layer}.pattern"], trace.target.ids, trace[f"{layer}.mask"])
    assert scores["previous token"][FIRST_LOOK["head"]] > 0.5


def test_cards_say_where_the_data_come_from() -> None:
    for name in tfmviz.available():
        text = (zoo.MODELS / name / "CARD.md").read_text(encoding="utf-8")
        for source in ("Tatoeba", "Common Voice", "Storybook", "TinyStories", "CC BY", "CDLA-Sharing-1.0"):
            assert source in text


def test_all_models_together_stay_small() -> None:
    assert sum(path.stat().st_size for path in zoo.MODELS.rglob("*")) <= 60 * 2**20
