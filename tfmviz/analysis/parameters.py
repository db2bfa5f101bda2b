"""The parameters of a transformer, part by part, and their cost in memory and training."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tfmviz.analysis.cache_cost import Kept

TRAINING_BYTES = 16
"""Bytes per parameter in training with Adam in mixed precision: 2 each for weight and gradient, 4 each for the weight,
its mean and its variance (Rajbhandari et al. 2020, section 3.1). Activations come on top.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Design:
    """The sizes that determine a number of parameters.

    Attributes:
        n_encoder, n_decoder: blocks; a decoder after an encoder has cross-attention.
        d_attn: n_heads · d_head.
        d_kv: width of a token's keys, below d_attn in grouped attention.
        n_matrices: of a feed-forward layer.
        n_experts: of which a router chooses `n_chosen`; 1: no router.
        d_shared: width of a shared expert; 0: none.
        d_embed: width of the table, if not d_model.
        shared_layers: True if all layers of a stack share weights.
        n_positions: parameters of positions, all stacks together.
        norm_numbers: 2 with γ and β, 1 with γ alone.
        norms_in_block: besides that of cross-attention.
        outer_norms: norms outside the blocks, all stacks together.
        n_other: the rest, such as BERT's segments and pooler.
    """

    n_encoder: int = 0
    n_decoder: int = 0
    d_model: int
    d_attn: int
    d_kv: int
    d_ff: int
    n_matrices: int = 2
    n_experts: int = 1
    n_chosen: int = 1
    d_shared: int = 0
    d_embed: int | None = None
    shared_layers: bool = False
    vocab_size: int
    n_positions: int = 0
    norm_numbers: int = 2
    norms_in_block: int = 2
    outer_norms: int = 1
    attention_biases: bool = True
    feed_forward_biases: bool = True
    tied: bool = True
    n_other: int = 0

    @property
    def n_layers(self) -> int:
        return self.n_encoder + self.n_decoder

    def n_blocks(self, n_layers: int) -> int:
        return min(n_layers, 1) if self.shared_layers else n_layers

    @property
    def n_crossings(self) -> int:
        return self.n_decoder if self.n_encoder else 0


def counts(design: Design) -> dict[str, int]:
    """The exact number of parameters of each part; "output" is W_U if it is not W_Eᵀ."""
    d = design.d_model
    attention = 2 * d * (design.d_attn + design.d_kv)
    if design.attention_biases:
        attention += design.d_attn + 2 * design.d_kv + d
    feed_forward = design.n_experts * _feed_forward(design, design.d_ff)
    if design.n_experts > 1:
        feed_forward += design.n_experts * (d + 1)
    if design.d_shared:
        feed_forward += _feed_forward(design, design.d_shared) + d + 1
    table = design.vocab_size * (design.d_embed or d)
    blocks = design.n_blocks(design.n_encoder) + design.n_blocks(design.n_decoder)
    crossings = design.n_blocks(design.n_crossings)
    norms = design.norms_in_block * blocks + crossings + design.outer_norms
    return {
        "embedding": table,
        "positions": design.n_positions,
        "attention": blocks * attention,
        "cross-attention": crossings * attention,
        "feed-forward": blocks * feed_forward,
        "norms": norms * design.norm_numbers * d,
        "output": 0 if design.tied else table,
        "other": design.n_other,
    }


def _feed_forward(design: Design, d_ff: int) -> int:
    biases = (design.n_matrices - 1) * d_ff + design.d_model if design.feed_forward_biases else 0
    return design.n_matrices * design.d_model * d_ff + biases


def in_matrices(design: Design) -> int:
    """Parameters of all layers' matrices, without biases."""
    parts = counts(replace(design, attention_biases=False, feed_forward_biases=False))
    blocks = design.n_blocks(design.n_encoder) + design.n_blocks(design.n_decoder)
    of_routers = blocks * ((design.n_experts if design.n_experts > 1 else 0) + (design.d_shared > 0))  # their biases
    return parts["attention"] + parts["cross-attention"] + parts["feed-forward"] - of_routers


def rule_of_twelve(design: Design) -> int:
    """12 · n_layer · d²: four matrices of attention and a feed-forward layer 4 · d wide (Kaplan et al. 2020)."""
    return 12 * design.n_layers * design.d_model**2


def of_lectures(design: Design) -> int:
    """2 · d · n_layer · (2 · d_attn + d_ff), without tables, biases and norms (Kaplan et al. 2020, equation 2.1)."""
    return 2 * design.d_model * design.n_layers * (2 * design.d_attn + design.d_ff)


def cache(design: Design, length: int, size: int) -> int:
    """Bytes of the keys and values of `length` tokens, `size` bytes per value."""
    return Kept(n_layers=design.n_decoder, n_kv_heads=1, d_head=design.d_kv, size=size).at(length)


