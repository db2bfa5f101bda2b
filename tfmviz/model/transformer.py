"""The three architectures: decoder-only, encoder-only, encoder-decoder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, assert_never

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from tfmviz import masks
from tfmviz.model.attention import capped
from tfmviz.model.block import Stack
from tfmviz.model.config import ModelConfig
from tfmviz.model.feed_forward import activation
from tfmviz.model.linear import HALF, Linear, product
from tfmviz.model.norms import build_norm
from tfmviz.record.marks import are_second
from tfmviz.record.tap import NO_TAP, Tap


class Embedding(nn.Module):
    """The table W_E, from tokens to vectors and from vectors to logits.

    With tied embeddings the output matrix is W_E transposed (Press & Wolf 2017); otherwise it is separate.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_E = nn.Parameter(torch.empty(config.vocab_size, config.d_embed))
        self.W_U = None if config.embeddings.tied else nn.Parameter(torch.empty_like(self.W_E))
        self.scale = math.sqrt(config.d_model) if config.embeddings.scaled else 1.0
        self.segment = nn.Parameter(torch.empty(config.d_embed)) if config.embeddings.segment else None
        self.separator = config.embeddings.separator
        self.second_segment = None if self.separator is None else nn.Parameter(torch.empty(config.d_embed))

    def embed(self, ids: Tensor) -> Tensor:
        """(batch, len) indices to (batch, len, d_embed)."""
        x = F.embedding(ids, self.W_E)
        x = x.float() if x.dtype in HALF else x
        x = x if self.scale == 1.0 else x * self.scale
        if self.segment is None:
            return x
        if self.separator is None or self.second_segment is None:
            return x + self.segment
        return x + torch.where(are_second(ids, self.separator)[..., None], self.second_segment, self.segment)

    def unembed(self, x: Tensor) -> Tensor:
        """(batch, len, d_embed) to products with the rows of W_U (batch, len, vocab)."""
        return product(x, self.W_E if self.W_U is None else self.W_U)


class Head(nn.Module):
    """From the last stream to the logits: x W_Uᵀ + b_U.

    Before it may come Norm(f(x W + b)), site `head` (Devlin et al. 2019); after it a cap, c · tanh(logits / c) (Gemma
    2).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.cap = config.logit_cap
        self.transform: Transform | None = None
        self.b_U: nn.Parameter | None = None
        match config.head:
            case "linear":
                pass
            case "bias":
                self.b_U = nn.Parameter(torch.zeros(config.vocab_size))
            case "transform":
                self.transform = Transform(config)
                self.b_U = nn.Parameter(torch.zeros(config.vocab_size))
            case "none":
                raise ValueError("A model without a head has no logits.")
            case _:
                assert_never(config.head)

    def forward(self, x: Tensor, embedding: Embedding, *, tap: Tap) -> Tensor:
        """(batch, len, d_model) to (batch, len, vocab)."""
        return self.read(self.before(x, tap=tap), embedding, tap=tap)

    def before(self, x: Tensor, *, tap: Tap) -> Tensor:
        """The step before W_U, if any: (batch, len, d_model) to (batch, len, d_embed)."""
        return x if self.transform is None else tap("head", self.transform(x))

    def read(self, x: Tensor, embedding: Embedding, *, tap: Tap) -> Tensor:
        """The rest: (batch, len, d_embed) to (batch, len, vocab)."""
        logits = embedding.unembed(x)  # (batch, len, vocab)
        if self.b_U is not None:
            logits = logits + self.b_U
        return tap("logits", logits if self.cap is None else capped(logits, self.cap))


class Transform(nn.Module):
    """Norm(f(x W + b)) before the output layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W = Linear(config.d_model, config.d_embed)
        self.activation = activation(config.feed_forward.kind)
        self.norm = build_norm(config, width=config.d_embed)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, len, d_model) to (batch, len, d_embed)."""
        return self.norm(self.activation(self.W(x)))


class Headless(nn.Module):
    """The head of a model without logits: the identity."""

    def forward(self, x: Tensor, embedding: Embedding, *, tap: Tap) -> Tensor:
        return x


def build_head(config: ModelConfig) -> Head | Headless:
    return Headless() if config.head == "none" else Head(config)


class DecoderOnly(nn.Module):
    """A language model: every position sees itself and the past and predicts the next token.

    With `training_mask = "none"` every position sees the whole text in training.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.decoder = Stack(config, bidirectional=False)
        self.head = build_head(config)
        self.build_training_mask = training_mask(config)
        initialise(self)

    def forward(self, ids: Tensor, tap: Tap = NO_TAP, *, past: int = 0) -> Tensor:
        """ids: (batch, len); past: tokens already in a `Cache`. Returns logits (batch, len, vocab)."""
        return self.head(self.stream(ids, tap, past=past), self.embedding, tap=tap)

    def stream(self, ids: Tensor, tap: Tap = NO_TAP, *, past: int = 0) -> Tensor:
        """The input of the head: (batch, len, d_model)."""
        x = tap("embed", self.embedding.embed(ids))  # (batch, len, d_embed)
        build_mask = self.build_training_mask if self.training else masks.causal
        mask = build_mask(ids.shape[1], past=past, device=ids.device)
        return self.decoder(x, mask=mask, tap=tap.scope("decoder"))


