"""Models of all architectures, from their configurations."""

from __future__ import annotations

from typing import assert_never

from tfmviz.model import transformer
from tfmviz.model.config import ModelConfig
from tfmviz.model.earlier import (
    AnyEarlier,
    LabellerConfig,
    RecurrentConfig,
    Seq2SeqConfig,
    StateSpaceConfig,
    WindowConfig,
)
from tfmviz.model.labeller import Labeller
from tfmviz.model.recurrent import RecurrentModel
from tfmviz.model.seq2seq import Seq2Seq
from tfmviz.model.state_space import StateSpaceModel
from tfmviz.model.transformer import Transformer, unfilled
from tfmviz.model.window import WindowModel

Config = ModelConfig | AnyEarlier
Earlier = WindowModel | RecurrentModel | StateSpaceModel
Model = Transformer | Earlier | Seq2Seq | Labeller


def build(config: Config) -> Model:
    match config:
        case ModelConfig():
            return transformer.build(config)
        case Seq2SeqConfig():
            return Seq2Seq(config)
        case LabellerConfig():
            return Labeller(config)
        case WindowConfig():
            return WindowModel(config)
        case RecurrentConfig():
            return RecurrentModel(config)
        case StateSpaceConfig():
            return StateSpaceModel(config)
        case _:
            assert_never(config)


def parameter_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Name and shape of every parameter, without allocating any."""
    if isinstance(config, ModelConfig):
        return transformer.parameter_shapes(config)
    with unfilled():
        return {name: tuple(value.shape) for name, value in build(config).state_dict().items()}
