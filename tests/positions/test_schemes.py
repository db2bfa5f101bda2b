"""All position schemes: their table is complete and true; what they add by distance, against references."""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

import tfmviz.positions
from tests.cases import each
from tests.model import numpy_model
from tests.model.helpers import assert_close, config, lively, normal
from tests.model.sizes import BATCH, D_HEAD, D_MODEL, K_LENGTH, LENGTH, MAX_LEN, N_HEADS, SCHEMES
from tfmviz.constants import CLIP, N_BUCKETS
from tfmviz.model.block import build_positions
from tfmviz.positions import schemes
from tfmviz.positions.alibi import slopes
from tfmviz.positions.base import Positions
from tfmviz.positions.shaw import Shaw
from tfmviz.positions.t5 import T5Relative, buckets
from tfmviz.record.facts import Facts
from tfmviz.record.tap import NO_TAP

FOLDER = Path(tfmviz.positions.__file__).parent

every_scheme = each("scheme", SCHEMES)


def positions_of(scheme: str) -> Positions:
    return lively(build_positions(config(positions=scheme), bidirectional=True))


def test_every_class_of_positions_is_in_the_table() -> None:
    """A file that is not listed is a scheme that nobody can choose."""
    written, known = set(), {"Positions", "Sinusoidal"}  # the classes that others are made from
    for path in FOLDER.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and known & {node.name, *map(ast.unparse, node.bases)}:
                written.add(f"tfmviz.positions.{path.stem}:{node.name}")
    assert written == {scheme.code for scheme in schemes.SCHEMES.values()}, "add the entry to positions/schemes.py"
    for attribute in ("title", "formula", "idea", "code"):
        said = [getattr(scheme, attribute) for scheme in schemes.SCHEMES.values()]
        assert len(set(filter(None, said))) == len(said), attribute


@every_scheme
def test_a_scheme_acts_where_the_table_says_and_nowhere_else(scheme: str) -> None:
    positions = positions_of(scheme)
    x, q = normal(BATCH, LENGTH, D_MODEL), normal(BATCH, N_HEADS, LENGTH, D_HEAD)
    k = normal(BATCH, N_HEADS, K_LENGTH, D_HEAD, seed=3)
    rot_q, rot_k = positions.rotate(q, k, NO_TAP)
    acts = {
        "embed": not torch.equal(positions.embed(x, NO_TAP), x),
        "rotate": not torch.equal(rot_q, q) and not torch.equal(rot_k, k),
        "bias": positions.bias(LENGTH, K_LENGTH) is not None,
        "relate": positions.relate(q, K_LENGTH) is not None,
    }
    said = schemes.SCHEMES[scheme].acts
    assert [seam for seam, does in acts.items() if does] == ([] if said is None else [said])


@every_scheme
def test_only_a_scheme_with_a_table_ends_at_max_len(scheme: str) -> None:
    length = MAX_LEN + 1
    x, q = normal(BATCH, length, D_MODEL), normal(BATCH, N_HEADS, length, D_HEAD)
    positions = positions_of(scheme)
    if schemes.SCHEMES[scheme].table:
        with pytest.raises(ValueError, match=rf"{MAX_LEN}.*{length}"):
            positions.embed(x, NO_TAP)
    else:
        assert positions.embed(x, NO_TAP).isfinite().all()
        assert all(turned.isfinite().all() for turned in positions.rotate(q, q, NO_TAP))
        bias = positions.bias(length, length)
        assert all(added is None or added.isfinite().all() for added in (bias, positions.relate(q, length)))


class Unchecked(Facts):
    """A shape that no configuration has looked at."""

    n_parameters = 0


@every_scheme
@each("d_model, n_heads", [(33, 3), (34, 2)])  # odd d_model and d_head, odd d_head
def test_a_config_refuses_the_widths_that_the_code_cannot_take_in_pairs_and_no_others(
    scheme: str, d_model: int, n_heads: int
) -> None:
    entry = schemes.SCHEMES[scheme]
    changes = {"d_model": d_model, "n_heads": n_heads, "positions": scheme}
    sizes = Unchecked.from_dict(config(d_model=36, n_heads=n_heads).to_dict() | changes)
    if entry.pairs is not None and getattr(sizes, entry.pairs) % 2:
        with pytest.raises(ValueError, match=f"takes coordinates in pairs, but {entry.pairs} = "):
            config(**changes)
        with pytest.raises(ValueError, match="even"):
            entry.implementation().of(sizes, bidirectional=False)
    else:
        assert config(**changes).scheme is entry
        entry.implementation().of(sizes, bidirectional=False)


