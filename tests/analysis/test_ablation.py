"""Switching parts off and copying between runs: edits, several at once, and the numbers made of them."""

from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.cases import each
from tests.model.helpers import assert_close, inputs_of, lively_model, normal, record, token_ids
from tests.model.sizes import D_FF, D_HEAD, D_MODEL, LENGTH, N_HEADS
from tfmviz import zoo
from tfmviz.analysis import ablation, patching
from tfmviz.model.weights import weights_of
from tfmviz.record.edits import AblateHead, Edit, Patch, Scale, SetMask
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import Fork, apply
from tfmviz.record.trace import Array, Encoding, NotCaptured, Trace
from tfmviz.zoo import ZooModel

SELF = "decoder.1.self_attn"
VECTOR = tuple(0.5 * n for n in range(D_MODEL))
EVERYWHERE: dict[Architecture, tuple[Edit, ...]] = {
    "decoder-only": (AblateHead(layer=SELF, head=1), Scale(site="decoder.0.mlp.out", factor=-0.5)),
    "encoder-only": (
        Scale(site="encoder.1.self_attn.z", factor=2.0, head=2),
        Scale(site="encoder.0.mlp.out", factor=0),
    ),
    "encoder-decoder": (
        AblateHead(layer="encoder.0.self_attn", head=0),
        Patch(site="decoder.0.self_attn.out", vector=VECTOR),
        Scale(site="decoder.1.cross_attn.z", factor=0.0, head=2),
    ),
}


def test_factors_and_patches_meet_one_head_one_position_or_all() -> None:
    z = normal(2, N_HEADS, LENGTH, D_HEAD)
    found = apply(Scale(site="z", factor=-1.5, head=2), z)
    assert torch.equal(found[:, :2], z[:, :2])
    assert torch.equal(found[:, 2], -1.5 * z[:, 2])
    assert torch.equal(apply(Scale(site="z", factor=3.0), z), 3 * z)
    x, z = normal(2, LENGTH, D_MODEL), normal(2, N_HEADS, LENGTH, D_HEAD)
    vector = tuple(float(n) for n in range(D_HEAD))
    one = apply(Patch(site="x", vector=VECTOR, position=3), x)
    assert torch.equal(one[:, 3], torch.tensor(VECTOR).expand(2, -1))
    assert torch.equal(one[:, [0, 1, 2, 4, 5, 6]], x[:, [0, 1, 2, 4, 5, 6]])
    assert torch.equal(apply(Patch(site="x", vector=VECTOR), x), torch.tensor(VECTOR).expand_as(x))
    cell = apply(Patch(site="z", vector=vector, head=1, position=4), z)
    changed = (cell != z).any(dim=-1)  # (batch, head, position)
    assert changed.nonzero()[:, 1:].tolist() == [[1, 4]] * 2
    assert cell[0, 1, 4].tolist() == list(vector)


def test_a_factor_meets_one_neuron_whose_write_is_then_gone() -> None:
    model, inputs = lively_model(), inputs_of("decoder-only")
    edit = Scale(site="decoder.0.mlp.post", factor=0.0, coordinate=5)
    before, after = record(model, *inputs), record(model, *inputs, edits=(edit,))
    weights = weights_of(model).stacks["decoder"].feed_forward["decoder.0.mlp"]
    written = before["decoder.0.mlp.post"][..., 5:6] * torch.from_numpy(weights.W_out[5])
    assert_close(after["decoder.0.mlp.out"], before["decoder.0.mlp.out"] - written)
    others = [n for n in range(D_FF) if n != 5]
    assert torch.equal(after["decoder.0.mlp.post"][..., others], before["decoder.0.mlp.post"][..., others])