class EncoderOnly(nn.Module):
    """Every position sees the whole text; trained to fill in masked words (Devlin et al. 2019)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.encoder = Stack(config, bidirectional=True)
        self.head = build_head(config)
        initialise(self)

    def forward(self, ids: Tensor, tap: Tap = NO_TAP, *, lengths: Tensor | None = None) -> Tensor:
        """ids: (batch, len); lengths: (batch,), without padding. Returns logits (batch, len, vocab)."""
        return self.head(self.stream(ids, tap, lengths=lengths), self.embedding, tap=tap)

    def stream(self, ids: Tensor, tap: Tap = NO_TAP, *, lengths: Tensor | None = None) -> Tensor:
        """The input of the head: (batch, len, d_model)."""
        x = tap("embed", self.embedding.embed(ids))  # (batch, len, d_embed)
        return self.encoder(x, mask=full_mask(ids, ids, lengths), tap=tap.scope("encoder"))


class EncoderDecoder(nn.Module):
    """The 2017 translator: an encoder reads the source, a decoder writes the target.

    Both share one vocabulary. The sites of their embeddings are `encoder.embed` and `decoder.embed`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.encoder = Stack(config, bidirectional=True)
        self.decoder = Stack(config, bidirectional=False, cross=True)
        self.head = build_head(config)
        initialise(self)

    def forward(self, src: Tensor, tgt: Tensor, tap: Tap = NO_TAP, *, src_lengths: Tensor | None = None) -> Tensor:
        """src: (batch, k_len), tgt: (batch, q_len). Returns logits (batch, q_len, vocab)."""
        return self.head(self.stream(src, tgt, tap, src_lengths=src_lengths), self.embedding, tap=tap)

    def stream(self, src: Tensor, tgt: Tensor, tap: Tap = NO_TAP, *, src_lengths: Tensor | None = None) -> Tensor:
        """The input of the head: (batch, q_len, d_model)."""
        memory = self.encode(src, tap, src_lengths=src_lengths)
        return self.target_stream(tgt, memory, tap, memory_mask=full_mask(tgt, src, src_lengths))

    def encode(self, src: Tensor, tap: Tap = NO_TAP, *, src_lengths: Tensor | None = None) -> Tensor:
        """src: (batch, k_len). Returns the memory, (batch, k_len, d_model)."""
        tap = tap.scope("encoder")
        x = tap("embed", self.embedding.embed(src))  # (batch, k_len, d_embed)
        return self.encoder(x, mask=full_mask(src, src, src_lengths), tap=tap)

    def decode(self, tgt: Tensor, memory: Tensor, tap: Tap = NO_TAP, *, memory_mask: Tensor, past: int = 0) -> Tensor:
        """tgt: (batch, q_len), memory: (batch, k_len, d_model). Returns logits (batch, q_len, vocab)."""
        x = self.target_stream(tgt, memory, tap, memory_mask=memory_mask, past=past)
        return self.head(x, self.embedding, tap=tap)  # (batch, q_len, vocab)

    def target_stream(
        self, tgt: Tensor, memory: Tensor, tap: Tap = NO_TAP, *, memory_mask: Tensor, past: int = 0
    ) -> Tensor:
        """The same before the head: (batch, q_len, d_model)."""
        within = tap.scope("decoder")
        x = within("embed", self.embedding.embed(tgt))  # (batch, q_len, d_embed)
        mask = masks.causal(tgt.shape[1], past=past, device=tgt.device)
        return self.decoder(x, mask=mask, memory=memory, memory_mask=memory_mask, tap=within)


