"""Reading the weights and the tokenizer of a model's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn

from tfmviz.model.build import Config, build, parameter_shapes
from tfmviz.model.config import ModelConfig
from tfmviz.model.device import chosen_for
from tfmviz.model.earlier import AnyEarlier
from tfmviz.model.linear import HALF, ready_to_read
from tfmviz.model.transformer import Transformer, build_to_fill
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.tokenizer import Tokenizer

IN_MEMORY = 300_000_000
"""Parameters of the largest model that is kept in float32: 1.2 GB."""


def read_tokenizer(folder: Path, config: Config) -> Tokenizer | ForeignTokenizer:
    """The tokenizer of a model; foreign ones have a list of their special tokens in `tokens.json`.

    Raises:
        ValueError: it is damaged or does not fit the model.
    """
    if (folder / "tokens.json").exists():
        mark = config.embeddings.separator if isinstance(config, ModelConfig) else None
        return ForeignTokenizer.load(folder, vocab_size=config.vocab_size, separator=mark)
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    if tokenizer.vocab_size != config.vocab_size:
        raise ValueError(f"its tokenizer has {tokenizer.vocab_size} entries, its config says {config.vocab_size}.")
    return tokenizer


def read_module(folder: Path, config: ModelConfig, *, weights_file: str = "model.safetensors") -> Transformer:
    """The transformer with its weights, which compute in float32 however they are stored.

    A large model's matrices in half precision stay so, and in their file; see `model.linear.product`.

    Raises:
        ValueError: the weights do not fit the config, or not all are finite.
    """
    weights = _read_weights(folder / weights_file, config)
    module = build_to_fill(config)
    stays = stay_in_file(config)
    module.load_state_dict(
        {
            name: value if stays(name) and value.dtype in HALF else value.to(torch.float32, copy=True)
            for name, value in weights.items()
        },
        assign=True,
    )
    return ready_to_read(module)


def stay_in_file(config: ModelConfig) -> Callable[[str], bool]:
    """Selects parameters that stay in their file: matrices of a large model on the processor."""
    if config.n_parameters <= IN_MEMORY or chosen_for(config.n_parameters).type != "cpu":
        return lambda name: False
    matrices = {name for name, shape in parameter_shapes(config).items() if len(shape) == 2}
    return lambda name: name in matrices and not name.endswith("positions.table")


def read_earlier(folder: Path, config: AnyEarlier) -> nn.Module:
    """The same for an earlier model."""
    weights = _read_weights(folder / "model.safetensors", config)
    module = build(config)
    module.load_state_dict(weights)
    return ready_to_read(module)


def _read_weights(path: Path, config: Config) -> dict[str, Tensor]:
    _check_shapes(path, config)
    weights = {}
    with safe_open(path, framework="pt") as file:
        for name in file.keys():  # noqa: SIM118  (this is not a dictionary)
            value = file.get_tensor(name)
            if not are_finite(value):
                raise ValueError(f"not all numbers in {name} are finite.")
            weights[name] = value
    return weights


def are_finite(value: Tensor) -> bool:
    """Checks the numbers of a tensor without a copy."""
    return not value.numel() or all(end.isfinite() for end in value.aminmax())  # if one is NaN, both are


def _check_shapes(path: Path, config: Config) -> None:
    """Compares the header of the weights with the config, before the weights are read.

    Raises:
        ValueError: an array is missing or superfluous, has another shape or holds no floating-point numbers.
    """
    expected = parameter_shapes(config)
    with safe_open(path, framework="numpy") as file:
        names = set(file.keys())
        if missing := [name for name in expected if name not in names]:
            raise ValueError(f"{path.name} lacks {len(missing)} of {len(expected)} arrays, first {missing[0]}.")
        if unknown := names - expected.keys():
            raise ValueError(f"{path.name} holds {min(unknown)}, which the config does not provide for.")
        for name, shape in expected.items():
            stored = file.get_slice(name)
            if (there := tuple(stored.get_shape())) != shape:
                raise ValueError(f"{name} is {there} in {path.name}, but {shape} by the config.")
            if not (kind := stored.get_dtype()).startswith(("F", "BF")):
                raise ValueError(f"{name} holds {kind} numbers in {path.name}; weights are floating-point numbers.")
