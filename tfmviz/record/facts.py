"""The architecture of a model as one frozen value, for pages that need no weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal, assert_never

from tfmviz.constants import NORM_EPS
from tfmviz.record.part import Part, Share, entry, is_number

Architecture = Literal["decoder-only", "encoder-only", "encoder-decoder"]
NormPosition = Literal["pre", "post", "both", "out"]
Norm = Literal["layer", "rms"]
FeedForwardKind = Literal[
    "relu", "relu2", "gelu", "gelu_tanh", "silu", "swiglu", "geglu", "geglu_tanh", "reglu", "none"
]
Residual = Literal["sequential", "parallel", "absent"]
Head = Literal["linear", "bias", "transform", "none"]
TrainingMask = Literal["causal", "none"]
AttentionKind = Literal["softmax", "linear"]
NormOfQueries = Literal["absent", "present", "all heads"]
Layers = tuple[int, ...]
"""Layers, counted from 0."""

MAX_EXPERTS = 1_000
"""More experts per layer are refused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttentionFacts(Part):
    """The attention layers.

    Attributes:
        kind: exp(q · k / divisor) or, "linear", φ(q) · φ(k) with φ = elu + 1 (Katharopoulos et al. 2020), divided by
            its sum over the keys.
        n_kv_heads: heads with keys and values; n_heads / n_kv_heads query heads share each (Ainslie et al. 2023).
        head_width: d_head, if it is not d_model / n_heads (Gemma, Qwen 3, T5 1.1).
        sink: every head's softmax counts one more logit, a trained parameter that belongs to no key (gpt-oss; Xiao et
            al. 2023, section 4.1).
        window: most keys that a query sees, its own included (Mistral), in an encoder on either side (ModernBERT);
            None: all that the mask allows.
        global_layers: layers without the window (Gemma 3).
        qk_norm: RMSNorm of every query and key, over d_head (Qwen 3), or of "all heads" together (OLMo 2).
        score_divisor: √d_head if None; 1 in T5.
        score_cap: c of c · tanh(scores / c) (Gemma 2).
    """

    kind: AttentionKind = field(default="softmax", metadata=entry("attention"))
    n_heads: int
    n_kv_heads: int
    head_width: int | None = None
    sink: bool = False
    window: int | None = None
    global_layers: Layers | None = None
    qk_norm: NormOfQueries = "absent"
    score_divisor: float | None = None
    score_cap: float | None = None

    def __post_init__(self) -> None:
        Part.__post_init__(self)
        if self.n_heads % self.n_kv_heads:
            raise ValueError(f"n_heads = {self.n_heads} cannot share n_kv_heads = {self.n_kv_heads} evenly.")
        if self.kind == "linear" and (self.score_cap is not None or self.score_divisor is not None):
            raise ValueError("score_cap and score_divisor are for attention = 'softmax', not for 'linear'.")
        if self.kind == "linear" and self.sink:
            raise ValueError("sink = 'present' is for attention = 'softmax', not for 'linear'.")
        object.__setattr__(self, "global_layers", layers("global_layers", self.global_layers))
        if self.global_layers is not None and self.window is None:
            raise ValueError("global_layers are those without the window, but there is none.")

    def window_in(self, layer: int) -> int | None:
        return None if layer in (self.global_layers or ()) else self.window


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedForwardFacts(Part):
    """The feed-forward layers.

    Attributes:
        kind: the function between the two matrices, gated if its name ends in "glu" (Shazeer 2020); "none" leaves the
            layer out. "tanh": GELU's approximation.
        n_experts: parallel layers, of which a router chooses some for each token (Switch Transformer, Fedus et al.
            2021).
        n_chosen: number chosen (Mixtral, Jiang et al. 2024).
        scaled_up: divides the probabilities of those chosen by their sum.
        d_shared: width of an expert that every token passes (Qwen2-MoE).
        limits: a, b and c: experts are (f(min(x W_gate, a)) ⊙ clamp(x W_in, b, c)) W_out (gpt-oss).
    """

    kind: FeedForwardKind = field(default="gelu", metadata=entry("feed_forward"))
    d_ff: int
    n_experts: int = 1
    n_chosen: int = 1
    scaled_up: bool = field(default=False, metadata=entry("expert_weights", words=("probabilities", "shares")))
    d_shared: int | None = None
    limits: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        Part.__post_init__(self)
        if self.n_experts > MAX_EXPERTS:
            raise ValueError(f"n_experts = {self.n_experts:,} is more than the {MAX_EXPERTS:,} that are allowed.")
        if self.n_experts > 1 and self.kind == "none":
            raise ValueError(f"feed_forward = 'none' leaves n_experts = {self.n_experts} experts nothing to be.")
        if self.n_chosen > self.n_experts:
            raise ValueError(f"n_chosen = {self.n_chosen} experts cannot be chosen of n_experts = {self.n_experts}.")
        if self.n_experts == 1 and (self.d_shared is not None or self.limits is not None):
            raise ValueError("d_shared and limits are for experts, but n_experts = 1.")
        object.__setattr__(self, "limits", self._limits())

    def _limits(self) -> tuple[float, float, float] | None:
        """`limits` from a file. Raises: ValueError."""
        if self.limits is None:
            return None
        most, low, high = found = numbers("limits", self.limits, n=3)
        if not (self.is_gated and most > 0 and low < high):
            raise ValueError(f"limits = {list(found)} must be a > 0 and b < c, in experts with a gate.")
        return most, low, high

    @property
    def is_gated(self) -> bool:
        return "glu" in self.kind

    @property
    def n_matrices(self) -> int:
        """Matrices of one layer or expert."""
        return 0 if self.kind == "none" else 3 if self.is_gated else 2


