"""A converted model against the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tfmviz.huggingface.families import family_of
from tfmviz.huggingface.source import Refused
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import Transformer
from tfmviz.record.marks import are_second
from tfmviz.record.tap import Recorder

LIMITS = {"logits": 5e-5, "patterns": 5e-6, "streams": 3e-5}
"""The largest differences that rounding explains, for logits and streams in units of the largest value above 1."""


TIMES = 10
"""The largest ratio of our distance from the exact result to that of the original's rounding. Of 540 random models 62
texts were over a limit, with ratios of at most 2.5; one row of weights changed by a thousandth gave 190.
"""

Values = dict[str, Tensor]
"""Values by our names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """One value in both models.

    Attributes:
        kind: "patterns", which includes routers' probabilities; "streams" or "logits".
        name: ours.
        difference: the largest, in units of the limits.
    """

    kind: str
    name: str
    difference: float


def compare(module: Transformer, theirs: Any, texts: Sequence[tuple[Tensor, ...]]) -> dict[str, Site]:
    """The site of each kind that differs most, over several texts.

    Where a softmax is saturated, the original's rounding may exceed the limits, as in T5. Then all sites are compared
    with the original in double precision: they pass if they are at most `TIMES` as far from it as the original's worst
    site of the kind.

    Args:
        texts: (1, len) ids each, or those of source and target.

    Raises:
        Refused: a difference is larger, or the original overflows.
    """
    largest: dict[str, Site] = {}
    for ids in texts:
        ours, original = run(module, ids), expected(theirs, module.config, ids)
        _check_finite(ours, original)
        sites = differences(ours, original)
        if first := next((site for site in sites if not site.difference <= LIMITS[site.kind]), None):
            _check_in_double(first, ours, original, expected(deepcopy(theirs).double(), module.config, ids))
        for site in sites:
            if site.kind not in largest or site.difference > largest[site.kind].difference:
                largest[site.kind] = site
    return largest


def _check_finite(ours: Values, original: Values) -> None:
    """Raises: Refused, naming the first site where the original overflows."""
    for name in ours:
        if name in original and not original[name].isfinite().all():
            raise Refused(
                f"What the original computes is not finite at {name}. Its weights are finite, but so large that they "
                "overflow; the file is damaged, or the model was not trained to its end."
            )


def _check_in_double(first: Site, ours: Values, original: Values, double: Values) -> None:
    """Raises: Refused, naming `first`, if any site is farther from the original than rounding explains."""
    limits = dict(LIMITS)
    for site in differences(original, double):
        limits[site.kind] = max(limits[site.kind], TIMES * site.difference)
    for site in differences(ours, double):
        if not site.difference <= limits[site.kind]:
            raise Refused(
                f"The converted model differs from the original first at {first.name}: by {first.difference:.1e}, "
                f"where {LIMITS[first.kind]:.0e} is allowed. This is a fault of the conversion; please report it."
            )


def differences(ours: Values, others: Values) -> list[Site]:
    found = []
    for name, value in ours.items():
        if name not in others or others[name].shape != value.shape:
            continue  # OPT's smallest post-norm model narrows its last stream, which is in our W_U
        kind = "patterns" if name.endswith((".pattern", ".router")) else "logits" if name == "logits" else "streams"
        scale = 1.0 if kind == "patterns" else max(1.0, float(others[name].abs().max()))
        difference = float((value.double() - others[name].double()).abs().max()) / scale
        found.append(Site(kind=kind, name=name, difference=difference))
    return found


def run(module: Transformer, ids: tuple[Tensor, ...]) -> Values:
    recorder = Recorder()
    with torch.inference_mode():
        module(*ids, tap=recorder)
    return recorder.values


def expected(theirs: Any, config: ModelConfig, ids: tuple[Tensor, ...]) -> Values:
    inputs: dict[str, Any] = dict(zip(("input_ids", "decoder_input_ids"), ids, strict=False)) | {"use_cache": False}
    if config.embeddings.separator is not None:
        inputs["token_type_ids"] = are_second(ids[0], config.embeddings.separator).long()
    if config.feed_forward.n_experts > 1:
        inputs["output_router_logits"] = True
    with torch.inference_mode(), eager(theirs):
        output = theirs(**inputs, output_attentions=True, output_hidden_states=True)
    return dict(_theirs(output, config, theirs.config))


def _theirs(output: Any, config: ModelConfig, theirs: Any) -> Iterator[tuple[str, Tensor]]:
    if config.head != "none":
        yield "logits", output.logits
    times = family_of(theirs).last(theirs)
    if config.architecture != "encoder-decoder":
        stack = config.stacks[0]
        *streams, last = output.hidden_states
        yield from _stack(stack, config, (*streams, last * times))
        yield from _patterns(f"{stack}.{{}}.self_attn", output.attentions)
        for layer, scores in enumerate(output.get("router_logits") or ()):
            yield f"{stack}.{layer}.mlp.router", scores.softmax(dim=-1)[None]
        return
    yield from _stack("encoder", config, output.encoder_hidden_states)
    yield from _stack("decoder", config, (*output.decoder_hidden_states[:-1], output.decoder_hidden_states[-1] * times))
    yield from _patterns("encoder.{}.self_attn", output.encoder_attentions)
    yield from _patterns("decoder.{}.self_attn", output.decoder_attentions)
    yield from _patterns("decoder.{}.cross_attn", output.cross_attentions)


def _stack(stack: str, config: ModelConfig, streams: Sequence[Tensor]) -> Iterator[tuple[str, Tensor]]:
    """The first stream, that after every layer, and the last one normed."""
    if len(streams) != config.depth(stack) + 1:
        raise Refused(f"transformers gave {len(streams)} streams of the {stack}, not {config.depth(stack) + 1}.")
    yield f"{stack}.0.resid_pre", streams[0]
    for layer, stream in enumerate(streams[1:-1]):
        yield f"{stack}.{layer}.resid_post", stream
    last = f"{stack}.{config.depth(stack) - 1}.resid_post"
    yield (last if config.norm.position == "post" else f"{stack}.norm"), streams[-1]


def _patterns(layer: str, patterns: Sequence[Tensor]) -> Iterator[tuple[str, Tensor]]:
    if not patterns:
        raise Refused("transformers gave no patterns to compare with.")
    for index, pattern in enumerate(patterns):
        yield f"{layer.format(index)}.pattern", pattern


@contextmanager
def eager(theirs: Any) -> Iterator[None]:
    """Makes the original compute its patterns step by step; its usual kernels silently give none.

    That of experts takes no vectors whose bytes are no multiple of 16.
    """
    before, training = theirs.config._attn_implementation, theirs.training
    experts = theirs.config._experts_implementation
    theirs.set_attn_implementation("eager")
    theirs.set_experts_implementation("eager")
    if theirs.config._attn_implementation != "eager":  # Falcon takes it only when it is built
        raise Refused('Its patterns cannot be had. Load it with attn_implementation="eager".')
    theirs.eval()
    try:
        yield
    finally:
        theirs.set_attn_implementation(before)
        theirs.set_experts_implementation(experts)
        theirs.train(training)
