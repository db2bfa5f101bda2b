"""Which outputs of a whole model depend on which inputs: causality, order, padding."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.cases import each
from tests.model.helpers import (
    ARCHITECTURES,
    K_LENGTH,
    LENGTH,
    MAX_LEN,
    SCHEMES,
    assert_close,
    config,
    inputs_of,
    lively,
    lively_model,
    token_ids,
    with_other_token,
)
from tfmviz import masks
from tfmviz.model.block import Stack
from tfmviz.model.transformer import EncoderDecoder, EncoderOnly, Transformer
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import NO_TAP, STEPWISE, PassThrough

every_architecture = each("architecture", ARCHITECTURES)


every_scheme = each("scheme", SCHEMES)


both_paths = each("tap", {"fused": NO_TAP, "stepwise": STEPWISE})


# What can depend on what.


def differ(model: Transformer, inputs: tuple[Tensor, ...], which: int, position: int, tap: PassThrough) -> list[bool]:
    """For each position, whether any logit of any sentence differs when one token of one input is another."""
    changed = list(inputs)
    changed[which] = with_other_token(inputs[which], position)
    before, after = model(*inputs, tap=tap), model(*changed, tap=tap)
    return [not torch.equal(before[:, i], after[:, i]) for i in range(before.shape[1])]


@every_architecture
@every_scheme
@both_paths
@torch.no_grad()
def test_the_future_cannot_change_the_past(architecture: Architecture, scheme: str, tap: PassThrough) -> None:
    """Of what a decoder writes; an encoder sees the future, and every source token can change a whole translation."""
    model, inputs = lively_model(architecture=architecture, positions=scheme), inputs_of(architecture)
    for which, read in enumerate(inputs):
        is_causal = which == len(inputs) - 1 and architecture != "encoder-only"
        for j in range(read.shape[1]):
            unchanged = j if is_causal else 0
            expected = [False] * unchanged + [True] * (LENGTH - unchanged)
            assert differ(model, inputs, which, j, tap) == expected


@both_paths
@torch.no_grad()
def test_each_layer_sees_one_window_further_back(tap: PassThrough) -> None:
    """With a window of w and n layers a token sees itself and n (w − 1) tokens before it, in training too."""
    model, inputs = lively_model(window=2, n_layers=3), inputs_of("decoder-only")
    for training in (False, True):
        model.train(training)
        assert differ(model, inputs, 0, 0, tap) == [True] * 4 + [False] * (LENGTH - 4)


@both_paths
@torch.no_grad()
def test_a_model_trained_without_a_mask_sees_everything_in_training_and_nothing_ahead_afterwards(
    tap: PassThrough,
) -> None:
    model, inputs = lively_model(training_mask="none"), inputs_of("decoder-only")
    for j in range(LENGTH):
        for in_training, unchanged in ((True, 0), (False, j)):
            model.train(in_training)
            assert differ(model, inputs, 0, j, tap) == [False] * unchanged + [True] * (LENGTH - unchanged)


@every_architecture
@torch.no_grad()
def test_only_encoders_tell_left_from_right_in_t5_bias(architecture: Architecture) -> None:
    """A decoder never sees keys to the right and has no buckets for them: all count as distance 0."""
    model = lively_model(architecture=architecture, positions="t5")
    to_the_right = ~masks.causal(MAX_LEN)
    for name, stack in model.named_children():
        if isinstance(stack, Stack):
            bias = stack.positions.bias(MAX_LEN, MAX_LEN)
            assert bias is not None
            at_distance_0 = bias[:, :1, :1].expand_as(bias)
            is_ignored = torch.equal(bias[:, to_the_right], at_distance_0[:, to_the_right])
            assert is_ignored is (name == "decoder")
            assert not torch.equal(bias[:, ~to_the_right], at_distance_0[:, ~to_the_right])


@every_scheme
@torch.no_grad()
def test_only_without_positions_is_a_text_a_bag_of_words(scheme: str) -> None:
    """Without positions, permuting an encoder's tokens permutes its outputs and does nothing else."""
    model, ids = lively(EncoderOnly(config(architecture="encoder-only", positions=scheme))), token_ids(LENGTH)
    order = torch.tensor([3, 1, 4, 0, 6, 2, 5])
    permuted, expected = model(ids[:, order]), model(ids)[:, order]
    if scheme == "none":
        assert_close(permuted, expected)
    else:
        assert not torch.allclose(permuted, expected, atol=1e-2)


# Padding.


@every_scheme
@both_paths
@torch.no_grad()
def test_a_padded_source_is_translated_as_alone(scheme: str, tap: PassThrough) -> None:
    model = lively(EncoderDecoder(config(architecture="encoder-decoder", positions=scheme)))
    src, tgt = inputs_of("encoder-decoder")
    together = model(src, tgt, tap, src_lengths=torch.tensor([5, K_LENGTH]))
    for sentence, length in enumerate((5, K_LENGTH)):
        alone = model(src[sentence : sentence + 1, :length], tgt[sentence : sentence + 1], tap)
        assert_close(together[sentence : sentence + 1], alone)
    assert not torch.allclose(together[:1], model(src, tgt, tap)[:1], atol=1e-2)


@every_scheme
@both_paths
@torch.no_grad()
def test_a_padded_text_is_encoded_as_alone(scheme: str, tap: PassThrough) -> None:
    model, ids = lively(EncoderOnly(config(architecture="encoder-only", positions=scheme))), token_ids(LENGTH)
    together = model(ids, tap, lengths=torch.tensor([LENGTH, 3]))
    for sentence, length in enumerate((LENGTH, 3)):
        alone = model(ids[sentence : sentence + 1, :length], tap)
        assert_close(together[sentence : sentence + 1, :length], alone)
