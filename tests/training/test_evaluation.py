"""What is measured on held-out text."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.model.helpers import flat
from tests.training.toys import VOCAB, tiny_model
from tfmviz.model.transformer import EncoderOnly, build
from tfmviz.text.tokenizer import END
from tfmviz.training.data import windows
from tfmviz.training.evaluation import (
    bits_per_byte,
    exact_match,
    loss_by_position,
    masked_accuracy,
    unigram_cross_entropy,
)
from tfmviz.training.loop import evaluate


@each("n_tokens", [11 + 1, 5 * 11 + 3, 16 * 11 + 1, 37 * 11 + 7])
def test_evaluation_is_the_mean_over_windows_read_one_by_one(n_tokens: int) -> None:
    stream = np.random.default_rng(1).integers(0, 23, size=n_tokens).astype(np.uint16)
    model = tiny_model().train()  # with dropout, which evaluation has to switch off
    told = evaluate(model, windows(stream, length=11))
    token_losses = []
    model.eval()
    for first in range(0, n_tokens - 11, 11):
        window = torch.from_numpy(stream[first : first + 12].astype(np.int64))
        log_p = model(window[None, :-1])[0].double().log_softmax(dim=-1)
        token_losses += [-log_p[place, target].item() for place, target in enumerate(window[1:].tolist())]
    assert len(token_losses) == (n_tokens - 1) // 11 * 11
    assert told == pytest.approx(np.mean(token_losses), rel=1e-6)


def test_evaluation_stops_after_so_many_windows() -> None:
    model, stream = tiny_model(), np.random.default_rng(1).integers(0, 23, size=37 * 11 + 7).astype(np.uint16)
    for most in (1, 5, 16, 17, 1000):
        expected = evaluate(model, windows(stream[: most * 11 + 1], length=11))
        assert evaluate(model, windows(stream, length=11, max_windows=most)) == pytest.approx(expected, rel=1e-6), most
    with pytest.raises(ValueError, match=r"11\b.*\b12|12\b.*\b11"):
        windows(stream[:11], length=11)


def test_cross_entropy_bits_and_exact_match_by_hand() -> None:
    train, held_out = np.array([0, 0, 1, 0], dtype=np.uint16), np.array([0, 2], dtype=np.uint16)
    expected = (math.log(7 / 4) + math.log(7 / 1)) / 2
    assert unigram_cross_entropy(train, held_out, vocab_size=3) == pytest.approx(expected)
    assert bits_per_byte(np.log(2), stream=np.array([3, 4, 5, END]), n_bytes=5) == pytest.approx(4 / 6)
    assert exact_match(["ab", "b", ""], ["ab", "B", "x"]) == pytest.approx(1 / 3)


def tiny(architecture: Any, **changes: Any) -> Any:
    torch.manual_seed(0)
    sizes = {"vocab_size": VOCAB, "max_len": 11, "d_model": 20, "n_layers": 1, "n_heads": 2, "n_kv_heads": 2}
    return build(flat(architecture=architecture, **sizes | {"d_ff": 29} | changes))


@each("positions", ["rope", "learned"])
def test_the_loss_by_position_is_measured_past_the_trained_length(positions: str) -> None:
    model, stream = tiny("decoder-only", positions=positions), np.random.default_rng(0).integers(VOCAB, size=401)
    losses = loss_by_position(model, stream, length=88)
    n = 11 if positions == "learned" else 88
    assert losses.shape == (n,)
    place, windows = 7, [stream[i : i + n + 1] for i in range(0, 400 - 88 + 1, 88)]
    with torch.no_grad():
        told = [-model(torch.tensor(w[None, :n]))[0].log_softmax(-1)[place, w[place + 1]].item() for w in windows[:256]]
    assert losses[place] == pytest.approx(np.mean(told), rel=1e-5)


def test_masked_accuracy_of_a_model_that_always_says_the_same() -> None:
    model = tiny("encoder-only", embeddings="untied")
    with torch.no_grad():
        model.embedding.W_U.zero_()
        model.encoder.norm.weight.zero_()
        model.encoder.norm.bias.fill_(1.0)
        model.embedding.W_U[[5, 6, 7, 8, 9]] = torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0])[:, None]
    assert isinstance(model, EncoderOnly)
    accuracy = masked_accuracy(model, [[5] * 10, [9] * 7, [11] * 3])
    assert (accuracy.top_1, accuracy.top_5, accuracy.n_masked) == (0.5, 0.75, 2 + 1 + 1)
