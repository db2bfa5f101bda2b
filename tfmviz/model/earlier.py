"""Configurations of models without attention: a fixed window, recurrence in its four uses, and a state space.

Needs no torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

from tfmviz.model.config import ModelConfig, check_limits
from tfmviz.record.part import Part


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape(Part, ABC):
    """Common fields.

    Attributes:
        max_len: longest input in tokens.
        d_model: width of a token's vector.

    Raises:
        ValueError: a value is not an integer of at least 1, or is too large.
    """

    vocab_size: int
    max_len: int
    d_model: int

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of trained parameters."""

    def __post_init__(self) -> None:
        Part.__post_init__(self)
        check_limits(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowConfig(Shape):
    """Shape of a `WindowModel`."""

    architecture: Literal["window"] = "window"
    n_window: int
    d_hidden: int

    @property
    def n_parameters(self) -> int:
        table = self.vocab_size * self.d_model
        return table + (self.n_window * self.d_model + 1) * self.d_hidden + (self.d_hidden + 1) * self.vocab_size


@dataclass(frozen=True, kw_only=True, slots=True)
class RecurrentConfig(Shape):
    """Shape of a `RecurrentModel`, whose states all have d_model coordinates."""

    architecture: Literal["rnn"] = "rnn"
    n_layers: int

    @property
    def n_parameters(self) -> int:
        layer = 3 * (2 * self.d_model * self.d_model + 2 * self.d_model)
        return self.vocab_size * (self.d_model + 1) + self.n_layers * layer


@dataclass(frozen=True, kw_only=True, slots=True)
class StateSpaceConfig(Shape):
    """Shape of a `StateSpaceModel`.

    Attributes:
        d_model: also channels of a layer.
        n_state: states per channel.
        n_layers: pairs of a state space and a feed-forward layer.
    """

    architecture: Literal["ssm"] = "ssm"
    n_state: int
    d_ff: int
    n_layers: int

    @property
    def n_parameters(self) -> int:
        d = self.d_model
        mixer, feed_forward = 3 * d * (d + 1) + d * (2 * self.n_state + 1), 2 * d * self.d_ff + self.d_ff + d
        return self.vocab_size * d + self.n_layers * (mixer + feed_forward + 4 * d) + 2 * d


Alignment = Literal["none", "dot", "bilinear", "additive"]
"""A recurrent decoder's attention: none, or one of three scores."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seq2SeqConfig(Shape):
    """Shape of a `Seq2Seq`.

    Attributes:
        vocab_size: shared by both languages.
        max_len: of the source, and of the target.
        d_model: also of every state and of the context.
    """

    architecture: Literal["seq2seq"] = "seq2seq"
    attention: Alignment

    @property
    def n_parameters(self) -> int:
        d = self.d_model
        scores = {"none": 0, "dot": 0, "bilinear": d * d, "additive": 2 * d * d + d}[self.attention]
        encoder, decoder = 3 * d * (2 * d + 2), 3 * d * (3 * d + 2)
        return self.vocab_size * d + encoder + decoder + scores + (2 * d + 1) * d


Directions = Literal["forward", "both"]
"""The reading direction of a labeller."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LabellerConfig(Shape):
    """Shape of a `Labeller`.

    Attributes:
        d_model: also of a layer's output, half of it for each of two directions.

    Raises:
        ValueError: as `Shape`, or d_model does not fit the directions.
    """

    architecture: Literal["labeller"] = "labeller"
    directions: Directions
    n_labels: int
    n_layers: int

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        if self.d_model % self.n_directions:
            raise ValueError(f"d_model = {self.d_model} cannot be split evenly over {self.n_directions} directions.")

    @property
    def n_directions(self) -> int:
        return 2 if self.directions == "both" else 1

    @property
    def d_hidden(self) -> int:
        return self.d_model // self.n_directions

    @property
    def n_parameters(self) -> int:
        layer = self.n_directions * 3 * self.d_hidden * (self.d_model + self.d_hidden + 2)
        return self.vocab_size * self.d_model + self.n_layers * layer + (self.d_model + 1) * self.n_labels


EarlierConfig = WindowConfig | RecurrentConfig | StateSpaceConfig
"""Language models without attention."""

AnyEarlier = EarlierConfig | Seq2SeqConfig | LabellerConfig

EARLIER: dict[str, type[AnyEarlier]] = {
    "window": WindowConfig,
    "rnn": RecurrentConfig,
    "ssm": StateSpaceConfig,
    "seq2seq": Seq2SeqConfig,
    "labeller": LabellerConfig,
}
"""Configurations by architecture."""


def read_config(values: dict[str, Any]) -> ModelConfig | AnyEarlier:
    """The contents of a `config.json`, checked.

    Raises:
        ValueError: an entry is missing, unknown or unusable.
    """
    architecture = values.get("architecture")
    kind = EARLIER.get(architecture) if isinstance(architecture, str) else None
    return (kind or ModelConfig).from_dict(values)
