"""What a model is made of, as one frozen value: what pages ask before they ask for weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, Literal, assert_never

Architecture = Literal["decoder-only", "encoder-only", "encoder-decoder"]
NormPosition = Literal["pre", "post", "both"]
Norm = Literal["layer", "rms"]
FeedForwardKind = Literal["relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu", "geglu_tanh", "reglu", "none"]
Embeddings = Literal["tied", "untied"]
EmbeddingScale = Literal["one", "sqrt_d_model"]
Presence = Literal["absent", "present"]
Residual = Literal["sequential", "parallel", "absent"]
Head = Literal["linear", "bias", "transform", "none"]
TrainingMask = Literal["causal", "none"]
AttentionKind = Literal["softmax", "linear"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts(ABC):
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
        sink: "present": the softmax of every head counts one more logit, a trained number that belongs to no key, so
            that a query may leave a part of its attention unused (gpt-oss; Xiao et al. 2023, section 4.1).
        window: how many keys a query sees at most, its own included (Mistral); None: all that the mask allows.
        d_ff: inner width of the feed-forward layer.
        norm_position: "post" is the 2017 paper's Norm(x + f(x)); "pre" is x + f(Norm(x)) (Xiong et al. 2020); "both"
            is x + Norm'(f(Norm(x))) (Gemma 2).
        norm: LayerNorm, or RMSNorm (Zhang & Sennrich 2019).
        norm_eps: ε of all norms.
        qk_norm: "present": RMSNorm of every query and key, over d_head (Qwen 3).
        residual: "parallel": attention and feed-forward layer read the same stream (GPT-J, Pythia). "absent": what a
            layer writes takes the place of the stream, so that nothing is carried past it.
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
    sink: Presence = "absent"
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

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Numbers in all weight matrices and embedding tables; biases and norms, well under 1 %, are not counted."""

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