def test_an_edit_that_does_not_fit_says_what_would() -> None:
    z, x = normal(2, N_HEADS, LENGTH, D_HEAD), normal(2, LENGTH, D_MODEL)
    far = (1.0,) * D_HEAD
    wrong: tuple[tuple[Edit, torch.Tensor, str], ...] = (
        *((Scale(site="here", factor=0.0, head=n), z, f"here has heads 0 to 2; head {n}") for n in (-1, 3)),
        (Scale(site="here", factor=0.0, coordinate=D_HEAD), z, f"coordinates 0 to {D_HEAD - 1}; coordinate {D_HEAD}"),
        (Patch(site="here", vector=far, position=-1), z, f"here has positions 0 to {LENGTH - 1}; position -1"),
        (Patch(site="here", vector=(1.0, 2.0)), z, f"has 2 numbers; it needs {D_HEAD}"),
        (Scale(site="here", factor=0.0, head=0), x, "here has no heads; head 0"),
    )
    for edit, value, words in wrong:
        with pytest.raises(ValueError, match=words):
            apply(edit, value)


@each("architecture", list(EVERYWHERE))
def test_every_row_of_a_fork_is_a_run_of_its_own(architecture: Architecture) -> None:
    model, inputs = lively_model(architecture=architecture), inputs_of(architecture, batch=1)
    edits = EVERYWHERE[architecture]
    variants: tuple[tuple[Edit, ...], ...] = (*((edit,) for edit in edits), edits, ())
    fork = Fork(variants)
    with torch.no_grad():
        together = model(*inputs, tap=fork)
    fork.check()
    for row, variant in zip(together, variants, strict=True):
        assert_close(row, record(model, *inputs, edits=variant)["logits"][0])
    assert len({round(float(row.abs().sum()), 3) for row in together}) == len(variants)


def test_before_the_first_edit_a_fork_computes_one_row_and_unknown_sites_are_named() -> None:
    model, seen = lively_model(), {}

    class Watching(Fork):
        def __call__(self, name: str, value: torch.Tensor) -> torch.Tensor:
            seen[self._prefix + name] = len(found := super().__call__(name, value))
            return found

    with torch.no_grad():
        model(*inputs_of("decoder-only", batch=1), tap=Watching([[AblateHead(layer=SELF, head=h)] for h in range(3)]))
    assert {seen["decoder.0.resid_post"], seen[f"{SELF}.v"]} == {1}
    assert {seen[f"{SELF}.z"], seen["decoder.1.resid_mid"], seen["logits"]} == {3}
    fork = Fork([[Scale(site="decoder.7.mlp.out", factor=0.0)]])
    lively_model()(*inputs_of("decoder-only", batch=1), tap=fork)
    with pytest.raises(NotCaptured, match=r"decoder\.7\.mlp\.out"):
        fork.check()


@pytest.fixture(scope="module")
def reverse() -> ZooModel:
    return zoo.load("reverse")


@pytest.fixture(scope="module")
def english() -> ZooModel:
    return zoo.load("tiny-english")


def test_writing_under_edits_is_reading_each_prefix_anew_under_them(reverse: ZooModel, english: ZooModel) -> None:
    edits = (Scale(site="decoder.0.cross_attn.z", factor=0.0, head=1), Scale(site="encoder.0.mlp.out", factor=0.0))
    ids = zoo.writing.generate(reverse, "stressed", edits=edits, max_new_tokens=6).ids
    assert ids != zoo.writing.generate(reverse, "stressed", max_new_tokens=6).ids
    logits = reverse.trace("stressed", edits, ("logits",), target=ids)["logits"]
    assert logits.argmax(axis=-1)[: len(ids)].tolist() == list(ids)
    edits = (Scale(site="decoder.0.self_attn.out", factor=0.0), Scale(site="decoder.1.mlp.out", factor=0.0))
    ids = zoo.writing.generate(english, "The cat sat", edits=edits, max_new_tokens=4).ids
    assert ids != zoo.writing.generate(english, "The cat sat", max_new_tokens=4).ids
    assert english.trace(ids, edits, ("logits",))["logits"].argmax(axis=-1)[2:-1].tolist() == list(ids[3:])
    with pytest.raises(NotCaptured):
        zoo.writing.generate(reverse, "stressed", edits=(Scale(site="decoder.5.mlp.out", factor=0.0),))


def test_one_word_is_the_next_one_or_the_favourite() -> None:
    logits = np.zeros((3, 5), dtype=np.float32)
    logits[[0, 2], [4, 1]] = 1
    text = Encoding(text="abc", ids=(2, 3, 0), tokens=("a", "b", "c"), offsets=((0, 1), (1, 2), (2, 3)))
    trace, asked = Trace(target=text, values={"logits": logits}), ((0, True), (2, True), (0, False))
    found = [ablation.one_word(trace, position, writes=writes).answers for position, writes in asked]
    assert found == [(3,), (1,), (4,)]


