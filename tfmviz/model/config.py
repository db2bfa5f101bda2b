"""The facts of a model, checked: cache key and checkpoint header at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, assert_never, get_args, get_origin, get_type_hints

from tfmviz.positions.schemes import SCHEMES, Scheme
from tfmviz.record.facts import Facts

MAX_PARAMETERS = 2_000_000_000
"""Larger models are refused: a damaged or hostile config must not fill the memory."""

MAX_LEN = 65_536
"""Longer contexts are refused: position tables grow with them."""

MAX_LAYERS = 1_000
"""More layers per stack are refused, however small they are."""

MAX_EXPERTS = 1_000
"""More experts per layer are refused, however small they are."""

OPTIONAL_SIZES = ("n_decoder_layers", "head_width", "trained_len", "window")


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig(Facts):
    """The facts of a transformer, once they are known to go together.

    Raises:
        ValueError: two values do not go together; the message names both.
    """

    def __post_init__(self) -> None:
        self._check_choices()
        self._check_numbers()
        if self.head_width is None and self.d_model % self.n_heads:
            raise ValueError(f"d_model = {self.d_model} cannot be split evenly over n_heads = {self.n_heads}.")
        if self.n_heads % self.n_kv_heads:
            raise ValueError(f"n_heads = {self.n_heads} cannot share n_kv_heads = {self.n_kv_heads} evenly.")
        self._check_stacks()
        self._check_pairs()
        self._check_attention()
        self._check_experts()
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be a number in [0, 1), but is {self.dropout!r}.")
        if self.training_mask == "none" and self.architecture != "decoder-only":
            raise ValueError(f"training_mask = 'none' is for decoder-only models, not for {self.architecture} ones.")
        if self.max_len > MAX_LEN:
            raise ValueError(f"max_len = {self.max_len:,} is more than the {MAX_LEN:,} that are allowed.")
        for name in ("n_layers", "n_decoder_layers"):
            if (value := getattr(self, name)) is not None and value > MAX_LAYERS:
                raise ValueError(f"{name} = {value:,} is more than the {MAX_LAYERS:,} that are allowed.")
        if self.n_parameters > MAX_PARAMETERS:
            raise ValueError(f"The model would have {self.n_parameters:,} parameters; {MAX_PARAMETERS:,} are allowed.")

    @property
    def scheme(self) -> Scheme:
        """What `positions` names."""
        return SCHEMES[self.positions]

    @property
    def n_parameters(self) -> int:
        stacks = len(self.stacks)
        attention = 2 * self.d_model * (self.n_heads + self.n_kv_heads) * self.d_head
        feed_forward = self.n_experts * self._feed_forward_matrices * self.d_model * self.d_ff
        router = 0 if self.n_experts == 1 else self.n_experts * self.d_model
        blocks = sum(map(self.n_blocks, self.stacks)) * (attention + feed_forward + router)
        blocks += (stacks - 1) * self.n_blocks("decoder") * attention  # of cross-attention
        tables = self.vocab_size * (1 if self.embeddings == "tied" else 2)
        positions = self.max_len * stacks if self.scheme.table else 0
        return blocks + (tables + positions) * self.d_model

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ModelConfig:
        """Raises: ValueError, naming the entries that are missing, unknown or do not go together."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"Unknown entries in the model's config: {', '.join(unknown)}.")
        if isinstance(theta := values.get("rope_theta"), list):  # JSON knows no tuples
            values = values | {"rope_theta": tuple(theta)}
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"The model's config is not complete: {error}.") from error

    def _check_choices(self) -> None:
        hints = get_type_hints(type(self))
        choices = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
        for name, allowed in (choices | {"positions": tuple(SCHEMES)}).items():
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, but is {value!r}.")

    def _check_numbers(self) -> None:
        sizes = ("vocab_size", "max_len", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff", "n_experts")
        for name in (*sizes, *OPTIONAL_SIZES):
            value = getattr(self, name)
            if value is None and name in OPTIONAL_SIZES:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, but is {value!r}.")
        for name in ("norm_eps", "score_divisor", "score_cap", "logit_cap"):
            value = getattr(self, name)
            if value is None and name != "norm_eps":
                continue
            if not _is_number(value) or not value > 0:
                raise ValueError(f"{name} must be a positive number, but is {value!r}.")

    def _check_stacks(self) -> None:
        if self.n_decoder_layers is not None and self.architecture != "encoder-decoder":
            raise ValueError(f"n_decoder_layers is for an encoder-decoder, but this model is {self.architecture}.")
        if self.residual == "parallel" and (self.norm_position == "post" or self.architecture == "encoder-decoder"):
            raise ValueError(
                "Parallel layers need norms before them and no cross-attention, but this model is "
                f"{self.norm_position}-norm and {self.architecture}."
            )

    def _check_pairs(self) -> None:
        made_of = f"{self.d_model} / {self.n_heads}" if self.head_width is None else self.head_width
        said = {"d_model": f"d_model = {self.d_model}", "d_head": f"d_head = {made_of}"}
        width = self.scheme.pairs
        if width is not None and getattr(self, width) % 2:
            raise ValueError(f"{self.scheme.title} takes coordinates in pairs, but {said[width]} is odd.")
        theta = self.rope_theta
        if theta is None:
            return
        if self.scheme.acts != "rotate":
            raise ValueError(f"rope_theta is for a scheme that turns, but positions = {self.positions!r}.")
        if not isinstance(theta, tuple) or not all(_is_number(value) and value >= 0 for value in theta):
            raise ValueError("rope_theta must hold numbers of at least 0, one for each pair of coordinates.")
        if len(theta) != self.d_head // 2:
            raise ValueError(f"rope_theta has {len(theta)} numbers, but d_head = {self.d_head} has half as many pairs.")

    def _check_attention(self) -> None:
        if self.attention == "linear":
            if self.scheme.acts not in ("embed", None):
                raise ValueError(
                    f"Linear attention sums keys before it knows a query, so positions = {self.positions!r}, which "
                    "acts on queries and keys or on scores, does not go with it. Use learned or sinusoidal ones."
                )
            if self.score_cap is not None or self.score_divisor is not None:
                raise ValueError("score_cap and score_divisor are for attention = 'softmax', not for 'linear'.")
            if self.sink == "present":
                raise ValueError("sink = 'present' is for attention = 'softmax', not for 'linear'.")
        if self.window is not None and (self.architecture != "decoder-only" or self.training_mask == "none"):
            raise ValueError("A window needs a decoder-only model that is trained with the causal mask.")

    def _check_experts(self) -> None:
        if self.n_experts > MAX_EXPERTS:
            raise ValueError(f"n_experts = {self.n_experts:,} is more than the {MAX_EXPERTS:,} that are allowed.")
        if self.n_experts > 1 and self.feed_forward == "none":
            raise ValueError(f"feed_forward = 'none' leaves n_experts = {self.n_experts} experts nothing to be.")
        if self.n_experts > 1 and self.norm_position == "both":
            raise ValueError(f"n_experts = {self.n_experts} experts do not go with norms on both sides.")

    @property
    def _feed_forward_matrices(self) -> int:
        match self.feed_forward:
            case "none":
                return 0
            case "relu" | "gelu" | "gelu_tanh" | "silu":
                return 2
            case "swiglu" | "geglu" | "geglu_tanh" | "reglu":
                return 3
            case _:
                assert_never(self.feed_forward)


def _is_number(value: object) -> bool:
    """A finite number; True and False do not count."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
