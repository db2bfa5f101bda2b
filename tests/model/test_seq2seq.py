"""Recurrent encoder-decoders: alignments, contexts and states computed anew in numpy, and laws."""

from typing import get_args

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.model.helpers import assert_close, lively, record, token_ids
from tests.model.sizes import K_LENGTH, LENGTH, MAX_LEN, VOCAB
from tfmviz.model.earlier import Alignment, Seq2SeqConfig, read_config
from tfmviz.model.seq2seq import Seq2Seq, translate_batch
from tfmviz.record.edits import Patch
from tfmviz.record.trace import Array

KINDS: tuple[Alignment, ...] = get_args(Alignment)
WITH_ATTENTION = KINDS[1:]
D = 5
MARK = 0


Weights = dict[str, Array]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gru(weights: Weights, layer: str, x: Array, h: Array) -> Array:
    W_x, W_h, b_x, b_h = (
        weights[f"{layer}.gru.{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(W_x @ x + b_x, 3), np.split(W_h @ h + b_h, 3)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    return (1 - z) * np.tanh(x_n + r * h_n) + z * h


def score(weights: Weights, attention: str, h: Array, state: Array) -> float:
    match attention:
        case "dot":
            return float(h @ state)
        case "bilinear":
            return float(h @ weights["scores.W_s.weight"] @ state)
        case _:
            v, W_h, W_e = (weights[f"scores.{name}.weight"] for name in ("v", "W_h", "W_e"))
            return float(v[0] @ np.tanh(W_h @ h + W_e @ state))


def encode(weights: Weights, src: list[int]) -> list[Array]:
    table, states = weights["W_E"], []
    h = np.zeros(table.shape[1])
    for token in src:
        h = gru(weights, "encoder", np.sqrt(len(h)) * table[token], h)
        states.append(h)
    return states


def forward(weights: Weights, attention: str, src: list[int], tgt: list[int]) -> dict[str, Array]:
    """Every value that the trace of a source and a target has, in double precision."""
    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    states, table = encode(weights, src), weights["W_E"]
    h = states[-1]
    found: dict[str, list[Array]] = {name: [] for name in ("scores", "alpha", "context", "hidden", "logits")}
    for token in tgt:
        c = states[-1]
        if attention != "none":
            scores = np.array([score(weights, attention, h, state) for state in states])
            alpha = np.exp(scores) / np.exp(scores).sum()
            c = alpha @ np.array(states)
            found["scores"].append(scores)
            found["alpha"].append(alpha)
        h = gru(weights, "decoder", np.concatenate((np.sqrt(len(h)) * table[token], c)), h)
        out = np.tanh(weights["W_O.weight"] @ np.concatenate((h, c)) + weights["W_O.bias"])
        found["context"].append(c)
        found["hidden"].append(h)
        found["logits"].append(table @ out)
    decoder = {f"decoder.{name}": np.array(rows) for name, rows in found.items() if rows and name != "logits"}
    return {"encoder.hidden": np.array(states), "logits": np.array(found["logits"])} | decoder


def model(attention: Alignment) -> Seq2Seq:
    return lively(Seq2Seq(Seq2SeqConfig(attention=attention, vocab_size=VOCAB, max_len=MAX_LEN, d_model=D)))


def source_and_target() -> tuple[torch.Tensor, torch.Tensor]:
    return token_ids(K_LENGTH, batch=1, seed=3), token_ids(LENGTH, batch=1)


@each("attention", KINDS)
def test_every_recorded_value_is_that_of_the_equations_in_numpy_and_padding_is_never_seen(attention: Alignment) -> None:
    module, (src, tgt) = model(attention), source_and_target()
    recorded = record(module, src, tgt)
    weights = {name: value.numpy() for name, value in module.state_dict().items()}
    for site, values in forward(weights, attention, src[0].tolist(), tgt[0].tolist()).items():
        assert recorded[site][0].shape == values.shape
        np.testing.assert_allclose(recorded[site][0].numpy(), values, rtol=1e-4, atol=1e-5, err_msg=site)
    assert ("decoder.alpha" in recorded) == (attention != "none")
    assert_close(recorded["logits"], module(src, tgt))
    padded = torch.cat((src, torch.full((1, 3), VOCAB - 1)), dim=1).expand(2, -1)
    both = module(padded, tgt.expand(2, -1), src_lengths=torch.tensor([K_LENGTH, K_LENGTH + 3]))
    assert_close(both[:1], module(src, tgt))
    assert not torch.allclose(both[:1], both[1:])


@each("attention", WITH_ATTENTION)
def test_an_edited_context_acts_on_what_is_written_from_there_on(attention: Alignment) -> None:
    module, (src, tgt) = model(attention), source_and_target()
    place = 3
    plain = record(module, src, tgt)
    edit = Patch(site="decoder.context", vector=(0.5,) * D, position=place)
    edited = record(module, src, tgt, edits=[edit])
    assert_close(edited["decoder.context"][0, place], torch.full((D,), 0.5))
    assert_close(edited["logits"][:, :place], plain["logits"][:, :place])
    for later in range(place, LENGTH):
        assert not torch.allclose(edited["logits"][:, later], plain["logits"][:, later])
    assert not torch.allclose(edited["decoder.alpha"][:, place + 1], plain["decoder.alpha"][:, place + 1])


@each("attention", KINDS)
def test_a_translation_takes_the_best_token_each_time(attention: Alignment) -> None:
    module = model(attention)
    src, lengths = token_ids(K_LENGTH, batch=3, seed=5), torch.tensor([K_LENGTH, 4, 1])
    found = translate_batch(module, src, lengths, mark=MARK, max_new_tokens=9)
    for row, (ids, length) in enumerate(zip(found, lengths.tolist(), strict=True)):
        text = [MARK]
        while len(text) < 10:
            best = int(module(src[row : row + 1, :length], torch.tensor([text]))[0, -1].argmax())
            if best == MARK:
                break
            text.append(best)
        assert ids == text[1:]


def test_a_translation_ends_at_the_mark() -> None:
    module = model("dot")
    with torch.no_grad():  # the mark wins everywhere
        module.W_O.weight.zero_()
        module.W_O.bias.copy_(5 * module.W_E[MARK])
        module.W_E[MARK] *= 10
    found = translate_batch(module, token_ids(4, batch=2), torch.tensor([4, 2]), mark=MARK, max_new_tokens=9)
    assert found == [[], []]


@each("attention", ["cosine", ["dot"]])
def test_an_unknown_alignment_is_refused_in_a_sentence(attention: object) -> None:
    with pytest.raises(ValueError, match="attention must be one of none, dot, bilinear, additive, but is "):
        read_config(model("dot").config.to_dict() | {"attention": attention})
