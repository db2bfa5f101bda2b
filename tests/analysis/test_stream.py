"""The stream as a sum, read out at every stage, and its share in a logit: laws, and other ways to the same numbers."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import tfmviz
from tests.cases import each
from tests.model.helpers import lively_model
from tests.model.sizes import D_HEAD, LENGTH, N_HEADS, N_LAYERS
from tests.records import trace_of
from tfmviz.analysis import contributions, deletions, lens, residual
from tfmviz.analysis.contributions import Part, River
from tfmviz.model.transformer import Transformer
from tfmviz.model.weights import weights_of
from tfmviz.record.tap import NO_TAP
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import StackWeights

TOKEN = 4
WORD, OTHER = 11, 23

# Every architecture, norm, position and feed-forward layer that makes the account differ.
MODELS: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm_position": "post", "positions": "learned"},
    "rms": {"norm": "rms", "positions": "sinusoidal", "feed_forward": "swiglu"},
    "post rms": {"norm": "rms", "norm_position": "post", "embeddings": "untied"},
    "attention only": {"feed_forward": "none", "embedding_scale": "sqrt_d_model"},
    "no positions": {"feed_forward": "none", "positions": "none"},
    "encoder": {"architecture": "encoder-only", "positions": "t5"},
    "ALiBi": {"positions": "alibi", "score_divisor": 1.0},
    "Shaw": {"positions": "shaw", "qk_norm": "present"},
    "translator": {"architecture": "encoder-decoder", "positions": "learned"},
    "rope translator": {"architecture": "encoder-decoder", "positions": "rope"},
    "post translator": {"architecture": "encoder-decoder", "norm_position": "post", "n_kv_heads": 1},
    "both": {"norm_position": "both", "norm": "rms", "score_cap": 3.0, "qk_norm": "present"},
    "both, centred": {"norm_position": "both"},
    "parallel": {"residual": "parallel"},
    "normed embedding": {"norm_position": "post", "embedding_norm": "present", "positions": "learned"},
    "biased": {"architecture": "encoder-only", "embedding_norm": "present", "segment": "present", "head": "bias"},
}
every_model = each("name", list(MODELS))


@cache
def made(name: str) -> tuple[Transformer, Trace, str, StackWeights]:
    """A model, its run, the stack that ends in the logits, and that stack's matrices."""
    module = lively_model(**MODELS[name]).requires_grad_(False)
    stack = "encoder" if module.config.architecture == "encoder-only" else "decoder"
    return module, trace_of(module), stack, weights_of(module).stacks[stack]


def river_of(name: str, token: int = TOKEN) -> River:
    _, trace, stack, matrices = made(name)
    return contributions.river(trace, stack, token, matrices)


def blocks(module: Transformer, stack: str) -> Any:
    return module.get_submodule(stack).blocks


@every_model
def test_the_parts_sum_to_the_stream(name: str) -> None:
    _, trace, stack, _ = made(name)
    for token in range(LENGTH):
        river = river_of(name, token)
        total = np.sum([part.write for part in river.parts], axis=0)
        np.testing.assert_allclose(total, trace[f"{stack}.{N_LAYERS - 1}.resid_post"][token], atol=1e-5)
        assert river.residue < 1e-5
        assert len({part.name for part in river.parts}) == len(river.parts)
        assert river.along.sum() == pytest.approx(np.linalg.norm(river.final), abs=1e-5)


def test_a_missing_part_shows_in_the_residue_and_what_points_against_shortens() -> None:
    _, trace, stack, matrices = made("pre")
    silent = {site: replace(layer, W_O=0 * layer.W_O) for site, layer in matrices.attention.items()}
    assert contributions.river(trace, stack, TOKEN, replace(matrices, attention=silent)).residue > 0.1
    river = river_of("pre")
    found = river.against()
    shortening = [river.parts[n].write @ river.parts[n].meets / np.linalg.norm(river.parts[n].meets) for n in found]
    assert shortening == sorted(shortening)
    assert shortening[-1] < 0
    assert 0 not in found


@every_model
def test_a_heads_part_is_what_torch_makes_of_its_z_and_meets_the_sum_of_those_before(name: str) -> None:
    module, trace, stack, _ = made(name)
    for part in river_of(name).parts:
        if part.head is None:
            continue
        z = torch.zeros(N_HEADS * D_HEAD)
        z[part.head * D_HEAD : (part.head + 1) * D_HEAD] = torch.tensor(trace[f"{part.site}.z"][part.head, TOKEN])
        _, layer, kind = part.site.split(".")
        attention = getattr(blocks(module, stack)[int(layer)], kind)
        write = F.linear(z, attention.W_O.weight)
        if not isinstance(attention.out_norm, nn.Identity):
            together = attention.W_O(torch.tensor(trace[f"{part.site}.z"][:, TOKEN]).flatten())
            write = with_sigma_held(write, attention.out_norm, of=together, bias=False)
        np.testing.assert_allclose(part.write, write.numpy(), atol=1e-5)
    river = river_of(name)
    for n, part in enumerate(river.parts):
        same = [p for p in river.parts[:n] if p.site != part.site or not part.site or part.kind == "norm"]
        np.testing.assert_allclose(part.meets, np.sum([p.write for p in same], axis=0), atol=1e-5)
    writes, meets = (torch.tensor(np.stack([getattr(p, name) for p in river.parts])) for name in ("write", "meets"))
    assert math.isnan(river.to_stream[0]), "the embedding meets nothing"
    np.testing.assert_allclose(river.to_stream[1:], F.cosine_similarity(writes, meets)[1:].numpy(), atol=1e-6)


