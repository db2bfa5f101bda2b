"""Of a long vocabulary only the rows of logits that somebody asks for are computed, and they are the same numbers."""

from functools import partial

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.zoo.models import TARGET, TEXT, VOCAB_SIZE, traced
from tfmviz import zoo
from tfmviz.model import reading_out
from tfmviz.model.transformer import Embedding
from tfmviz.record.edits import AblateHead, Edit, Scale
from tfmviz.record.trace import NotCaptured
from tfmviz.ui import cache
from tfmviz.zoo import ZooModel, forwards

Counted = list[int]

close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-4)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """How many rows of logits each product makes; a vocabulary of any length counts as long."""
    found: Counted = []
    unembed = Embedding.unembed

    def counting(self: Embedding, x: torch.Tensor) -> torch.Tensor:
        found.append(x.shape[:-1].numel())
        return unembed(self, x)

    monkeypatch.setattr(Embedding, "unembed", counting)
    monkeypatch.setattr(reading_out, "LONG", 1)
    return found


def target_of(model: ZooModel) -> str | None:
    return TARGET if model.config.architecture == "encoder-decoder" else None


def some_edits(model: ZooModel) -> list[tuple[Edit, ...]]:
    """As many sets as there are heads in the first layer, and the last layer at half its size."""
    first, last = model.config.layers[0], model.config.layers[-1]
    heads = [(AblateHead(layer=first, head=head),) for head in range(model.config.attention.n_heads)]
    return [*heads, (Scale(site=f"{last}.out", factor=0.5),)]


def test_rows_are_computed_when_asked_for_and_once(model: ZooModel, counted: Counted) -> None:
    trace = traced(model)
    assert counted == []
    one = trace.row("logits", -1)
    assert counted == [1]
    some = trace.rows("logits", [2, len(trace.target) - 1, 2])
    assert counted == [1, 1]
    assert np.array_equal(some[1], one)
    whole = trace["logits"]
    assert counted == [1, 1, len(trace.target)]
    close(whole[[2, -1, 2]], some)
    assert trace.row("logits", 3) is not None
    assert len(counted) == 3
    with pytest.raises(ValueError, match="read-only"):
        whole[0] = 0
    with pytest.raises(IndexError):
        trace.row("logits", len(trace.target))


def test_records_agree_at_any_length(model: ZooModel, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = traced(model)
    monkeypatch.setattr(reading_out, "LONG", VOCAB_SIZE + 1)
    eager = traced(model)
    assert lazy.sites == eager.sites == tuple(lazy)
    assert all(site in lazy for site in eager)
    for site in eager:
        close(lazy[site], eager[site])
    close(eager.rows("logits", [0, -1]), lazy.rows("logits", [0, -1]))
    assert lazy.nbytes == eager.nbytes == cache.n_bytes(lazy)


def test_what_nobody_wants_is_not_computed(model: ZooModel, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    for long in (1, VOCAB_SIZE + 1):
        monkeypatch.setattr(reading_out, "LONG", long)
        trace = model.trace(TEXT, sites=("*.pattern",), target=target_of(model))
        assert counted == []
        assert "logits" not in trace
        with pytest.raises(NotCaptured, match="logits"):
            trace.row("logits", 0)
        with pytest.raises(NotCaptured, match="no_such_site"):
            model.trace(TEXT, sites=("no_such_site",), target=target_of(model))


def test_the_cache_counts_rows_before_they_are_there_and_edits_of_logits_act(model: ZooModel, counted: Counted) -> None:
    trace = traced(model)
    assert cache.n_bytes(trace) == trace.nbytes
    assert trace.nbytes - sum(array.nbytes for array in trace.values.values()) == 4 * len(trace.target) * VOCAB_SIZE
    assert counted == []
    halved, plain = (Scale(site="logits", factor=0.5),), traced(model)["logits"]
    close(traced(model, halved)["logits"], plain / 2)
    found = zoo.experiments.logits_under(model, TEXT, [halved], [0, 2], target=target_of(model))
    close(found[0], plain[[0, 2]] / 2)


@each("most", [1, forwards.MOST_NUMBERS])
@each("long", [1, VOCAB_SIZE + 1])
def test_a_fork_gives_the_rows_of_single_runs(
    model: ZooModel, counted: Counted, monkeypatch: pytest.MonkeyPatch, most: int, long: int
) -> None:
    counted.clear()
    monkeypatch.setattr(reading_out, "LONG", long)
    monkeypatch.setattr(forwards, "MOST_NUMBERS", most)
    variants, positions = some_edits(model), [1, 4]
    found = zoo.experiments.logits_under(model, TEXT, variants, positions, target=target_of(model))
    assert found.shape == (len(variants), len(positions), VOCAB_SIZE)
    n_rows = len(positions) if long == 1 else len(traced(model).target)
    products = [n_rows] * len(variants) if most == 1 else [n_rows * len(variants)]
    assert counted[: len(products)] == products
    for rows, edits in zip(found, variants, strict=True):
        close(rows, traced(model, edits)["logits"][positions])


def test_writing_reads_out_the_last_token(model: ZooModel, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    if model.config.architecture == "encoder-only":
        pytest.skip("fills in words")
    given = (5, 7, 11)
    found = zoo.writing.generate(model, TEXT, max_new_tokens=6, given=given)
    assert counted == [1 + len(given), *[1] * (len(found.steps) - 1 - len(given))]
    texts = []
    for long in (1, VOCAB_SIZE + 1):  # what is written does not depend on it
        monkeypatch.setattr(reading_out, "LONG", long)
        greedy = zoo.writing.generate(model, TEXT, max_new_tokens=6)
        texts.append((greedy.ids, zoo.writing.search(model, TEXT, width=2, max_new_tokens=5).ids))
    assert texts[0] == texts[1]


def test_dropout_keeps_logits_of_one_run(model: ZooModel, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    text, found = zoo.experiments.losses_with_dropout(model, TEXT, dropout=0.3, runs=3)
    n_read = counted[-1]
    assert counted[-3:] == [n_read] * 3
    assert n_read == len(text)
    monkeypatch.setattr(reading_out, "LONG", VOCAB_SIZE + 1)
    close(found, zoo.experiments.losses_with_dropout(model, TEXT, dropout=0.3, runs=3)[1])