@every_scheme
def test_what_is_turned_is_turned_by_the_angles(scheme: str) -> None:
    """Neighbours (2m, 2m + 1) as one complex number; the queries stand at the last of the keys' positions."""
    positions = positions_of(scheme)
    q, k = normal(BATCH, N_HEADS, LENGTH, D_HEAD), normal(BATCH, N_HEADS, K_LENGTH, D_HEAD, seed=3)
    angles = positions.turns(K_LENGTH)
    assert (angles is not None) is (schemes.SCHEMES[scheme].acts == "rotate")
    turns = np.ones((K_LENGTH, D_HEAD // 2)) if angles is None else np.exp(1j * angles.double().numpy())
    for x, turned in zip((q, k), positions.rotate(q, k, NO_TAP), strict=True):
        before, after = (each.detach().numpy().astype(np.float64) for each in (x, turned))
        expected = (before[..., ::2] + 1j * before[..., 1::2]) * turns[-x.shape[-2] :]
        np.testing.assert_allclose(after[..., ::2] + 1j * after[..., 1::2], expected, atol=1e-5)


@every_scheme
def test_encoder_and_decoder_have_the_same_weights_and_store_no_others(scheme: str) -> None:
    """What follows from a formula is not stored with the weights."""
    both = [build_positions(config(positions=scheme), bidirectional=bidirectional) for bidirectional in (True, False)]
    sizes = [{name: weight.shape for name, weight in positions.named_parameters()} for positions in both]
    assert sizes[0] == sizes[1]
    assert set(both[0].state_dict()) == set(sizes[0])


def test_the_numpy_model_refuse_a_scheme_they_do_not_know(tmp_path: Path) -> None:
    """Otherwise the pages' numbers would be compared with those of a model without positions."""
    (tmp_path / "config.json").write_text('{"positions": "xpos"}')
    forward, added = (lambda: numpy_model.forward(tmp_path, (1, 2))), (lambda: numpy_model.added(tmp_path, 2))
    for ask in (forward, added, lambda: numpy_model.between("xpos", {}, head=0, distance=3)):
        with pytest.raises(ValueError, match="xpos has no formula"):
            ask()


@each("n_heads", [1, 2, 3, 5, 7, 8, 11, 12, 13, 16, 32, 37])
def test_alibi_slopes_equal_blooms_and_mpts(n_heads: int) -> None:
    bloom = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)  # slope · key position
    mpt = build_mpt_alibi_tensor(n_heads, 2)  # slope · (key position − last position)
    assert_close(slopes(n_heads), bloom[:, 0, 1])
    assert_close(slopes(n_heads), -mpt[:, 0, 0])


@each("bidirectional", [True, False])
def test_t5_bias_equals_transformers_and_every_bucket_can_occur(bidirectional: bool) -> None:
    positions = lively(T5Relative(n_heads=N_HEADS, bidirectional=bidirectional))
    shape = T5Config(num_heads=N_HEADS, is_decoder=not bidirectional)
    reference: Any = T5Attention(shape, has_relative_attention_bias=True, layer_idx=0)
    reference.relative_attention_bias.weight = positions.table
    expected = reference.compute_bias(211, 211)[0]
    assert torch.equal(positions.bias(211, 211), expected)
    assert torch.equal(positions.bias(LENGTH, 211), expected[:, -LENGTH:])
    found = set(buckets(torch.arange(-210, 211), bidirectional=bidirectional).tolist())
    unused = {N_BUCKETS // 2} if bidirectional else set()  # "to the right, at distance 0"
    assert found == set(range(N_BUCKETS)) - unused


@each("q_len, k_len", [(LENGTH, K_LENGTH), (3, 4 * CLIP), (1, 1)])
def test_a_query_meets_the_vector_of_its_clipped_distance(q_len: int, k_len: int) -> None:
    positions = lively(Shaw(d_head=D_HEAD))
    q = normal(BATCH, N_HEADS, q_len, D_HEAD)
    found = positions.relate(q, k_len).detach().numpy()
    table = positions.table.detach().double().numpy()
    for i in range(q_len):
        for j in range(k_len):
            ahead = min(max(j - (k_len - q_len + i), -16), 16)
            expected = q[:, :, i].double().numpy() @ table[16 + ahead]
            np.testing.assert_allclose(found[:, :, i, j], expected, rtol=1e-4, atol=1e-6)
