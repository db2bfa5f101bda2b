"""From a checkpoint to our own transformer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from tfmviz.huggingface import decoders, encoders, llamas, mixtures, translators
from tfmviz.huggingface.family import MAX_LEN, Family
from tfmviz.huggingface.refusals import not_converted, with_way_out
from tfmviz.huggingface.source import Refused, Source, Store
from tfmviz.model.config import ModelConfig
from tfmviz.model.linear import ready_to_read
from tfmviz.model.transformer import Transformer, build_to_fill, parameter_shapes

FAMILIES: dict[str, Family] = {
    **decoders.FAMILIES,
    **llamas.FAMILIES,
    **mixtures.FAMILIES,
    **encoders.FAMILIES,
    **translators.FAMILIES,
}
"""By `model_type`."""

DEFAULT_LEN = 256
"""Tokens that a converted model reads by default."""


def family_of(theirs: Any) -> Family:
    """The family of a configuration of transformers.

    Raises:
        Refused: there is none, or the weights are quantised.
    """
    if getattr(theirs, "quantization_config", None) is not None:
        quantised = "Its weights are quantised. Convert the model that it was made from."
        raise Refused(with_way_out(quantised, theirs.to_dict()))
    if theirs.model_type not in FAMILIES:
        raise Refused(not_converted(theirs.to_dict(), FAMILIES))
    return FAMILIES[theirs.model_type]


def open_source(store: Store, family: Family) -> Source:
    return Source(store, prefix=family.prefix, left_out=family.left_out, stacked=family.stacked)


def config_of(theirs: Any, source: Source, family: Family, *, max_len: int = DEFAULT_LEN) -> ModelConfig:
    """Our configuration; `max_len` and the longest text that pages draw cut the context.

    Raises:
        Refused: the model is of an unknown kind, or its configuration contradicts itself.
    """
    context = family.context(theirs)
    length = min(max_len, context, MAX_LEN)
    trained = context if context > length else None
    try:
        sizes = {"vocab_size": theirs.vocab_size, "max_len": length, "trained_len": trained}
        return ModelConfig.from_dict(sizes | family.shape(theirs, source))
    except Refused as refused:
        raise Refused(with_way_out(str(refused), theirs.to_dict())) from refused
    except (ValueError, TypeError) as error:
        sentence = f"Its configuration does not describe a model that is known here. {error}"
        raise Refused(with_way_out(sentence, theirs.to_dict())) from error


def parameters(source: Source, theirs: Any, config: ModelConfig, family: Family) -> Iterator[tuple[str, Tensor]]:
    """All parameters of our model, one after another.

    Raises:
        Refused: one is missing, superfluous or of another shape than configured.
    """
    expected = parameter_shapes(config)
    for name, value in family.weights(source, theirs, config):
        if expected.pop(name, None) != (shape := tuple(value.shape)):
            raise Refused(f"{name} would be {shape}, which its configuration does not say. The checkpoint is damaged.")
        yield name, value
    if expected:
        raise Refused(f"The checkpoint has nothing for {len(expected)} parameters, first {min(expected)}.")
    if left_over := source.left_over:
        sentence = (
            f"The checkpoint holds {len(left_over)} tensors that no model of this type has, first {left_over[0]}. "
            "What they do is not known here, so the model is not shown without them."
        )
        raise Refused(with_way_out(sentence, theirs.to_dict()))


def check_shapes(source: Source, theirs: Any, config: ModelConfig, family: Family) -> None:
    """`parameters` by their shapes, before any tensor is read. Raises: Refused."""
    with torch.device("meta"):
        for _ in parameters(source.without_numbers(), theirs, config, family):
            pass


def module_of(source: Source, theirs: Any, config: ModelConfig, family: Family) -> Transformer:
    """Our transformer with the weights of a checkpoint, in float32. Raises: Refused."""
    module = build_to_fill(config)
    weights = {name: value.float().clone() for name, value in parameters(source, theirs, config, family)}
    module.load_state_dict(weights, assign=True)
    return ready_to_read(module)