@dataclass(frozen=True, kw_only=True, slots=True)
class NormFacts(Part):
    """The norms around layers.

    Attributes:
        kind: LayerNorm, or RMSNorm (Zhang & Sennrich 2019).
        position: "post" is the 2017 paper's Norm(x + f(x)); "pre" is x + f(Norm(x)) (Xiong et al. 2020); "both" is
            x + Norm'(f(Norm(x))) (Gemma 2); "out" is x + Norm(f(x)) (OLMo 2).
        first: whether the very first layer has its norm; ModernBERT's reads a normed embedding.
    """

    kind: Norm = field(default="layer", metadata=entry("norm"))
    position: NormPosition = field(default="pre", metadata=entry("norm_position"))
    first: bool = field(default=True, metadata=entry("first_norm"))
    eps: float = field(default=NORM_EPS, metadata=entry("norm_eps"))


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionFacts(Part):
    """The position scheme.

    Attributes:
        in_each_layer: each layer has a scheme with separate parameters (UMT5's tables).
        rope_theta: radians per position of each of RoPE's d_head / 2 pairs; None: the paper's.
        other_theta: the same for `other_layers` (Gemma 3; 0 in SmolLM 3, without positions there).
    """

    kind: str = field(default="rope", metadata=entry("positions"))
    in_each_layer: bool = field(default=False, metadata=entry("position_numbers", words=("shared", "own")))
    rope_theta: tuple[float, ...] | None = None
    other_theta: tuple[float, ...] | None = None
    other_layers: Layers | None = None

    def __post_init__(self) -> None:
        Part.__post_init__(self)
        for name in ("rope_theta", "other_theta"):
            if (theta := getattr(self, name)) is None:
                continue
            if any(value < 0 for value in numbers(name, theta)):
                raise ValueError(f"{name} must hold numbers of at least 0, one for each pair of coordinates.")
            object.__setattr__(self, name, tuple(theta))
        object.__setattr__(self, "other_layers", layers("other_layers", self.other_layers))
        if (self.other_theta is None) != (self.other_layers is None):
            raise ValueError("other_theta and other_layers go together; one of them is missing.")

    def theta_in(self, layer: int) -> tuple[float, ...] | None:
        return self.other_theta if layer in (self.other_layers or ()) else self.rope_theta


def numbers(name: str, value: object, *, n: int | None = None) -> tuple[float, ...]:
    """Numbers from a file. Raises: ValueError, also if there are not n."""
    if not isinstance(value, list | tuple) or not all(map(is_number, value)) or n not in (None, len(value)):
        raise ValueError(f"{name} must hold {'' if n is None else f'{n} '}numbers.")
    return tuple(value)


