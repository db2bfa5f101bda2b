"""The command that writes biographies of heads, and what it left beside the shipped models."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from scripts import find_heads
from scripts.find_neurons import TEXTS
from scripts.without_heads import answer
from tfmviz import zoo
from tfmviz.analysis.biography.file import FILE, Book, load
from tfmviz.analysis.biography.kinds import KINDS, Frequencies
from tfmviz.analysis.heads import random_repeats
from tfmviz.zoo import ZooModel

MODELS = [name for name in zoo.available() if (zoo.MODELS / name / FILE).exists()]

MOST = 150_000
"""Bytes of a file."""


def shipped(name: str) -> tuple[ZooModel, Book, list[str]]:
    model = zoo.load(name)
    book = load(zoo.MODELS / name / FILE, model.weights)
    return model, book, (TEXTS / book.texts).read_text(encoding="utf-8").splitlines()


def test_every_shipped_transformer_has_biographies() -> None:
    assert set(MODELS) == {entry.name for entry in zoo.catalogue(zoo.MODELS) if entry.problem is None}


@pytest.mark.parametrize("name", MODELS)
def test_examples_are_what_the_model_computes_and_the_sharpest_come_first(name: str) -> None:
    model, book, lines = shipped(name)
    assert (zoo.MODELS / name / FILE).stat().st_size <= MOST
    for layer in list(book.heads)[:: max(1, len(book.heads) - 1)]:  # the first and the last
        for head, found in enumerate(book.heads[layer][:2]):
            shares = [share for *_, share in found.examples]
            assert shares == sorted(shares, reverse=True)
            for text, query, key, share in found.examples[:3]:
                target = answer(model, lines[text])
                pattern = model.trace(lines[text], target=target)[f"{layer}.pattern"][head]
                assert pattern[query, key] == pytest.approx(share, abs=2e-3)
                assert key > 0
                assert pattern[query, 1:].max() == pattern[query, key]


@pytest.mark.parametrize("name", MODELS)
def test_the_file_says_what_can_be(name: str) -> None:
    _, book, _ = shipped(name)
    for _, _, found in book.all():
        assert 0 <= found.first <= 1
        assert 0 < found.sharp <= 1
        assert -1.001 <= found.copying <= 1.001
        assert not found.distances or sum(found.distances) == pytest.approx(1, abs=2e-3)
        assert found.damage[1] <= found.damage[0] <= found.damage[2]
        for claim in (found.claim, found.twice):
            assert claim is None or claim.low <= claim.share <= claim.high


def test_a_claim_was_made_where_a_plain_count_finds_it() -> None:
    """Head 0.2 of `induction` looks at the token before: Σ a(i, i − 1) over Σ a(i, j > 0), on all lines."""
    model, book, lines = shipped("induction")
    before = rest = 0.0
    for line in lines:
        a = model.trace(line, sites=("decoder.0.self_attn.pattern",))["decoder.0.self_attn.pattern"][2]
        for i in range(2, len(a)):
            before += float(a[i, i - 1])
            rest += float(a[i, 1:].sum())
    claim = book.heads["decoder.0.self_attn"][2].claim
    assert claim is not None
    assert (claim.kind, claim.held) == ("previous", True)
    assert claim.found == pytest.approx(before / rest, abs=1e-3)


def test_the_heads_that_copy_are_those_of_induction() -> None:
    """Three heads of layer 1, by the claim about repeated tokens; without the one that looks back, the loss there
    rises most."""
    _, book, _ = shipped("induction")
    assert [found.name for found in book.heads["decoder.1.self_attn"]][:3] == ["induction"] * 3
    lost = {(layer, head): found.damage_twice for layer, head, found in book.all()}
    assert max(lost, key=lost.__getitem__) == ("decoder.0.self_attn", 2)


def test_the_birth_of_the_circuit_ends_as_the_model_is() -> None:
    """What random tokens cost, by the definition of the loss; and the losses of stories have a shape."""
    model, book, _ = shipped("induction")
    assert book.pair == (("decoder.0.self_attn", 2), ("decoder.1.self_attn", 0))
    assert [one.step for one in book.birth] == list(zoo.snapshots.steps(zoo.MODELS / "induction"))
    first, last = book.birth[0], book.birth[-1]
    assert abs(first.fifth - first.fiftieth) < 0.1  # before the training, context is worth nothing
    assert last.fifth - last.fiftieth > 0.5
    assert last.induction > 0.5 > first.induction
    ids = random_repeats(vocab_size=1024, max_len=64)
    logits = model.trace(ids, sites=("logits",))["logits"].astype(np.float64)
    log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    losses = [-log_p[n, ids[n + 1]] for n in range(63)]
    assert last.first == pytest.approx(np.mean(losses[:31]), abs=1e-3)
    assert last.again == pytest.approx(np.mean(losses[32:]), abs=1e-3)


def test_the_5th_and_the_50th_token_are_those() -> None:
    """The loss at each place, by torch, on windows of one text."""
    model = zoo.load("induction")
    pair = (("decoder.0.self_attn", 2), ("decoder.1.self_attn", 0))
    text = " ".join((TEXTS / "english.txt").read_text(encoding="utf-8").splitlines()[:80])
    windows = find_heads.windows_of(model, [text])
    windows = windows[: len(windows) // 32 * 32]
    found = find_heads.at_step(model, 4000, pair, [text])
    logits = [torch.tensor(model.trace(window, sites=("logits",))["logits"].tolist()) for window in windows]
    for place, value in ((5, found.fifth), (50, found.fiftieth)):
        rows = torch.stack([row[place - 2] for row in logits])  # what is said about token number `place`, from 1 on
        answers = torch.tensor([window[place - 1] for window in windows])
        assert value == pytest.approx(float(F.cross_entropy(rows, answers)), abs=1e-4)


def test_the_command_writes_a_file_that_pages_can_read(tmp_path: Path) -> None:
    for name in ("reverse", "chinese-none"):
        shutil.copytree(zoo.MODELS / name, tmp_path / name, ignore=shutil.ignore_patterns(FILE))
        lines = ["cat", "attention", "banana", "queen", "alphabet", "letters"] * 2
        book = find_heads.find(name, lines, [], texts="words.txt", without=3, folder=tmp_path)
        again = load(tmp_path / name / FILE, zoo.load(name, folder=tmp_path).weights)
        assert (again.found_on, again.tested_on, again.texts) == (6, 6, "words.txt")
        assert again.coverage == book.coverage
        assert {text % 2 for _, _, found in again.all() for text, *_ in found.examples} == {0}


def test_what_is_not_there_to_be_tested_on_is_taken_from_the_file(tmp_path: Path) -> None:
    assert find_heads.held_out(tmp_path, "chinese.txt", n=3) == []


def test_held_out_sentences_are_others_than_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = "No model has read this sentence."
    documents = [f"This is the short sentence number {n}. Another one follows it here." for n in range(400)]
    (tmp_path / "data" / "english").mkdir(parents=True)
    for source in find_heads.SOURCES:
        (tmp_path / "data" / "english" / source).write_text("\n".join((*documents, known)), encoding="utf-8")
    (tmp_path / "english.txt").write_text(known, encoding="utf-8")
    monkeypatch.setattr(find_heads, "TEXTS", tmp_path)
    monkeypatch.setattr(find_heads, "is_held_out", lambda document: "7" in document or document == known)
    found = find_heads.held_out(tmp_path / "data", "english.txt", n=10)
    assert len(found) == len(set(found)) == 10
    assert known not in found
    assert all("7" in sentence or sentence.startswith("Another") for sentence in found)
    assert found == find_heads.held_out(tmp_path / "data", "english.txt", n=10)


def test_models_get_texts_that_they_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, str] = {}
    monkeypatch.setattr(
        find_heads, "find", lambda name, lines, unseen, texts, without, stories: asked.update({name: texts})
    )
    monkeypatch.setattr(sys, "argv", ["find_heads"])
    find_heads.main()
    assert set(asked) == set(zoo.available())
    assert (asked["french-english"], asked["tiny-english"]) == ("french.txt", "english.txt")


def test_the_kinds_have_names_of_their_own() -> None:
    assert len(set(KINDS)) == len(KINDS)
    assert Frequencies.of([]).frequent == frozenset()
