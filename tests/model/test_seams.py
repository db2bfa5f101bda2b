"""What other people's models do differently: each choice of the configuration against its formula, and the default.

`tests/huggingface` compares whole models with transformers; here each seam stands alone.
"""

from itertools import pairwise
from typing import Any, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.cases import each
from tests.model.helpers import assert_close, blocks_of, config, inputs_of, lively_model, normal, record, token_ids
from tests.model.sizes import LENGTH, SCHEMES, VOCAB
from tfmviz.model.cache import Cache
from tfmviz.model.feed_forward import activation
from tfmviz.model.transformer import DecoderOnly, build, build_to_fill
from tfmviz.record.facts import Architecture, FeedForwardKind, NormPosition
from tfmviz.record.tap import STEPWISE

THETA = (0.5, 0.01, 0.0, 0.0, 2.0)  # one for each pair of D_HEAD coordinates; two pairs do not turn

SEAMS: dict[str, dict[str, Any]] = {
    "eps": {"norm_eps": 0.03},
    "head width": {"head_width": 14},
    "theta": {"rope_theta": THETA},
    "query-key norms": {"qk_norm": "present"},
    "parallel": {"residual": "parallel"},
    "no residual": {"residual": "absent"},
    "both": {"norm_position": "both", "norm": "rms"},
    "out": {"norm_position": "out", "norm": "rms", "qk_norm": "all heads"},
    "no first": {"first_norm": "absent", "embedding_norm": "present"},
    "two thetas": {"other_theta": THETA, "other_layers": (1,)},
    "divisor": {"score_divisor": 1.0},
    "caps": {"score_cap": 0.7, "logit_cap": 0.3},
    "embedding norm": {"embedding_norm": "present"},
    "bias": {"head": "bias"},
    "transform": {"head": "transform", "segment": "present"},
    "none": {"head": "none"},
    "sink": {"sink": "present"},
    "sines first": {"positions": "sines-first"},
    "window": {"window": 3},
    "linear": {"attention": "linear", "positions": "sinusoidal"},
    **{kind: {"feed_forward": kind} for kind in get_args(FeedForwardKind)},
    **{place: {"norm_position": place} for place in get_args(NormPosition)},
    **{scheme: {"positions": scheme, "n_heads": 4, "n_kv_heads": 2, "d_model": 24} for scheme in SCHEMES},
}
every_seam = each("changes", SEAMS)


def decoder(**changes: Any) -> DecoderOnly:
    model = lively_model(**changes)
    assert isinstance(model, DecoderOnly)
    return model


def recorded(model: DecoderOnly) -> dict[str, Tensor]:
    return record(model, token_ids(LENGTH))


# Every choice at once: recording, a cache, a model that is filled instead of drawn.


@every_seam
@torch.no_grad()
def test_recording_the_fused_path_and_a_cache_agree(changes: dict[str, Any]) -> None:
    model, ids = decoder(**changes), token_ids(LENGTH)
    stepwise = model(ids, STEPWISE)
    assert_close(model(ids), stepwise)
    assert recorded(model)["decoder.norm" if changes.get("head") == "none" else "logits"].equal(stepwise)
    ids, cache = token_ids(11), Cache()
    pieces = [model(ids[:, first:last], cache, past=first) for first, last in pairwise((0, 1, 5, 6, 9, 11))]
    assert_close(torch.cat(pieces, dim=1), model(ids))


@every_seam
@each("architecture", get_args(Architecture))
@torch.no_grad()
def test_a_filled_model_is_the_model_that_was_drawn(architecture: Architecture, changes: dict[str, Any]) -> None:
    if architecture == "encoder-decoder" and (changes.get("residual") == "parallel" or "window" in changes):
        return  # no such model
    drawn, inputs = lively_model(architecture=architecture, **changes), inputs_of(architecture)
    filled = build_to_fill(drawn.config)
    filled.load_state_dict(drawn.state_dict(), assign=True)
    assert filled.eval()(*inputs).equal(drawn(*inputs))


@each("norm_position", ["pre", "post"])
@torch.no_grad()
def test_without_residual_connections_the_stream_is_what_the_last_layer_wrote(norm_position: str) -> None:
    model = decoder(residual="absent", norm_position=norm_position)
    values = recorded(model)
    for index, block in enumerate(blocks_of(model.decoder)):
        assert block.mlp_residual is not None
        pre, mid, post = (values[f"decoder.{index}.resid_{name}"] for name in ("pre", "mid", "post"))
        parts = (("self_attn", pre, mid, block.self_attn_residual), ("mlp", mid, post, block.mlp_residual))
        for part, before, after, residual in parts:
            out, normed = (values[f"decoder.{index}.{part}.{site}"] for site in ("out", "norm"))
            assert_close(normed, residual.norm(before if norm_position == "pre" else out))
            assert_close(after, out if norm_position == "pre" else normed)


def test_every_norm_has_its_epsilon_and_a_decoder_may_be_deeper() -> None:
    model = lively_model(architecture="encoder-decoder", n_layers=1, n_decoder_layers=3)
    values = record(model, token_ids(LENGTH), token_ids(LENGTH))
    patterns = [site.removesuffix(".pattern") for site in values if site.endswith(".pattern")]
    assert tuple(patterns) == model.config.layers
    assert len(patterns) == 1 + 2 * 3
    model = build(config(norm_eps=0.03, norm="rms", norm_position="both", qk_norm="present", head="transform"))
    norms = [module for module in model.modules() if isinstance(module, nn.RMSNorm)]
    assert len(norms) == 2 * (2 + 2 + 2) + 1 + 1  # per layer: before, after, q and k; then last norm and head
    assert {norm.eps for norm in norms} == {0.03}


GATES = {"reglu": F.relu, "geglu": F.gelu, "geglu_tanh": nn.GELU("tanh"), "swiglu": F.silu}
PLAIN = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": nn.GELU("tanh"), "silu": F.silu}


@each("kind, function", [*GATES.items(), *PLAIN.items()])
def test_a_name_means_its_function(kind: FeedForwardKind, function: Any) -> None:
    x = normal(VOCAB)
    assert activation(kind)(x).equal(function(x))
    values = recorded(decoder(feed_forward=kind))
    mlp = {name: values[f"decoder.0.mlp.{name}"] for name in ("pre", "post")}
    expected = function(values["decoder.0.mlp.gate"]) * mlp["pre"] if kind in GATES else function(mlp["pre"])
    assert_close(mlp["post"], expected)