Transformer = DecoderOnly | EncoderOnly | EncoderDecoder


@contextmanager
def unfilled() -> Iterator[None]:
    """Modules built within have parameters on torch's "meta" device: no memory, no random draws."""
    with torch.device("meta"), _NothingIsDrawn():
        yield


class _NothingIsDrawn(TorchFunctionMode):
    """Skips random initialisation: drawing on "meta" would make torch import its compiler, which takes 0.9 s."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if function in (nn.init.normal_, Tensor.normal_):
            return named["tensor"] if "tensor" in named else args[0]
        return function(*args, **named)


def build(config: ModelConfig) -> Transformer:
    match config.architecture:
        case "decoder-only":
            return DecoderOnly(config)
        case "encoder-only":
            return EncoderOnly(config)
        case "encoder-decoder":
            return EncoderDecoder(config)
        case _:
            assert_never(config.architecture)


def parameter_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every parameter, without building the model.

    Two blocks are built, without weights: all but the first are equal.
    """
    longest = config.max_len if config.scheme.table else 1
    with unfilled():
        two_layers = build(replace(config, n_layers=2, n_decoder_layers=None, max_len=longest)).state_dict()
    shapes: dict[str, tuple[int, ...]] = {}
    for name, value in two_layers.items():
        stack, of_block, rest = name.partition(".blocks.")
        block, _, part = rest.partition(".")
        if not of_block or block == "0":
            shapes[name] = tuple(value.shape)
        else:
            blocks = range(1, config.n_blocks(stack))
            shapes |= {f"{stack}.blocks.{n}.{part}": tuple(value.shape) for n in blocks}
    return shapes


def build_to_fill(config: ModelConfig) -> Transformer:
    """The model without weights, to be filled by `load_state_dict(…, assign=True)`."""
    with unfilled():
        return build(config)


def training_mask(config: ModelConfig) -> Callable[..., Tensor]:
    """The mask of a decoder-only model in training."""
    match config.training_mask:
        case "causal":
            return masks.causal
        case "none":
            return no_mask
        case _:
            assert_never(config.training_mask)


def no_mask(length: int, *, past: int = 0, device: torch.device | None = None) -> Tensor:
    """Every query sees every key: (length, past + length)."""
    return masks.full(length, past + length, device=device)


def full_mask(q_ids: Tensor, k_ids: Tensor, k_lengths: Tensor | None) -> Tensor:
    """Every query sees every key but padding; broadcasts to (batch, head, q_len, k_len)."""
    mask = masks.full(q_ids.shape[1], k_ids.shape[1], device=q_ids.device)
    return mask if k_lengths is None else mask & masks.padding(k_lengths, k_ids.shape[1])


def initialise(model: Transformer) -> None:
    """GPT-2's initial weights: normal with σ = 0.02, biases 0; σ / √n in matrices that write to the stream n times.

    So the stream's size does not depend on the number of layers (Radford et al. 2019, section 2.3). Layers that share
    weights count separately, the experts of a layer as one.
    """
    config = model.config
    n_writes = len(config.layers) + (config.feed_forward.kind != "none") * sum(map(config.depth, config.stacks))
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            std = 0.02 / math.sqrt(n_writes) if name.endswith(("W_O", "W_out")) else 0.02
            nn.init.normal_(module.weight, std=std)
            nn.init.zeros_(module.bias)
        elif isinstance(module, Embedding):
            for table in module.parameters():
                nn.init.normal_(table, std=0.02)
