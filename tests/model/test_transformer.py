"""Whole models: their embeddings, how they are built, what they record, and which outputs depend on which inputs."""

import math

import pytest
import torch
from torch import Tensor

from tests.cases import each
from tests.model.helpers import (
    assert_close,
    config,
    inputs_of,
    lively,
    lively_model,
    record,
    token_ids,
    with_other_token,
)
from tests.model.sizes import ARCHITECTURES, K_LENGTH, LENGTH, SCHEMES
from tfmviz.model.transformer import EncoderDecoder, EncoderOnly, Transformer, build
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import NO_TAP, STEPWISE, PassThrough, Recorder

every_architecture = each("architecture", ARCHITECTURES)


@every_architecture
def test_tied_logits_are_products_with_embeddings_and_initial_weights_gpt2s(architecture: Architecture) -> None:
    for embeddings in ("tied", "untied"):
        model = lively_model(architecture=architecture, embeddings=embeddings)
        values = record(model, *inputs_of(architecture))
        last = values["encoder.norm" if architecture == "encoder-only" else "decoder.norm"]
        W_U = model.embedding.W_E if model.embedding.W_U is None else model.embedding.W_U
        assert_close(values["logits"], last @ W_U.T)
        is_tied = torch.allclose(values["logits"], last @ model.embedding.W_E.T, atol=1e-2)
        assert is_tied == (embeddings == "tied") == (model.embedding.W_U is None)
    sizes = {"vocab_size": 997, "d_model": 128, "n_layers": 3, "n_heads": 2, "n_kv_heads": 2, "d_ff": 256}
    model = build(config(architecture=architecture, **sizes, embeddings="untied", positions="learned"))
    n_writes = 15 if architecture == "encoder-decoder" else 6
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            assert torch.equal(weight, torch.full_like(weight, float(name.endswith("norm.weight"))))
        else:
            writes = name.endswith(("W_O.weight", "W_out.weight"))
            assert weight.std().item() == pytest.approx(0.02 / math.sqrt(n_writes) if writes else 0.02, rel=0.1)
            assert abs(weight.mean().item()) < 0.02 / 10


every_scheme = each("scheme", SCHEMES)


def test_sites_of_the_encoder_decoder_of_2017() -> None:
    """post-norm: each norm comes after the layer has written, and there is none at the end of a stack."""
    shape = {"n_layers": 1, "positions": "sinusoidal", "norm_position": "post", "feed_forward": "relu"}
    values = record(lively_model(architecture="encoder-decoder", **shape), *inputs_of("encoder-decoder"))
    attention, mlp = "q k v mask scores pattern z out norm", "mlp.pre mlp.post mlp.out mlp.norm resid_post"
    sites = [
        *(("encoder", "embed pos_embed 0.resid_pre"), ("encoder.0.self_attn", attention)),
        ("encoder.0", f"resid_mid {mlp}"),
        *(("decoder", "embed pos_embed 0.resid_pre"), ("decoder.0.self_attn", attention), ("decoder.0", "resid_mid")),
        *(("decoder.0.cross_attn", attention), ("decoder.0", f"resid_cross {mlp}")),
    ]
    assert list(values) == [*(f"{part}.{name}" for part, names in sites for name in names.split()), "logits"]


@every_architecture
@every_scheme
@torch.no_grad()
def test_recording_changes_nothing(architecture: Architecture, scheme: str) -> None:
    model, inputs = lively_model(architecture=architecture, positions=scheme), inputs_of(architecture)
    recorder = Recorder()
    recorded = model(*inputs, tap=recorder)
    assert torch.equal(recorded, model(*inputs, tap=STEPWISE))
    assert torch.equal(recorder.values["logits"], recorded)
    assert_close(model(*inputs), recorded)


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