TEXT = "The cat sat on the mat"


def zeroed(part: ablation.Part) -> tuple[Scale, ...]:
    return part.scaled(0.0)


def test_the_map_of_damage_is_what_single_runs_lose(english: ZooModel) -> None:
    trace, run = english.trace(TEXT), partial(zoo.experiments.logits_under, english, TEXT)
    found = ablation.damage(trace, ablation.whole_text(trace.target.ids), run, zeroed)
    assert found.shape == (6, 9)
    ids = torch.tensor(trace.target.ids)

    def loss(*edits: Edit) -> float:
        return F.cross_entropy(torch.tensor(english.trace(TEXT, edits)["logits"][:-1]).double(), ids[1:]).item()

    for layer, head in ((0, 5), (3, 1), (5, 7)):
        lost = loss(AblateHead(layer=f"decoder.{layer}.self_attn", head=head)) - loss()
        assert found[layer, head] == pytest.approx(lost, abs=2e-5)
    assert found[2, -1] == pytest.approx(loss(Scale(site="decoder.2.mlp.out", factor=0.0)) - loss(), abs=2e-5)


def test_a_large_map_of_damage_is_computed_in_parts(english: ZooModel, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = english.trace("The dog ran.")
    run = Mock(side_effect=partial(zoo.experiments.logits_under, english, "The dog ran."))
    whole = ablation.damage(trace, ablation.whole_text(trace.target.ids), run, zeroed)
    monkeypatch.setattr(ablation, "MOST_LOGITS", 4 * trace["logits"][:-1].size + 1)
    in_parts = ablation.damage(trace, ablation.whole_text(trace.target.ids), run, zeroed)
    np.testing.assert_allclose(in_parts, whole, atol=1e-5)
    assert [len(call.args[0]) for call in run.call_args_list] == [*[9] * 6, *[4, 4, 1] * 6]


def test_parts_are_named_once_and_the_map_has_a_row_for_every_attention_layer(reverse: ZooModel) -> None:
    parts = ablation.parts_of(reverse.trace("abc"))
    assert len({part.code for part in parts}) == len({(part.kind, part.name) for part in parts}) == 4 * 3 + 2 + 2
    whole = next(part for part in parts if part.code == "dl0")
    assert whole.sites == ("decoder.0.self_attn.out", "decoder.0.cross_attn.out", "decoder.0.mlp.out")
    only = ablation.parts_of(zoo.load("induction").trace("abc"))
    assert [part.code for part in only if part.kind != "head"] == ["dl0", "dl1"]
    trace = reverse.trace("abc")
    run = partial(zoo.experiments.logits_under, reverse, "abc", target=trace.target.ids[1:])
    found = ablation.damage(trace, ablation.whole_text(trace.target.ids), run, zeroed)
    assert trace.layers == ("encoder.0.self_attn", "decoder.0.self_attn", "decoder.0.cross_attn")
    assert np.isnan(found).tolist() == [[False] * 5, [False] * 4 + [True], [False] * 5]  # the MLP comes after both


def test_the_mean_over_a_text_takes_away_what_depends_on_the_text(english: ZooModel) -> None:
    reference = english.trace("My dog ran home and slept.")
    parts = {part.code: part for part in ablation.parts_of(reference)}
    for text in (TEXT, "Why not?"):
        run = english.trace(text, parts["dl3"].averaged(reference))
        added = run["decoder.3.resid_post"] - run["decoder.3.resid_pre"]
        wanted = sum(reference[f"decoder.3.{part}.out"].mean(axis=0) for part in ("self_attn", "mlp"))
        np.testing.assert_allclose(added, np.broadcast_to(wanted, added.shape), atol=1e-4)
    z = english.trace(TEXT, parts["d2.5"].averaged(reference))["decoder.2.self_attn.z"][5]
    wanted = reference["decoder.2.self_attn.z"][5].mean(axis=0)
    np.testing.assert_allclose(z, np.broadcast_to(wanted, z.shape), atol=1e-6)


def test_surprise_is_torchs_cross_entropy_and_sharpness_the_mean_of_the_largest_shares(english: ZooModel) -> None:
    trace = english.trace(TEXT)
    found = ablation.sharpness(trace)
    rows = trace["decoder.4.self_attn.pattern"][6]
    assert found[4, 6] == pytest.approx(np.mean([max(rows[i, : i + 1]) for i in range(1, 6)]), rel=1e-5)
    assert np.isnan(ablation.sharpness(english.trace("a"))).all(), "one token has no choice"
    logits, ids = normal(5, 7, 41, seed=4) * 9, token_ids(7, batch=1)[0]
    found = ablation.surprise(logits[:, :-1].numpy(), ablation.whole_text(ids.tolist()))
    expected = [F.cross_entropy(row[:-1].double(), ids[1:]).item() for row in logits]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@each(
    "one, other, expected",
    [
        ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826817),  # with a tie; scipy.stats.spearmanr gives this
        ([1, 2, 3], [10, 100, 1000], 1.0),
        ([1, 2, 3], [0, -1, -5], -1.0),
    ],
)
def test_rank_correlation_is_spearmans(one: list[float], other: list[float], expected: float) -> None:
    assert ablation.rank_correlation(np.array(one), np.array(other)) == pytest.approx(expected)
    assert np.isnan(ablation.rank_correlation(np.array(one), np.ones(len(one))))