def training_flops(design: Design, tokens: float) -> float:
    """FLOPs: 6 · N · D.

    N excludes tables that are only looked up (Kaplan et al. 2020, section 2.1), and counts what a token passes: chosen
    experts, and shared weights at each use. For an encoder-decoder it is too much: a token passes one stack.
    """
    parts = counts(replace(design, n_experts=design.n_chosen, shared_layers=False))
    looked_up = parts["positions"] + (0 if design.tied else parts["embedding"])
    return 6.0 * (sum(parts.values()) - looked_up) * tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """A published model.

    Attributes:
        reported: parameters, according to its authors.
        tokens: training tokens; None: not stated.
    """

    design: Design
    reported: float
    source: str
    tokens: float | None = None


def gpt(n_layers: int, d: int, n_context: int = 1024) -> Design:
    """GPT-2 and GPT-3: learned positions, d_ff = 4 d, biases, W_U = W_Eᵀ."""
    return Design(
        n_decoder=n_layers, d_model=d, d_attn=d, d_kv=d, d_ff=4 * d, vocab_size=50_257, n_positions=n_context * d
    )


def bert(n_layers: int, d: int) -> Design:
    """BERT without its language-model head: 512 positions, two segments, and a pooler."""
    return Design(
        n_encoder=n_layers,
        d_model=d,
        d_attn=d,
        d_kv=d,
        d_ff=4 * d,
        vocab_size=30_522,
        n_positions=512 * d,
        n_other=2 * d + d * d + d,
    )


def vaswani(d: int) -> Design:
    """The model of 2017: one vocabulary of 37,000 entries, sinusoids, post-norm."""
    return Design(
        n_encoder=6,
        n_decoder=6,
        d_model=d,
        d_attn=d,
        d_kv=d,
        d_ff=4 * d,
        vocab_size=37_000,
        outer_norms=0,
        attention_biases=False,
    )


def llama(n_layers: int, d: int, d_ff: int, *, d_kv: int, vocab_size: int) -> Design:
    """Llama and Mistral: SwiGLU, RMSNorm, RoPE, no biases, a separate W_U."""
    return Design(
        n_decoder=n_layers,
        d_model=d,
        d_attn=d,
        d_kv=d_kv,
        d_ff=d_ff,
        n_matrices=3,
        vocab_size=vocab_size,
        norm_numbers=1,
        attention_biases=False,
        feed_forward_biases=False,
        tied=False,
    )


T5_BASE = Design(
    n_encoder=12,
    n_decoder=12,
    d_model=768,
    d_attn=768,
    d_kv=768,
    d_ff=3072,
    vocab_size=32_128,
    n_positions=2 * 32 * 12,
    norm_numbers=1,
    outer_norms=2,
    attention_biases=False,
    feed_forward_biases=False,
)

RADFORD = "Radford et al. 2019, table 2, which counts too few; the released files have the exact number"

PUBLISHED = {
    "Transformer base": Published(design=vaswani(512), reported=65e6, source="Vaswani et al. 2017, table 3"),
    "Transformer big": Published(design=vaswani(1024), reported=213e6, source="Vaswani et al. 2017, table 3"),
    "BERT base": Published(design=bert(12, 768), reported=110e6, source="Devlin et al. 2019, section 3"),
    "BERT large": Published(design=bert(24, 1024), reported=340e6, source="Devlin et al. 2019, section 3"),
    "GPT-2 small": Published(design=gpt(12, 768), reported=117e6, source=RADFORD),
    "GPT-2 medium": Published(design=gpt(24, 1024), reported=345e6, source=RADFORD),
    "GPT-2 large": Published(design=gpt(36, 1280), reported=762e6, source=RADFORD),
    "GPT-2 XL": Published(design=gpt(48, 1600), reported=1542e6, source=RADFORD),
    "GPT-3": Published(
        design=gpt(96, 12_288, 2048), reported=175e9, source="Brown et al. 2020, tables 2.1 and D.1", tokens=300e9
    ),
    "T5 base": Published(design=T5_BASE, reported=220e6, source="Raffel et al. 2020, section 3.1.1"),
    "Llama 2 7B": Published(
        design=llama(32, 4096, 11_008, d_kv=4096, vocab_size=32_000),
        reported=6.7e9,
        source="Touvron et al. 2023, LLaMA, table 2 (the same shape); 2 trillion tokens: Llama 2, table 1",
        tokens=2e12,
    ),
    "Llama 3 8B": Published(
        design=llama(32, 4096, 14_336, d_kv=1024, vocab_size=128_256),
        reported=8e9,
        source="Grattafiori et al. 2024, table 3",
    ),
}
"""A test compares those in `transformers` exactly."""