def layers(name: str, value: object) -> Layers | None:
    """Layers from a file. Raises: ValueError."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(type(layer) is int and layer >= 0 for layer in value):
        raise ValueError(f"{name} must hold numbers of layers, counted from 0.")
    return tuple(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddingFacts(Part):
    """The table of tokens, and the way to the first block.

    Attributes:
        width: of its vectors, which a matrix widens to d_model after their norm (ALBERT, Lan et al. 2020); the head
            narrows the stream again. None: d_model.
        scaled: multiplies vectors by √d_model (2017 paper, section 3.4).
        norm: a norm after positions have been added (BERT, BLOOM).
        segment: adds a trained vector to every embedding, BERT's for the first of two texts.
        separator: index of the token that ends the first of two texts; later ones get the second text's vector. None:
            one text.
    """

    tied: bool = field(default=True, metadata=entry("embeddings", words=("untied", "tied")))
    width: int | None = field(default=None, metadata=entry("embedding_width"))
    scaled: bool = field(default=False, metadata=entry("embedding_scale", words=("one", "sqrt_d_model")))
    norm: bool = field(default=False, metadata=entry("embedding_norm"))
    segment: bool = False
    separator: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts(Part, ABC):
    """Shape and kind of a transformer.

    Attributes:
        architecture: an encoder-decoder has `n_layers` in each stack.
        trained_len: longest text in training, where max_len is less.
        n_decoder_layers: of an encoder-decoder, if not n_layers.
        shared_layers: all blocks of a stack are one (ALBERT, Lan et al. 2020).
        residual: "parallel": attention and feed-forward layer read the same stream (GPT-J, Pythia). "absent": a layer's
            output replaces the stream.
        head: from the last stream to the logits: W_U alone; W_U and a "bias"; a "transform" Norm(f(x W + b)) before W_U
            and its bias (BERT); or "none".
        logit_cap: c of c · tanh(logits / c).
        dropout: probability, in [0, 1), of patterns, of layers' outputs and of the sum of embedding and position.
        training_mask: of a decoder-only model, and only during training. With "none" it can look up the token that it
            has to predict.
    """

    architecture: Architecture = "decoder-only"
    vocab_size: int
    max_len: int
    trained_len: int | None = None
    d_model: int
    n_layers: int
    n_decoder_layers: int | None = None
    shared_layers: bool = False
    attention: AttentionFacts
    feed_forward: FeedForwardFacts
    norm: NormFacts = NormFacts()
    residual: Residual = "sequential"
    positions: PositionFacts = PositionFacts()
    embeddings: EmbeddingFacts = EmbeddingFacts()
    head: Head = "linear"
    logit_cap: float | None = None
    dropout: Share = 0.0
    training_mask: TrainingMask = "causal"

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Entries of all matrices and tables; biases and norms, well under 1 %, do not count."""

    @property
    def d_head(self) -> int:
        return self.attention.head_width or self.d_model // self.attention.n_heads

    @property
    def d_embed(self) -> int:
        return self.embeddings.width or self.d_model

    @property
    def trained_on(self) -> int:
        """Longest text in training, in tokens; `max_len` may be less."""
        return self.trained_len or self.max_len

    @property
    def divisor(self) -> float:
        return self.attention.score_divisor or math.sqrt(self.d_head)

    @property
    def stacks(self) -> tuple[str, ...]:
        match self.architecture:
            case "decoder-only":
                return ("decoder",)
            case "encoder-only":
                return ("encoder",)
            case "encoder-decoder":
                return ("encoder", "decoder")
            case _:
                assert_never(self.architecture)

    def depth(self, stack: str) -> int:
        """Blocks of a stack; shared ones count each time."""
        return self.n_layers if stack == "encoder" else self.n_decoder_layers or self.n_layers

    def n_blocks(self, stack: str) -> int:
        """Blocks of a stack with separate weights."""
        return 1 if self.shared_layers else self.depth(stack)

    @property
    def layers(self) -> tuple[str, ...]:
        """Paths of all attention layers, in order: "decoder.0.self_attn" …"""
        kinds: dict[str, tuple[str, ...]] = dict.fromkeys(self.stacks, ("self_attn",))
        if self.architecture == "encoder-decoder":
            kinds["decoder"] = ("self_attn", "cross_attn")
        return tuple(
            f"{stack}.{i}.{kind}" for stack in kinds for i in range(self.depth(stack)) for kind in kinds[stack]
        )
