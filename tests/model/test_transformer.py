"""Whole models: their embeddings, how they are built, what they record, and which outputs depend on which inputs."""

import math

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from tests.cases import each
from tests.model.helpers import (
    assert_close,
    blocks_of,
    config,
    inputs_of,
    lively,
    lively_model,
    record,
    token_ids,
    with_other_token,
)
from tests.model.sizes import (
    ARCHITECTURES,
    BATCH,
    D_FF,
    D_HEAD,
    D_MODEL,
    K_LENGTH,
    LENGTH,
    MAX_LEN,
    N_HEADS,
    N_LAYERS,
    SCHEMES,
    VOCAB,
)
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, EncoderOnly, Transformer, build
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import NO_TAP, STEPWISE, PassThrough, Recorder

every_architecture = each("architecture", ARCHITECTURES)


def weights_of(model: DecoderOnly) -> dict[str, Tensor]:
    """The weights of a model with learned positions under GPT-2's names; Hugging Face keeps its matrices transposed."""
    stack = model.decoder
    weights: dict[str, Tensor] = {"wte.weight": model.embedding.W_E}
    weights["wpe.weight"] = stack.positions.get_parameter("table")
    weights |= {f"ln_f.{kind}": stack.get_parameter(f"norm.{kind}") for kind in ("weight", "bias")}
    for index, block in enumerate(blocks_of(stack)):
        parts: dict[str, Tensor] = {name: block.get_parameter(name) for name, _ in block.named_parameters()}
        for kind in ("weight", "bias"):
            projections = [parts[f"self_attn.W_{name}.{kind}"] for name in "QKV"]
            named = {
                "ln_1": parts[f"self_attn_residual.norm.{kind}"],
                "attn.c_attn": torch.cat(projections).t(),
                "attn.c_proj": parts[f"self_attn.W_O.{kind}"].t(),
                "ln_2": parts[f"mlp_residual.norm.{kind}"],
                "mlp.c_fc": parts[f"mlp.W_in.{kind}"].t(),
                "mlp.c_proj": parts[f"mlp.W_out.{kind}"].t(),
            }
            weights |= {f"h.{index}.{name}.{kind}": weight for name, weight in named.items()}
    return weights


def gpt2_of(model: DecoderOnly) -> GPT2LMHeadModel:
    sizes = {"vocab_size": VOCAB, "n_positions": MAX_LEN, "n_embd": D_MODEL, "n_layer": N_LAYERS, "n_head": N_HEADS}
    marks = {"bos_token_id": 0, "eos_token_id": 0}
    reference = GPT2LMHeadModel(GPT2Config(**sizes, **marks, n_inner=D_FF, activation_function="gelu"))
    reference.transformer.load_state_dict(weights_of(model))
    reference.set_attn_implementation("eager")  # the one that hands out patterns
    reference.train(False)
    return reference


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

Sites = list[tuple[str, tuple[int, ...]]]


def shaped(sites: str, part: str, q_len: int, k_len: int, *, kv_heads: int = N_HEADS) -> Sites:
    """The sites of a part of a model with the shapes that their last names ask for."""
    heads, keys, square = (
        (BATCH, N_HEADS, q_len, D_HEAD),
        (BATCH, kv_heads, k_len, D_HEAD),
        (BATCH, N_HEADS, q_len, k_len),
    )
    shapes: dict[str, tuple[int, ...]] = {"q": heads, "rot_q": heads, "z": heads, "k": keys, "v": keys, "rot_k": keys}
    shapes |= {"mask": (q_len, k_len), "scores": square, "pattern": square, "pos_embed": (1, q_len, D_MODEL)}
    shapes |= {"pre": (BATCH, q_len, D_FF), "post": (BATCH, q_len, D_FF), "logits": (BATCH, q_len, VOCAB)}
    found = [(part + site, site.rpartition(".")[2]) for site in sites.split()]
    return [(site, shapes.get(last, (BATCH, q_len, D_MODEL))) for site, last in found]


def sites_of(values: dict[str, torch.Tensor]) -> Sites:
    return [(site, tuple(value.shape)) for site, value in values.items()]


def test_sites_of_the_encoder_decoder_of_2017() -> None:
    """post-norm: each norm comes after the layer has written, and there is none at the end of a stack."""
    shape = {"n_layers": 1, "positions": "sinusoidal", "norm_position": "post", "feed_forward": "relu"}
    values = record(lively_model(architecture="encoder-decoder", **shape), *inputs_of("encoder-decoder"))
    attention, mlp = "q k v mask scores pattern z out norm", "mlp.pre mlp.post mlp.out mlp.norm resid_post"
    first = "embed pos_embed 0.resid_pre"
    assert sites_of(values) == [
        *shaped(first, "encoder.", K_LENGTH, K_LENGTH),
        *shaped(attention, "encoder.0.self_attn.", K_LENGTH, K_LENGTH),
        *shaped(f"resid_mid {mlp}", "encoder.0.", K_LENGTH, K_LENGTH),
        *shaped(first, "decoder.", LENGTH, LENGTH),
        *shaped(attention, "decoder.0.self_attn.", LENGTH, LENGTH),
        *shaped("resid_mid", "decoder.0.", LENGTH, LENGTH),
        *shaped(attention, "decoder.0.cross_attn.", LENGTH, K_LENGTH),
        *shaped(f"resid_cross {mlp}", "decoder.0.", LENGTH, K_LENGTH),
        *shaped("logits", "", LENGTH, LENGTH),
    ]


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
