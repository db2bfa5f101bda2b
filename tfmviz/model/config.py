"""What a model is made of, as one frozen value: cache key and checkpoint header at once."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, assert_never, get_args, get_origin, get_type_hints

from tfmviz.positions.schemes import SCHEMES, Scheme

Architecture = Literal["decoder-only", "encoder-only", "encoder-decoder"]
NormPosition = Literal["pre", "post", "both"]
Norm = Literal["layer", "rms"]
FeedForwardKind = Literal["relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu", "geglu_tanh", "reglu", "none"]
Embeddings = Literal["tied", "untied"]
EmbeddingScale = Literal["one", "sqrt_d_model"]
Presence = Literal["absent", "present"]
Residual = Literal["sequential", "parallel"]
Head = Literal["linear", "bias", "transform", "none"]
TrainingMask = Literal["causal", "none"]
AttentionKind = Literal["softmax", "linear"]

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
class ModelConfig:
    """Shape and kind of a transformer.

    Attributes:
        architecture: which stacks there are. An encoder-decoder has `n_layers` in each.
        vocab_size: entries of the vocabulary.
        max_len: longest input in tokens.
        d_model: width of the residual stream.
        n_layers: blocks per stack.
        n_decoder_layers: blocks of the decoder in an encoder-decoder whose stacks differ; None: n_layers.
        shared_layers: "present": all blocks of a stack are one block, which runs n_layers times (ALBERT, Lan et al.
            2020).
        n_heads: attention heads per block; each is d_head = d_model / n_heads wide unless `head_width` says otherwise.
        head_width: d_head of models in which heads are not d_model / n_heads wide (Gemma, Qwen 3, T5 1.1).
        n_kv_heads: heads that have keys and values of their own; n_heads / n_kv_heads query heads share each
            (Ainslie et al. 2023). Equal to n_heads in ordinary multi-head attention.
        attention: what a pattern is made of: exp(q · k / divisor), or, "linear", φ(q) · φ(k) with φ = elu + 1
            (Katharopoulos et al. 2020); each divided by its sum over the keys.
        window: how many keys a query sees at most, its own included (Mistral); None: all that the mask allows.
        d_ff: inner width of the feed-forward layer.
        norm_position: "post" is the 2017 paper's Norm(x + f(x)); "pre" is x + f(Norm(x)) (Xiong et al. 2020); "both"
            is x + Norm'(f(Norm(x))) (Gemma 2).
        norm: LayerNorm, or RMSNorm (Zhang & Sennrich 2019).
        norm_eps: ε of all norms.
        qk_norm: "present": RMSNorm of every query and key, over d_head (Qwen 3).
        residual: "parallel": attention and feed-forward layer read the same stream (GPT-J, Pythia).
        feed_forward: the function between its two matrices, gated if its name ends in "glu" (Shazeer 2020); "none"
            leaves the layer out. "tanh": GELU's approximation by tanh, as in GPT-2.
        n_experts: feed-forward layers side by side, of which a router chooses one for each token (Switch Transformer,
            Fedus et al. 2021); 1: the ordinary layer.
        positions: how order enters: one of `positions.schemes.SCHEMES`.
        rope_theta: radians per position of each of RoPE's d_head / 2 pairs; None: those of the paper. A pair of 0 does
            not turn.
        score_divisor: what q · k is divided by; None: √d_head. T5 divides by nothing, which is 1.
        score_cap: c of c · tanh(scores / c), which no score leaves (Gemma 2); None: no cap.
        logit_cap: the same for the logits.
        embeddings: "tied": the output layer is the transposed embedding matrix.
        embedding_scale: "sqrt_d_model" multiplies embeddings by √d_model, as in section 3.4 of the 2017 paper.
        embedding_norm: "present": a norm before the first block, after positions have been added (BERT, BLOOM).
        segment: "present": one trained vector is added to every embedding, BERT's for the first of two texts.
        head: from the last stream to the logits: W_U alone; W_U and a "bias"; a "transform"
            Norm(f(x W + b)) before W_U and its bias, as BERT fills in words; or "none", which ends with the stream.
        trained_len: longest text that the model was trained on, where max_len is less; None: max_len.
        dropout: probability, in [0, 1), applied to attention patterns, to what each layer writes and to
            the sum of embedding and position.
        training_mask: the mask of a decoder-only model during training, and only then. With "none" it can look up the
            token that it has to predict. Outside training the mask is causal, as no writer can see what comes next.

    Raises:
        ValueError: two values do not go together; the message names both.
    """

    architecture: Architecture = "decoder-only"
    vocab_size: int
    max_len: int
    d_model: int
    n_layers: int
    n_decoder_layers: int | None = None
    shared_layers: Presence = "absent"
    n_heads: int
    n_kv_heads: int
    head_width: int | None = None
    attention: AttentionKind = "softmax"
    window: int | None = None
    d_ff: int
    norm_position: NormPosition = "pre"
    norm: Norm = "layer"
    norm_eps: float = 1e-5
    qk_norm: Presence = "absent"
    residual: Residual = "sequential"
    feed_forward: FeedForwardKind = "gelu"
    n_experts: int = 1
    positions: str = "rope"
    rope_theta: tuple[float, ...] | None = None
    score_divisor: float | None = None
    score_cap: float | None = None
    logit_cap: float | None = None
    embeddings: Embeddings = "tied"
    embedding_scale: EmbeddingScale = "one"
    embedding_norm: Presence = "absent"
    segment: Presence = "absent"
    head: Head = "linear"
    trained_len: int | None = None
    dropout: float = 0.0
    training_mask: TrainingMask = "causal"

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
    def d_head(self) -> int:
        return self.d_model // self.n_heads if self.head_width is None else self.head_width

    @property
    def trained_on(self) -> int:
        """Longest text that the model was trained on, in tokens; `max_len` may have been cut since."""
        return self.trained_len or self.max_len

    @property
    def divisor(self) -> float:
        """What q · k is divided by."""
        return math.sqrt(self.d_head) if self.score_divisor is None else self.score_divisor

    @property
    def is_gated(self) -> bool:
        """Whether the feed-forward layer multiplies by a gate."""
        return "glu" in self.feed_forward

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks in the order in which they run."""
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
        """How many layers a stack has: blocks in the order in which they run."""
        return self.n_layers if stack == "encoder" else self.n_decoder_layers or self.n_layers

    def n_blocks(self, stack: str) -> int:
        """How many of them have weights of their own."""
        match self.shared_layers:
            case "absent":
                return self.depth(stack)
            case "present":
                return 1
            case _:
                assert_never(self.shared_layers)

    @property
    def n_parameters(self) -> int:
        """Numbers in all weight matrices and embedding tables; biases and norms, well under 1 %, are not counted."""
        stacks = len(self.stacks)
        attention = 2 * self.d_model * (self.n_heads + self.n_kv_heads) * self.d_head
        feed_forward = self.n_experts * self._feed_forward_matrices * self.d_model * self.d_ff
        router = 0 if self.n_experts == 1 else self.n_experts * self.d_model
        blocks = sum(map(self.n_blocks, self.stacks)) * (attention + feed_forward + router)
        blocks += (stacks - 1) * self.n_blocks("decoder") * attention  # of cross-attention
        tables = self.vocab_size * (1 if self.embeddings == "tied" else 2)
        positions = self.max_len * stacks if self.scheme.table else 0
        return blocks + (tables + positions) * self.d_model

    @property
    def layers(self) -> tuple[str, ...]:
        """Paths of all attention layers in the order in which they run: "decoder.0.self_attn" …"""
        encoder = tuple(f"encoder.{i}.self_attn" for i in range(self.depth("encoder")))
        decoder = tuple(f"decoder.{i}.self_attn" for i in range(self.depth("decoder")))
        match self.architecture:
            case "decoder-only":
                return decoder
            case "encoder-only":
                return encoder
            case "encoder-decoder":
                return encoder + tuple(p for path in decoder for p in (path, path.replace("self_attn", "cross_attn")))
            case _:
                assert_never(self.architecture)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `from_dict` reads them back."""
        return asdict(self)

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