def with_sigma_held(x: Tensor, norm: Any, *, of: Tensor | None = None, bias: bool = True) -> Tensor:
    """A norm whose σ, that of x or of another vector, autograd takes for a constant."""
    centred, whole = (y - y.mean() if isinstance(norm, nn.LayerNorm) else y for y in (x, x if of is None else of))
    scale = (whole.detach() ** 2).mean().add(1e-5).sqrt()
    y = centred / scale * norm.weight
    return y + norm.bias if bias and isinstance(norm, nn.LayerNorm) else y


def by_autograd(name: str, direction: Array) -> dict[str, float]:
    """write · gradient for each layer's whole write, embedding and position, from torch's own derivatives."""
    module, trace, stack, _ = made(name)
    leaves: dict[str, Tensor] = {}

    def leaf(site: str) -> Tensor:
        leaves[site] = torch.tensor(trace[site][TOKEN], dtype=torch.float64, requires_grad=True)
        return leaves[site]

    x = leaf("embed" if "embed" in trace else f"{stack}.embed")
    if f"{stack}.pos_embed" in trace:
        x = x + leaf(f"{stack}.pos_embed")
    if (norm := module.get_submodule(stack).embed_norm) is not None:
        x = with_sigma_held(x, norm)
    for index, block in enumerate(blocks(module, stack)):
        for part in ("self_attn", "cross_attn", "mlp"):
            if f"{stack}.{index}.{part}.out" in trace:
                x = x + leaf(f"{stack}.{index}.{part}.out")
                if module.config.norm.position == "post":
                    x = with_sigma_held(x, getattr(block, f"{part}_residual").norm)
    if module.config.norm.position != "post":
        x = with_sigma_held(x, module.get_submodule(stack).norm)
    (x * torch.tensor(direction)).sum().backward()
    return {site: float((at.detach() * at.grad).sum()) for site, at in leaves.items() if at.grad is not None}


@every_model
def test_scores_sum_to_logits_and_a_heads_looks_to_its_score(name: str) -> None:
    _, trace, _, matrices = made(name)
    W_U, logits = matrices.readout.W_U, trace["logits"][TOKEN]
    river = river_of(name)
    direction = W_U[WORD].astype(float)
    one = contributions.attribution(river, matrices, direction)
    both = contributions.attribution(river, matrices, W_U[WORD] - W_U[OTHER])
    added = np.zeros(len(W_U)) if matrices.readout.b_U is None else matrices.readout.b_U
    assert one.total + added[WORD] == pytest.approx(logits[WORD], abs=1e-4)
    assert both.total + added[WORD] - added[OTHER] == pytest.approx(logits[WORD] - logits[OTHER], abs=1e-4)
    for n, part in enumerate(river.parts):
        if part.kind != "norm":
            assert contributions.carried(river, matrices, n) @ direction == pytest.approx(one.scores[n], abs=1e-9)
        if part.kind != "head":
            continue
        effects = contributions.looks(trace, part, TOKEN, weights=matrices, direction=one.directions[n])
        assert effects.sum() == pytest.approx(one.scores[n], abs=1e-4)
        closed = ~np.broadcast_to(trace[f"{part.site}.mask"], trace[f"{part.site}.pattern"].shape[1:])[TOKEN]
        assert (effects[closed] == 0).all()


@every_model
def test_scores_are_those_of_torchs_derivatives_with_sigma_held(name: str) -> None:
    _, _, stack, matrices = made(name)
    direction = matrices.readout.W_U[WORD].astype(float)
    river = river_of(name)
    scores = contributions.attribution(river, matrices, direction).scores
    ours: dict[str, float] = {}
    for part, score in zip(river.parts, scores, strict=True):
        if part.kind == "norm":
            continue
        embed = "embed" if stack == "encoder" or "decoder.embed" not in made(name)[1] else f"{stack}.embed"
        site = {"embedding": embed, "position": f"{stack}.pos_embed"}.get(part.kind, f"{part.site}.out")
        ours[site] = ours.get(site, 0.0) + float(score)
    assert ours == pytest.approx(by_autograd(name, direction), abs=1e-5)


