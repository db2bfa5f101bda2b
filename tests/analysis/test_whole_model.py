"""Blocks as named tensors, parameters by part, vectors made small: against the modules, and by their laws."""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from tests.analysis.test_stream import blocks, every_model, made
from tests.cases import each
from tests.model.helpers import lively_model
from tfmviz.analysis import lens, residual
from tfmviz.analysis.attention_layer import inputs
from tfmviz.analysis.block_tensors import block_tensors
from tfmviz.analysis.whole_model import best_words, block_means, lengths, parameters, scale_of_embedding, share_of_parts
from tfmviz.model.transformer import Transformer
from tfmviz.model.weights import stacks_of, weights_of
from tfmviz.record.tap import NO_TAP

POST = "X|T¹ = SelfAttention(X)|T² = X + T¹|T³ = LayerNorm(T²)|T⁴ = FFN(T³)|T⁵ = T³ + T⁴|H = LayerNorm(T⁵)"
PRE = "X|T¹ = LayerNorm(X)|T² = SelfAttention(T¹)|T³ = X + T²|T⁴ = LayerNorm(T³)|T⁵ = FFN(T⁴)|H = T³ + T⁵"


@each("name, equations", [("post", POST), ("pre", PRE)])
def test_the_tensors_of_a_block_are_named_as_in_the_lectures(name: str, equations: str) -> None:
    _, trace, stack, _ = made(name)
    assert [tensor.equation for tensor in block_tensors(trace, f"{stack}.1")] == equations.split("|")


@every_model
def test_every_tensor_of_a_block_is_what_its_formula_says(name: str) -> None:
    module, trace, stack, _ = made(name)
    block = blocks(module, stack)[1]
    known: dict[str, np.ndarray] = {}
    for tensor in block_tensors(trace, f"{stack}.1"):
        given = [known[part] for part in re.findall(r"X|T[⁰¹²³⁴⁵⁶⁷⁸⁹]+", tensor.formula)]
        part = tensor.layer.rsplit(".", 1)[-1]
        match tensor.kind:
            case "add":
                close(tensor.value, given[0] + given[1])
            case "norm":
                close(tensor.value, run(getattr(block, f"{part}_residual").norm, given[0]))
            case "mlp":
                close(tensor.value, run(partial(block.mlp, tap=NO_TAP), given[0]))
            case "attention" | "cross":
                close(given[0], inputs(trace, tensor.layer)[0])
                close(tensor.value, trace[f"{tensor.layer}.out"])
        known[tensor.name] = tensor.value
    assert tensor.name == "H"
    close(tensor.value, trace[f"{stack}.1.resid_post"])
    assert len(known) == 1 + 3 * sum(f"{stack}.1.{part}.out" in trace for part in ("self_attn", "cross_attn", "mlp"))


@every_model
def test_the_parameters_of_all_parts_are_those_of_their_modules_and_tokens_read_alike(name: str) -> None:
    module, trace, stack, matrices = made(name)
    weights = weights_of(module)
    counts, shares = parameters(weights), list(share_of_parts(weights).values())
    assert sum(counts.values()) == size(module)
    for one, found in stacks_of(module).items():
        assert counts[f"{one}.positions"] == size(found.positions)
        for (n, block), part in product(enumerate(blocks(module, one)), ("self_attn", "cross_attn", "mlp")):
            layer = getattr(block, part)
            of_layer, norm = (0, 0) if layer is None else (size(layer), size(getattr(block, f"{part}_residual")))
            assert counts.get(f"{one}.{n}.{part}", 0) == of_layer
            assert counts.get(f"{one}.{n}.{part}.norm", 0) == norm
    assert (counts["unembed"] == 0) == module.config.embeddings.tied
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert min(shares) > 0
    sites = list(residual.stages(trace, stack, "steps").values())
    everything = lens.read_stages(trace, sites, matrices.readout)
    for token in (0, 4):
        alone = lens.read_token(trace, sites, matrices.readout, token)
        for field in fields(alone):
            expected = getattr(everything, field.name)[:, token : token + 1]
            np.testing.assert_allclose(getattr(alone, field.name), expected, rtol=1e-4, atol=1e-5, err_msg=field.name)
    assert lens.read_token(trace, sites[-1:], matrices.readout, 2).top.shape == (1, 1)


@each("width, at_most", [(12, 4), (11, 4), (7, 5), (5, 5), (3, 64)])
def test_means_of_neighbours_keep_the_sum(width: int, at_most: int) -> None:
    x = np.random.default_rng(0).standard_normal((3, width))
    n = min(width, at_most)
    found, edges = block_means(x, at_most=at_most), [k * width // n for k in range(n + 1)]
    assert found.shape == (3, n)
    for k, (start, end) in enumerate(pairwise(edges)):
        np.testing.assert_allclose(found[:, k], x[:, start:end].mean(axis=1))
    counts = np.diff(edges)
    assert counts.max() - counts.min() <= 1
    np.testing.assert_allclose((found * counts).sum(axis=1), x.sum(axis=1))


def test_lengths_and_best_words_are_torchs_and_a_block_without_output_is_refused() -> None:
    x = np.random.default_rng(1).standard_normal((5, 13)).astype(np.float32)
    close(lengths(x), torch.linalg.vector_norm(torch.tensor(x), dim=-1).numpy())
    best, p = best_words(x)
    expected = torch.tensor(x).softmax(dim=-1).max(dim=-1)
    assert best.tolist() == expected.indices.tolist()
    close(p, expected.values.numpy())
    _, trace, stack, _ = made("pre")
    values = {site: value for site, value in trace.values.items() if not site.endswith("resid_pre")}
    with pytest.raises(LookupError, match="resid_pre"):
        block_tensors(replace(trace, values=values), f"{stack}.0")


@each("scale, factor", [("one", 1.0), ("sqrt_d_model", 30**0.5)])
def test_the_factor_of_the_embedding_is_found(scale: str, factor: float) -> None:
    module, ids = lively_model(embedding_scale=scale).requires_grad_(False), torch.tensor([[3, 1, 4]])
    rows = weights_of(module).W_E[ids[0]]
    assert scale_of_embedding(module.embedding.embed(ids)[0].numpy(), rows) == pytest.approx(factor)


def size(module: torch.nn.Module | Transformer) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def run(layer: Callable[[torch.Tensor], torch.Tensor], x: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return layer(torch.tensor(x)).numpy()


def close(actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual, expected, atol=1e-5)
