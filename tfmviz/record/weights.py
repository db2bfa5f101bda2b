"""A model's weights as numpy arrays that share its memory, and its position effects.

No page reaches past these into a torch module. An optional part is None where a model lacks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tfmviz.record.marks import are_second
from tfmviz.record.trace import Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Norm:
    """A norm with its weights: centred(x) / σ(x) · γ + β over each token's coordinates.

    "layer" is LayerNorm: centred(x) = x − μ and σ = √(mean((x − μ)²) + ε) (Ba et al. 2016). "rms" is RMSNorm:
    centred(x) = x and σ = √(mean(x²) + ε), β = 0 (Zhang & Sennrich 2019). "none": centred(x) = x, σ = 1.

    Attributes:
        gain: γ, (d_model,).
        bias: β, (d_model,).
    """

    kind: Literal["layer", "rms", "none"]
    gain: Array
    bias: Array
    eps: float

    def __call__(self, x: Array) -> Array:
        return self.centred(x) / self.scale(x) * self.gain + self.bias

    def centred(self, x: Array) -> Array:
        """x − μ, or x itself in RMSNorm."""
        return x - x.mean(axis=-1, keepdims=True) if self.kind == "layer" else x

    def scale(self, x: Array) -> Array:
        """σ, (…, 1)."""
        if self.kind == "none":
            return np.ones_like(x[..., :1])
        return np.sqrt((self.centred(x) ** 2).mean(axis=-1, keepdims=True) + self.eps)

    def carry(self, x: Array, *, at: Array) -> Array:
        """The share of a part x of the vector `at`: centred(x) / σ(at) · γ.

        With σ held, the norm is linear, plus β (Elhage et al. 2021, "Handling layer normalization"; Wang et al. 2022,
        section 3).
        """
        return self.centred(x) / self.scale(at) * self.gain

    def pull_back(self, direction: Array, *, at: Array) -> Array:
        """The direction g' with g' · x = g · carry(x) for every x; `direction` is g, (d_model,)."""
        return self.centred(self.gain * direction) / self.scale(at)


def feature(x: Array) -> Array:
    """φ(x) = elu(x) + 1, positive (Katharopoulos et al. 2020, equation 7), in float64."""
    x = x.astype(np.float64)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AttentionWeights:
    """The matrices of one attention layer, head by head, in the row convention q = x W_Q + b_Q.

    Scores are q · k / divisor, and with a cap c they are c · tanh(score / c). In linear attention they are ln(φ(q) ·
    φ(k)).

    Attributes:
        W_Q: (head, d_model, d_head), with b_Q (head, d_head).
        W_K, W_V: (kv head, d_model, d_head), with b_K and b_V (kv head, d_head).
        W_O: (head, d_head, d_model), with b_O (d_model,).
        q_norm, k_norm: of each query and key over d_head, q = Norm(x W_Q + b_Q), or over those of all heads together,
            with head × d_head gains.
        out_norm: of the sum of all heads, before it is added to the stream.
        sink: (head,), a logit that belongs to no key; the softmax counts it, so that rows sum to less than 1.
    """

    W_Q: Array
    b_Q: Array  # noqa: N815
    W_K: Array
    b_K: Array  # noqa: N815
    W_V: Array
    b_V: Array  # noqa: N815
    W_O: Array
    b_O: Array  # noqa: N815
    divisor: float
    q_norm: Norm | None = None
    k_norm: Norm | None = None
    out_norm: Norm | None = None
    cap: float | None = None
    is_linear: bool = False
    sink: Array | None = None

    @property
    def is_unusual(self) -> bool:
        """True with steps besides products, division, bias, mask and softmax."""
        return self.is_linear or any(step is not None for step in (self.q_norm, self.k_norm, self.out_norm, self.cap))

    @property
    def divided_by(self) -> str:
        """The divisor in formulas: "√32", "16", or "" for 1."""
        d_head = self.W_Q.shape[-1]
        if self.is_linear:
            return ""
        if math.isclose(self.divisor, math.sqrt(d_head)):
            return f"√{d_head}"
        return "" if self.divisor == 1 else f"{self.divisor:.4g}"

    def scores(self, q: Array, k: Array) -> Array:
        """Scores before bias and mask: (…, q_len, d_head), (…, k_len, d_head)."""
        if self.is_linear:
            return np.log(feature(q) @ feature(k).swapaxes(-1, -2))
        scores = q @ k.swapaxes(-1, -2) / self.divisor
        return scores if self.cap is None else self.cap * np.tanh(scores / self.cap)

    def writes(self, z: Array) -> Array:
        """Each head's write to the stream, z_h W_O[h]: (head, q_len, d_model) from (head, q_len, d_head).

        With `bias_write` they sum to the layer's output. Each passes a norm that follows with σ held at that of all
        heads.
        """
        raw = z @ self.W_O
        return raw if self.out_norm is None else self.out_norm.carry(raw, at=raw.sum(axis=0) + self.b_O)

    @property
    def W_O_carried(self) -> Array:  # noqa: N802
        """W_O with the gain of a norm after it, (head, d_head, d_model)."""
        return self.W_O if self.out_norm is None else self.out_norm.centred(self.W_O) * self.out_norm.gain

    def bias_write(self, z: Array) -> Array:
        """The output's part due to b_O, and β of a norm after it: (q_len, d_model)."""
        raw = (z @ self.W_O).sum(axis=0) + self.b_O
        bias = np.broadcast_to(self.b_O, raw.shape)
        return bias if self.out_norm is None else self.out_norm.carry(bias, at=raw) + self.out_norm.bias


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FeedForwardWeights:
    """One feed-forward layer: f(x W_in + b_in) W_out + b_out; with a gate (f(x W_gate + b_gate) ⊙ …) W_out + b_out.

    Attributes:
        activation: with a gate if its name has "glu".
        W_in: (d_model, d_ff), with b_in (d_ff,). Neuron n reads column n.
        W_out: (d_ff, d_model), with b_out (d_model,). Neuron n writes row n.
        W_gate: (d_model, d_ff), with b_gate (d_ff,).
        out_norm: of the output, before it is added to the stream.
    """

    activation: Literal["relu", "relu2", "gelu", "gelu_tanh", "silu", "swiglu", "geglu", "geglu_tanh", "reglu"]
    W_in: Array
    b_in: Array
    W_out: Array
    b_out: Array
    W_gate: Array | None = None
    b_gate: Array | None = None
    out_norm: Norm | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ExpertsWeights:
    """A mixture of experts: Σ w_i E_i(x), where p = softmax(x W_R + b_R) and w is p at its `n_chosen` largest, else 0;
    in some models divided by its sum.

    Attributes:
        W_R: (d_model, expert), with b_R (expert,).
        experts: E_i, of one kind and size.
        n_chosen: number that read a token.
        shared: one more, which reads every token and counts σ(x W_S + b_S).
        W_S: (d_model, 1), with b_S (1,).
    """

    W_R: Array
    b_R: Array  # noqa: N815
    experts: tuple[FeedForwardWeights, ...]
    n_chosen: int = 1
    shared: FeedForwardWeights | None = None
    W_S: Array | None = None
    b_S: Array | None = None  # noqa: N815


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Readout:
    """From a stream to logits: the last norm, an optional nonlinear `transform`, W_U.

    Attributes:
        norm: None in a post-norm model.
        W_U: (vocab, d_embed).
        transform: (…, d_model) to (…, d_embed); with it no part of the stream has a share of the logits.
        cap: c of c · tanh(logits / c).
    """

    norm: Norm | None
    W_U: Array
    b_U: Array | None = None  # noqa: N815
    transform: Callable[[Array], Array] | None = None
    cap: float | None = None

    def logits(self, x: Array) -> Array:
        """(…, d_model) to (…, vocab)."""
        logits = self.before_cap(x)
        return logits if self.cap is None else self.cap * np.tanh(logits / self.cap)

    def before_cap(self, x: Array) -> Array:
        """The same without the cap: (…, d_model) to (…, vocab)."""
        x = x if self.norm is None else self.norm(x)
        x = x if self.transform is None else self.transform(x)
        logits = x @ self.W_U.T
        return logits if self.b_U is None else logits + self.b_U


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StackWeights:
    """The matrices of an encoder or a decoder, by the paths of its layers.

    Attributes:
        attention: by path, such as "decoder.0.self_attn".
        feed_forward: by path, such as "decoder.0.mlp".
        norms: in order, without the stack's last norm.
        readout: an encoder that feeds a decoder is never read out.
        n_position_parameters: of all its position schemes.
        n_widening_parameters: of the matrix that widens embeddings to d_model.
        embed_norm: before the first block.
        experts: likewise, for mixtures of experts.
        is_shared: True if all layers share their weights.
    """

    attention: Mapping[str, AttentionWeights]
    feed_forward: Mapping[str, FeedForwardWeights]
    norms: Mapping[str, Norm]
    readout: Readout
    n_position_parameters: int
    n_widening_parameters: int = 0
    embed_norm: Norm | None = None
    experts: Mapping[str, ExpertsWeights] = field(default_factory=dict)
    is_shared: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ModelWeights:
    """All matrices that pages read.

    Attributes:
        W_E: (vocab, d_embed); d_embed is d_model except in models that widen it.
        W_U: (vocab, d_embed); W_E itself if tied.
        stacks: "encoder", "decoder" or both.
        segment: (n, d_embed), added to embeddings: row 0, or row 1 after `separator`.
        separator: see `EmbeddingFacts`.
        n_head_parameters: between the last norm and the logits, without W_U.
        has_head: whether there are logits.
        n_parameters: of the whole model; tied matrices count once.
    """

    W_E: Array
    W_U: Array
    stacks: Mapping[str, StackWeights]
    n_parameters: int
    segment: Array | None = None
    separator: int | None = None
    n_head_parameters: int = 0
    has_head: bool = True

    def attention(self, layer: str) -> AttentionWeights:
        return self.stacks[layer.split(".")[0]].attention[layer]

    def segments(self, ids: Array) -> Array:
        """The segments' vectors for these tokens, broadcast to (len, d_embed)."""
        if self.segment is None:
            return np.zeros(1, dtype=np.float32)
        return self.segment[0 if self.separator is None else are_second(ids, self.separator).astype(int)]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PositionEffects:
    """The effects of a position scheme on a text of a given length.

    Attributes:
        added: (len, d_embed), added to the token embedding.
        angles: (len, d_head / 2), radians by which neighbouring coordinates of queries and keys turn.
        bias: (head, len, len), added to the scaled scores.
        vectors: (2 · len - 1, d_head), added to the key for each j - i from 1 - len up. The run keeps their scaled
            products with queries at the site `bias`, 0 where masked.
    """

    added: Array | None = None
    angles: Array | None = None
    bias: Array | None = None
    vectors: Array | None = None

    def related(self, q: Array) -> Array:
        """The products of queries (…, len, d_head) with `vectors`, before the division: (…, len, len)."""
        length = q.shape[-2]
        if self.vectors is None:
            return np.zeros((*q.shape[:-1], length))
        rows = np.arange(length) - np.arange(length)[:, None] + length - 1  # of j − i
        return np.take_along_axis(q @ self.vectors.T, np.broadcast_to(rows, (*q.shape[:-1], length)), axis=-1)

    @property
    def turned(self) -> Array | None:
        """(len, d_head), cosine and sine of each pair's angle: the turned vector (1, 0, 1, 0, …)."""
        if self.angles is None:
            return None
        return np.stack((np.cos(self.angles), np.sin(self.angles)), axis=-1).reshape(len(self.angles), -1)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RecurrentWeights:
    """Weights of a `RecurrentLayer`, each for r, z and n in this order.

    Attributes:
        W_x, W_h: (3, d_hidden, d_in) and (3, d_hidden, d_hidden), in the convention W x.
        b_x, b_h: (3, d_hidden).
    """

    W_x: Array
    W_h: Array
    b_x: Array
    b_h: Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WindowWeights:
    """The weights of a window network, h = tanh(W e + b_1), logits = U h + b_2.

    Attributes:
        W: (d_hidden, n_window × d_model).
        b_1: (d_hidden,).
        U: (vocab, d_hidden).
        b_2: (vocab,).
    """

    W: Array
    b_1: Array
    U: Array
    b_2: Array