@every_model
def test_every_row_of_the_lens_is_what_torch_reads_out_there(name: str) -> None:
    module, trace, stack, matrices = made(name)
    found = lens.read_stages(trace, list(residual.stages(trace, stack, "steps").values()), matrices.readout)
    last: Any = module.get_submodule(stack).norm
    end = torch.tensor(trace["logits"]).log_softmax(dim=-1)
    np.testing.assert_array_equal(found.answer, trace["logits"].argmax(axis=-1))
    assert (found.divergence[-1] == 0).all()
    for row, site in enumerate(residual.stages(trace, stack, "steps").values()):
        x = torch.tensor(trace[site])
        with torch.no_grad():
            logits = module.head(x if last is None else last(x), module.embedding, tap=NO_TAP)
        p = torch.distributions.Categorical(logits=logits)
        divergence = F.kl_div(logits.log_softmax(dim=-1), end, log_target=True, reduction="none").sum(dim=-1)
        order = logits.argsort(dim=-1, descending=True)
        ranks = 1 + (order == torch.tensor(found.answer)[:, None]).nonzero()[:, 1]
        np.testing.assert_array_equal(found.top[row], logits.argmax(dim=-1))
        np.testing.assert_array_equal(found.answer_rank[row], ranks)
        answers = p.probs[torch.arange(LENGTH), found.answer]
        np.testing.assert_allclose(found.answer_probability[row], answers, atol=1e-6)
        np.testing.assert_allclose(found.entropy[row], p.entropy(), atol=1e-5)
        np.testing.assert_allclose(found.divergence[row], divergence, atol=1e-5)


def test_arrows_settled_stages_and_outliers_by_hand() -> None:
    ranks = np.array([[9, 1, 1, 4], [3, 1, 2, 4], [5, 1, 1, 1], [1, 1, 1, 1]])
    others = ("top", "top_probability", "answer_probability", "entropy", "divergence")
    found = lens.Lens(answer_rank=ranks, **dict.fromkeys(others, np.zeros(ranks.shape)))
    assert found.step.tolist() == [[0, 0, 0, 0], [1, 0, -1, 0], [-1, 0, 1, 1], [1, 0, 0, 0]]
    assert found.settled.tolist() == [3, 0, 2, 2]
    assert residual.outlier(np.array([[2.0, 1, 1, 9], [30, 1, 3, 5], [4, 4, 4, 4]])) == (1, 10.0)


@every_model
def test_each_norm_makes_what_comes_after_it_of_what_stands_before(name: str) -> None:
    module, trace, stack, _ = made(name)
    parts = [(block, part) for block in blocks(module, stack) for part in ("self_attn", "cross_attn", "mlp")]
    modules = [getattr(block, f"{part}_residual").norm for block, part in parts if getattr(block, part) is not None]
    last = module.get_submodule(stack).norm
    modules += [] if last is None else [last]
    for (before, after), norm in zip(residual.normalisations(trace, stack).values(), modules, strict=True):
        with torch.no_grad():
            np.testing.assert_allclose(norm(torch.tensor(before)).numpy(), after, atol=1e-5)


def river_with(*writes: list[float]) -> River:
    of_all = {"kind": "head", "step": "", "meets": np.zeros(2)}
    parts = tuple(Part(name=str(n), write=np.array(write), **of_all) for n, write in enumerate(writes))  # type: ignore[arg-type]
    nothing = dict.fromkeys(("size", "to_stream", "to_final", "along"), np.zeros(len(parts)))
    return River(parts=parts, final=np.ones(2), residue=0.0, **nothing)


def test_half_of_a_write_is_taken_back_and_nothing_where_all_agree() -> None:
    found = deletions.strongest(river_with([0.0, 1.0], [4.0, 0.0], [-2.0, 0.5]))
    assert found is not None
    assert (found.earlier, found.later) == (1, 2)
    assert found.share == pytest.approx(0.5)
    assert found.cosine == pytest.approx(-8 / (4 * np.hypot(2, 0.5)))
    assert deletions.strongest(river_with([0.0, 1.0], [1.0, 0.0], [1.0, 1.0])) is None


@each("name", ["tiny-english", "twins-postnorm", "fill-in"])
def test_no_other_pair_of_parts_has_a_more_negative_product(name: str) -> None:
    model = tfmviz.load(name)
    trace = model.trace("The cat sat on the mat.")
    (stack, weights), *_ = model.weights.stacks.items()
    river = contributions.river(trace, stack, 4, weights)
    found = deletions.strongest(river)
    assert found is not None
    writers = [n for n, part in enumerate(river.parts) if part.kind not in ("bias", "norm")]
    least = min(float(river.parts[i].write @ river.parts[j].write) for i in writers for j in writers if i < j)
    a, b = (river.parts[n].write for n in (found.earlier, found.later))
    assert float(a @ b) == pytest.approx(least)
    left = a + b  # without the share, nothing of b points along a
    assert (left - (1 - found.share) * a) @ a == pytest.approx(0, abs=1e-6 * float(a @ a))
