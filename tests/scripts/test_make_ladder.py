"""The script behind the page from windows to attention: its passages, its losses, and the order of training."""

import numpy as np
import pytest

from scripts import make_ladder
from tfmviz.analysis.reach import Predict
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import END

V = 11


def looking_back(place: int) -> Predict:
    """A predictor that expects, with 0.9, the token that stands this many places back."""

    def predict(texts: Array) -> Array:
        return 0.1 / V + 0.9 * np.eye(V)[texts[:, -place] if texts.shape[1] >= place else 0 * texts[:, -1]]

    return predict


def test_passages_lie_within_documents_and_the_answer_follows_each() -> None:
    rng = np.random.default_rng(0)
    stream = np.concatenate([[*rng.integers(END + 1, V, size=n), END] for n in (40, 200, 63, 64, 90)])
    texts, answers = make_ladder.texts_of(stream)
    assert texts.shape == (len(answers), make_ladder.LENGTH)
    assert len(answers) > 10
    joined = " ".join(map(str, stream))
    for text, answer in zip(texts, answers, strict=True):
        assert END not in text
        assert " ".join(map(str, [*text, answer])) in joined


def test_losses_rise_only_where_the_model_looks() -> None:
    rng = np.random.default_rng(1)
    texts = rng.integers(1, V, size=(40, make_ladder.LENGTH))
    answers = texts[:, -5]
    found = make_ladder.further_back(looking_back(5), texts, answers, (0, 7, 9))
    assert found["loss"] == pytest.approx(-np.log(0.9 + 0.1 / V), abs=1e-4)
    assert [k for k, share in enumerate(found["changed"], start=1) if share] == [5]
    kept = np.array(make_ladder.KEPT)
    for name in ("cut", "shuffled", "thinned"):
        rises = np.array(found[name])
        assert (rises[kept >= 5] == 0).all(), name
        assert (rises[kept < 5] > 0.2).all(), name
