"""The validated configuration of a transformer: cache key and checkpoint header."""

from __future__ import annotations

from dataclasses import dataclass

from tfmviz.positions.schemes import SCHEMES, Scheme
from tfmviz.record.facts import Facts
from tfmviz.record.model import Sizes
from tfmviz.record.part import Part, check_choice

MAX_PARAMETERS = 2_000_000_000
"""A damaged or hostile config must not fill the memory."""

MAX_LEN = 65_536
"""Longest context: position tables grow with it."""

MAX_VOCAB = 1_000_000
"""Largest vocabulary, since each entry has a name."""

MAX_LAYERS = 1_000
"""Most layers per stack, however small."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelConfig(Facts):
    """The facts of a transformer, checked.

    Raises:
        ValueError: two values contradict each other.
    """

    def __post_init__(self) -> None:
        Part.__post_init__(self)
        check_choice("positions", self.positions.kind, SCHEMES)
        n_heads = self.attention.n_heads
        if self.attention.head_width is None and self.d_model % n_heads:
            raise ValueError(f"d_model = {self.d_model} cannot be split evenly over n_heads = {n_heads}.")
        self._check_stacks()
        self._check_positions()
        check_limits(self)

    @property
    def scheme(self) -> Scheme:
        return SCHEMES[self.positions.kind]

    @property
    def n_parameters(self) -> int:
        stacks, layer = len(self.stacks), self.feed_forward
        attention = 2 * self.d_model * (self.attention.n_heads + self.attention.n_kv_heads) * self.d_head
        feed_forward = layer.n_matrices * self.d_model * (layer.n_experts * layer.d_ff + (layer.d_shared or 0))
        router = 0 if layer.n_experts == 1 else layer.n_experts * self.d_model
        blocks = sum(map(self.n_blocks, self.stacks)) * (attention + feed_forward + router)
        blocks += (stacks - 1) * self.n_blocks("decoder") * attention  # of cross-attention
        tables = self.vocab_size * (1 if self.embeddings.tied else 2)
        positions = self.max_len * stacks if self.scheme.table else 0
        widens = 0 if self.embeddings.width is None else stacks * self.d_model
        return blocks + (tables + positions + widens) * self.d_embed

    def _check_stacks(self) -> None:
        if self.n_decoder_layers is not None and self.architecture != "encoder-decoder":
            raise ValueError(f"n_decoder_layers is for an encoder-decoder, but this model is {self.architecture}.")
        if self.residual == "parallel" and (self.norm.position == "post" or self.architecture == "encoder-decoder"):
            raise ValueError(
                "Parallel layers need norms before them and no cross-attention, but this model is "
                f"{self.norm.position}-norm and {self.architecture}."
            )
        if (experts := self.feed_forward.n_experts) > 1 and self.norm.position in ("both", "out"):
            raise ValueError(f"n_experts = {experts} do not go with a norm at their ends: {self.norm.position!r}.")
        if self.embeddings.width is not None and self.head not in ("transform", "none"):
            raise ValueError(
                f"embedding_width = {self.d_embed} needs a head that narrows streams, but head = {self.head!r}."
            )
        if (mark := self.embeddings.separator) is not None and not (self.embeddings.segment and mark < self.vocab_size):
            raise ValueError(f"separator = {mark} needs segment = 'present' and an entry of the vocabulary.")
        if self.training_mask == "none" and self.architecture != "decoder-only":
            raise ValueError(f"training_mask = 'none' is for decoder-only models, not for {self.architecture} ones.")
        if self.attention.window is not None and (len(self.stacks) > 1 or self.training_mask == "none"):
            raise ValueError("A window needs one stack, and a decoder that is trained with the causal mask.")
        if not self.norm.first and (self.norm.position != "pre" or self.residual != "sequential"):
            raise ValueError("first_norm = 'absent' is for a pre-norm model whose layers follow one another.")

    def _check_positions(self) -> None:
        width, kind = self.attention.head_width, self.positions.kind
        made_of = f"{self.d_model} / {self.attention.n_heads}" if width is None else width
        facts = {"d_model": f"d_model = {self.d_model}", "d_head": f"d_head = {made_of}"}
        if self.scheme.pairs is not None and getattr(self, self.scheme.pairs) % 2:
            raise ValueError(f"{self.scheme.title} takes coordinates in pairs, but {facts[self.scheme.pairs]} is odd.")
        if self.positions.in_each_layer and self.scheme.acts != "bias":
            raise ValueError(f"Each layer can have a scheme of its own that adds to scores, but positions = {kind!r}.")
        for name in ("rope_theta", "other_theta"):
            if (theta := getattr(self.positions, name)) is None:
                continue
            if self.scheme.acts != "rotate":
                raise ValueError(f"{name} is for a scheme that turns, but positions = {kind!r}.")
            if len(theta) != self.d_head // 2:
                raise ValueError(f"{name} has {len(theta)} numbers, but d_head = {self.d_head} has half as many pairs.")
        if self.attention.score_cap is not None and self.scheme.acts == "relate":
            raise ValueError(f"score_cap is for products of queries and keys alone, but positions = {kind!r}.")
        if self.attention.kind == "linear" and self.scheme.acts not in ("embed", None):
            raise ValueError(
                f"Linear attention sums keys before it knows a query, so positions = {kind!r}, which "
                "acts on queries and keys or on scores, does not go with it. Use learned or sinusoidal ones."
            )


def check_limits(config: Sizes) -> None:
    """Raises ValueError for a model so large that a hostile file could fill the memory."""
    limits = {"max_len": MAX_LEN, "n_window": MAX_LEN, "vocab_size": MAX_VOCAB}
    limits |= {"n_layers": MAX_LAYERS, "n_decoder_layers": MAX_LAYERS}
    for name, most in limits.items():
        if (getattr(config, name, None) or 0) > most:
            raise ValueError(f"{name} = {getattr(config, name):,} is more than the {most:,} that are allowed.")
    if config.n_parameters > MAX_PARAMETERS:
        raise ValueError(f"The model would have {config.n_parameters:,} parameters; {MAX_PARAMETERS:,} are allowed.")
