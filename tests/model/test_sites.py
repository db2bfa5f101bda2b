"""What a whole model records, and that recording changes nothing."""

import torch

from tests.cases import each
from tests.model.helpers import assert_close, inputs_of, lively_model, record, token_ids
from tests.model.sizes import ARCHITECTURES, BATCH, D_FF, D_HEAD, D_MODEL, K_LENGTH, LENGTH, N_HEADS, SCHEMES, VOCAB
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import STEPWISE, Recorder

every_architecture = each("architecture", ARCHITECTURES)

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


def test_sites_of_a_decoder_only_model_with_rope() -> None:
    values = record(lively_model(n_layers=1, n_kv_heads=1, positions="rope"), token_ids(LENGTH))
    attention = "norm q k v rot_q rot_k mask scores pattern z out"
    block = "resid_mid mlp.norm mlp.pre mlp.post mlp.out resid_post"
    lengths = (LENGTH, LENGTH)
    assert sites_of(values) == [
        *shaped("embed decoder.0.resid_pre", "", *lengths),
        *shaped(attention, "decoder.0.self_attn.", *lengths, kv_heads=1),
        *shaped(block, "decoder.0.", *lengths),
        *shaped("decoder.norm logits", "", *lengths),
    ]


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
def test_what_a_swiglu_model_adds_to_the_sites_is_the_gate(architecture: Architecture) -> None:
    plain, gated = (
        record(lively_model(architecture=architecture, feed_forward=kind), *inputs_of(architecture))
        for kind in ("gelu", "swiglu")
    )
    assert [site for site in gated if not site.endswith(".gate")] == list(plain)
    assert sum(site.endswith(".mlp.gate") for site in gated) == sum(site.endswith(".mlp.pre") for site in plain)


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
