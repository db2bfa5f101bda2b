"""The command that writes biographies of heads, and what it left beside the shipped models."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from scripts import find_heads
from scripts.find_neurons import TEXTS
from scripts.without_heads import answer
from tfmviz import zoo
from tfmviz.analysis.biography.file import FILE, HeadCatalog, load
from tfmviz.analysis.heads import random_repeats
from tfmviz.zoo import ZooModel

MODELS = [name for name in zoo.available() if (zoo.MODELS / name / FILE).exists()]

MOST = 150_000
"""Bytes of a file."""


def shipped(name: str) -> tuple[ZooModel, HeadCatalog, list[str]]:
    model = zoo.load(name)
    book = load(zoo.MODELS / name / FILE, model.weights)
    return model, book, (TEXTS / book.texts).read_text(encoding="utf-8").splitlines()


def leaves(said: Any) -> list[Any]:
    """All values of a file, one after the other, without the lists of which rounding may change the order."""
    if isinstance(said, dict):
        return [leaf for key, one in said.items() if key not in ("examples", "worst") for leaf in (key, *leaves(one))]
    if isinstance(said, list):
        return [leaf for one in said for leaf in leaves(one)]
    return [said]


def test_examples_are_what_the_model_computes_and_the_sharpest_come_first() -> None:
    for name in MODELS:
        model, book, lines = shipped(name)
        assert (zoo.MODELS / name / FILE).stat().st_size <= MOST
        for layer in list(book.heads)[:: max(1, len(book.heads) - 1)]:  # the first and the last
            for head, found in enumerate(book.heads[layer][:2]):
                shares = [share for *_, share in found.examples]
                assert shares == sorted(shares, reverse=True)
                for text, query, key, share in found.examples[:3]:
                    pattern = model.trace(lines[text], target=answer(model, lines[text]))[f"{layer}.pattern"][head]
                    assert pattern[query, key] == pytest.approx(share, abs=2e-3), (name, layer, head)
                    assert key > 0
                    assert text % 2 == 0 or book.found_on != book.tested_on  # else the others test the claim
                    assert pattern[query, 1:].max() == pattern[query, key], (name, layer, head)


def test_what_holds_on_random_tokens_was_tested_on_forty_texts() -> None:
    model, book, _ = shipped("induction")
    assert book.twice_on == 40
    shares = []
    for seed in range(41, 81):
        half = np.random.default_rng(seed).integers(1, 1024, size=32).tolist()
        a = model.trace(half * 2, sites=("decoder.0.self_attn.pattern",))["decoder.0.self_attn.pattern"][2]
        found = sum(float(a[i, i - 1]) for i in range(32, 64)), sum(float(a[i, 1:].sum()) for i in range(32, 64))
        shares.append(found)
    share, rest = np.array(shares).T
    claim = book.heads["decoder.0.self_attn"][2].twice
    assert claim is not None
    assert claim.kind == "previous"
    assert claim.share == pytest.approx(share.sum() / rest.sum(), abs=1e-3)
    error = (share - claim.share * rest).std(ddof=1) / rest.mean() / np.sqrt(40)  # of a ratio, by the delta method
    assert claim.high - claim.low == pytest.approx(2 * 1.96 * error, rel=0.2)


def test_what_is_lost_without_a_head_is_a_mean_over_the_same_forty() -> None:
    model, book, _ = shipped("induction")
    whole, without = (copy.deepcopy(model.module) for _ in range(2))
    halves = [np.random.default_rng(seed).integers(1, 1024, size=32).tolist() for seed in range(41, 81)]
    ids = torch.tensor([half * 2 for half in halves])
    with torch.no_grad():
        without.get_parameter("decoder.blocks.0.self_attn.W_O.weight")[:, 2 * 32 : 3 * 32] = 0
        one, other = (
            F.cross_entropy(module(ids)[:, 32:63].flatten(0, 1), ids[:, 33:].flatten()) for module in (whole, without)
        )
    assert book.heads["decoder.0.self_attn"][2].damage_twice == pytest.approx(float(other - one), abs=1e-3)


def test_the_shipped_file_is_what_the_command_writes(tmp_path: Path) -> None:
    name = "chinese-sinusoidal"
    shutil.copytree(zoo.MODELS / name, tmp_path / name, ignore=shutil.ignore_patterns(FILE))
    _, book, lines = shipped(name)
    find_heads.find(name, lines, [], texts=book.texts, without=100, folder=tmp_path)
    written, kept = (json.loads((folder / name / FILE).read_text()) for folder in (tmp_path, zoo.MODELS))
    assert len(leaves(kept)) > 500
    assert leaves(written) == pytest.approx(leaves(kept), abs=2e-3, nan_ok=True)


def test_the_birth_of_the_circuit_ends_as_the_model_is() -> None:
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
    assert find_heads.held_out(tmp_path, "chinese.txt", n=3) == []  # then a part of the file is kept for it
