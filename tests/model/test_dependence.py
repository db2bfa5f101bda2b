"""Which outputs of a whole model depend on which inputs: causality, order, padding."""

import torch
from torch import Tensor

from tests.cases import each
from tests.model.helpers import assert_close, config, inputs_of, lively, lively_model, token_ids, with_other_token
from tests.model.sizes import ARCHITECTURES, K_LENGTH, LENGTH, SCHEMES
from tfmviz.model.transformer import EncoderDecoder, EncoderOnly, Transformer
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import NO_TAP, STEPWISE, PassThrough

every_architecture = each("architecture", ARCHITECTURES)

every_scheme = each("scheme", SCHEMES)

both_paths = each("tap", {"fused": NO_TAP, "stepwise": STEPWISE})


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
def test_windows_and_no_mask_in_training_show_what_they_should(tap: PassThrough) -> None:
    """With a window of w and n layers a token sees itself and n (w − 1) tokens before it, in training too."""
    model, inputs = lively_model(window=2, n_layers=3), inputs_of("decoder-only")
    for training in (False, True):
        model.train(training)
        assert differ(model, inputs, 0, 0, tap) == [True] * 4 + [False] * (LENGTH - 4)
    model, inputs = lively_model(training_mask="none"), inputs_of("decoder-only")
    for j in range(LENGTH):
        for in_training, unchanged in ((True, 0), (False, j)):
            model.train(in_training)
            assert differ(model, inputs, 0, j, tap) == [False] * unchanged + [True] * (LENGTH - unchanged)


@every_scheme
@torch.no_grad()
def test_only_without_positions_is_a_text_a_bag_of_words(scheme: str) -> None:
    model, ids = lively(EncoderOnly(config(architecture="encoder-only", positions=scheme))), token_ids(LENGTH)
    order = torch.tensor([3, 1, 4, 0, 6, 2, 5])
    permuted, expected = model(ids[:, order]), model(ids)[:, order]
    if scheme == "none":
        assert_close(permuted, expected)
    else:
        assert not torch.allclose(permuted, expected, atol=1e-2)


@every_scheme
@both_paths
@torch.no_grad()
def test_padded_texts_are_read_as_alone(scheme: str, tap: PassThrough) -> None:
    model = lively(EncoderDecoder(config(architecture="encoder-decoder", positions=scheme)))
    src, tgt = inputs_of("encoder-decoder")
    together = model(src, tgt, tap, src_lengths=torch.tensor([5, K_LENGTH]))
    for sentence, length in enumerate((5, K_LENGTH)):
        alone = model(src[sentence : sentence + 1, :length], tgt[sentence : sentence + 1], tap)
        assert_close(together[sentence : sentence + 1], alone)
    assert not torch.allclose(together[:1], model(src, tgt, tap)[:1], atol=1e-2)
    reader, ids = lively(EncoderOnly(config(architecture="encoder-only", positions=scheme))), token_ids(LENGTH)
    together = reader(ids, tap, lengths=torch.tensor([LENGTH, 3]))
    for sentence, length in enumerate((LENGTH, 3)):
        alone = reader(ids[sentence : sentence + 1, :length], tap)
        assert_close(together[sentence : sentence + 1, :length], alone)