GIRL, BOY = "Once there was a little girl named", "Once there was a little boy named"


@pytest.fixture(scope="module")
def pair(english: ZooModel) -> tuple[Trace, Trace]:
    return english.trace(GIRL), english.trace(BOY)


def copied(english: ZooModel, pair: tuple[Trace, Trace], kind: patching.Copied) -> Array:
    sites, run = patching.sites_of(pair[0], "decoder", kind), partial(zoo.experiments.logits_under, english, GIRL)
    return patching.recovered(*pair, sites, run, position=len(pair[0].tokens) - 1)


def test_copying_the_stream_moves_what_lies_in_it(english: ZooModel, pair: tuple[Trace, Trace]) -> None:
    """Laws: before layer 0 the one token that differs carries everything; tokens before it never carry anything."""
    found, tokens = copied(english, pair, "resid_pre"), np.array([trace.tokens for trace in pair])
    (differs,) = np.flatnonzero(tokens[0] != tokens[1])
    assert found.shape == (6, tokens.shape[1])
    np.testing.assert_allclose(found[:, :differs], 0, atol=1e-4)
    np.testing.assert_allclose(found[0], np.arange(tokens.shape[1]) == differs, atol=1e-4)
    assert np.isnan(copied(english, (pair[0], pair[0]), "mlp.out")).all()


def test_copies_are_those_of_single_runs(english: ZooModel, pair: tuple[Trace, Trace]) -> None:
    first, second = pair
    lily, tim = patching.answers(first["logits"][-1], second["logits"][-1])
    assert [english.vocabulary[word] for word in (lily, tim)] == [" Lily", " Tim"]
    site, position = "decoder.3.self_attn.out", len(first.tokens) - 1
    edit = Patch(site=site, vector=tuple(second[site][position].tolist()), position=position)
    runs = (run["logits"][-1] for run in (first, english.trace(GIRL, (edit,)), second))
    before, copy, after = (logits[tim] - logits[lily] for logits in runs)
    expected = (copy - before) / (after - before)
    assert copied(english, pair, "self_attn.out")[3, position] == pytest.approx(expected, abs=1e-4)


def test_two_runs_with_one_favourite_are_told_apart_by_what_each_prefers() -> None:
    first, second = np.zeros(30), np.zeros(30)
    first[[0, 1, 2]], second[[0, 1, 2]] = (9, 7, 5), (9, 5, 7)
    assert patching.answers(first, second) == (1, 2)
    first[4] = 20
    assert patching.answers(first, second) == (4, 0)
    site, mask = "a.z", SetMask(layer="a", mask=((True,),))
    alike = (Scale(site=site, factor=0.0, head=1), Patch(site=site, vector=(0.0,), head=1), mask)
    assert len({AblateHead(layer="a", head=1), AblateHead(layer="a", head=1), *alike}) == 4
