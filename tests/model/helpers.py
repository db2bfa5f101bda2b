"""Small models whose every weight matters, and ways to run them, for the tests of the mathematics."""

import math
from collections.abc import Iterable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from tests.model.sizes import BATCH, D_FF, D_MODEL, K_LENGTH, LENGTH, MAX_LEN, N_HEADS, N_LAYERS, VOCAB
from tfmviz.model.block import Block, Stack
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import Transformer, build
from tfmviz.record.edits import Edit
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import Recorder

Module = TypeVar("Module", bound=nn.Module)


def config(**changes: Any) -> ModelConfig:
    """The configuration of the tests, with some entries changed."""
    entries: dict[str, Any] = {
        "vocab_size": VOCAB,
        "max_len": MAX_LEN,
        "d_model": D_MODEL,
        "n_layers": N_LAYERS,
        "n_heads": N_HEADS,
        "n_kv_heads": changes.get("n_heads", N_HEADS),
        "d_ff": D_FF,
    }
    return flat(**entries | changes)


def flat(**entries: Any) -> ModelConfig:
    """A configuration by the entries of its file."""
    return ModelConfig.from_dict(entries)


def lively(module: Module, *, seed: int = 0) -> Module:
    """Draws all weights anew, so large that patterns are uneven and no bias or gain is without effect; sets eval mode.

    Freshly initialised weights are so small that many a wrong formula would pass.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            is_gain = weight.dim() == 1 and name.endswith("weight")
            if weight.dim() == 1:
                weight.copy_(float(is_gain) + 0.3 * noise)
            else:
                weight.copy_(noise / math.sqrt(weight.shape[-1]))
    return module.eval()


def lively_model(**changes: Any) -> Transformer:
    return lively(build(config(**changes)))


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def token_ids(length: int, *, batch: int = BATCH, seed: int = 2) -> Tensor:
    """(batch, length) random entries of the vocabulary."""
    return torch.randint(VOCAB, (batch, length), generator=torch.Generator().manual_seed(seed))


def with_other_token(ids: Tensor, position: int) -> Tensor:
    changed = ids.clone()
    changed[:, position] = (changed[:, position] + 1) % VOCAB
    return changed


def inputs_of(architecture: Architecture, *, batch: int = BATCH) -> tuple[Tensor, ...]:
    """The ids a model of this architecture reads: one text, or for an encoder-decoder source and target."""
    if architecture == "encoder-decoder":
        return token_ids(K_LENGTH, batch=batch, seed=3), token_ids(LENGTH, batch=batch)
    return (token_ids(LENGTH, batch=batch),)


def record(
    module: nn.Module, *inputs: Tensor, edits: Iterable[Edit] = (), sites: Iterable[str] | None = None, **keywords: Any
) -> dict[str, Tensor]:
    recorder = Recorder(edits, sites)
    with torch.no_grad():
        module(*inputs, tap=recorder, **keywords)
    recorder.check()
    return recorder.values


def blocks_of(stack: Stack) -> list[Block]:
    return [block for block in stack.blocks if isinstance(block, Block)]


def assert_close(actual: Tensor, expected: Tensor) -> None:
    """Equal up to the rounding of float32."""
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


def assert_same(actual: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    """Two records hold the same sites in the same order, and bit for bit the same values."""
    assert list(actual) == list(expected)
    assert [site for site in expected if not torch.equal(actual[site], expected[site])] == []
