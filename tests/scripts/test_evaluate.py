"""The scripts that measure finished models and labellers."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch import Tensor

from scripts import evaluate, labelling
from scripts.evaluate import write_into_card
from scripts.translating import bleu, repeats_endlessly, unlike
from tests.training.toys import BYTES
from tfmviz.text.mixed import Texts
from tfmviz.text.pairs import read_pairs, split_pairs
from tfmviz.training.labels import LabelBatches


def test_bleu_of_right_translations_is_100_and_names_its_references() -> None:
    pairs = [("Va !", "Go away now, please."), ("Va !", "Please go away now."), ("Oui.", "Yes, of course it is.")]
    facts = bleu(pairs, {"Va !": "Please go away now.", "Oui.": "Yes, of course it is."})
    assert facts["BLEU, all references"].startswith("100.0")
    assert "nrefs:var" in facts["BLEU, all references"]
    assert not facts["BLEU, one reference"].startswith("100.0")
    assert "nrefs:1" in facts["BLEU, one reference"]


def test_words_three_times_in_a_row_are_endless_repetition() -> None:
    assert repeats_endlessly("Thank you for for for.")
    assert repeats_endlessly("Does red car, red car, red car?")
    for text in ("I'm a student student.", "A very, very good day is a very good day.", ""):
        assert not repeats_endlessly(text), text


def test_pairs_with_a_near_twin_in_training_are_left_out() -> None:
    """The first differs from a training source in one word, the second in two, the third in its length."""
    train = [("Je vois un chat noir.", "I see a black cat.")]
    held_out = [
        ("Je vois un chien noir.", "right"),
        ("Je vois deux chats.", "I see two cats now."),
        ("Je vois.", "right"),
    ]
    written = {"Je vois un chien noir.": "wrong", "Je vois deux chats.": "I see two cats now.", "Je vois.": "right"}
    assert unlike(train, held_out, written).startswith("100.0 (2 pairs")


def test_new_figures_replace_old_ones_in_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "CARD.md").write_text("# m\n\nText.\n", encoding="utf-8")
    for value in ("1", "2"):
        write_into_card(tmp_path / "CARD.md", {"BLEU": value})
    text = (tmp_path / "CARD.md").read_text(encoding="utf-8")
    assert text.startswith("# m\n\nText.\n\n## Evaluated\n\nBy `python -m scripts.evaluate")
    assert text.count("## Evaluated") == 1
    assert text.endswith("| BLEU | 2 |\n")
    (tmp_path / "CARD.md").write_text("# m\n\nText.\n", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError("No space left on device")))
    with pytest.raises(OSError, match=r"CARD\.md cannot be written"):
        write_into_card(tmp_path / "CARD.md", {"BLEU": "1"})
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"CARD.md": "# m\n\nText.\n"}


def test_what_cannot_be_measured_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in {
        ("assets/models/no such model",): "There is no model named 'no such model'",
        ("assets/models/reverse",): "0 pairs are too few",
        ("assets/models/induction", "--data", "missing.txt"): "missing.txt does not exist",
    }.items():
        monkeypatch.setattr(sys, "argv", ["evaluate", *words])
        with pytest.raises(SystemExit, match="1"):
            evaluate.main()
        told = capsys.readouterr().err
        assert told.startswith(f"Cannot evaluate: {said}")
        assert told.count("\n") == 1


def answers_second_from(place: int) -> Any:
    """A model that says the first label, and from that place on the second."""

    def module(ids: Tensor) -> Tensor:
        second = torch.where(torch.arange(1, ids.shape[1] + 1) >= place, 1.0, -1.0)
        return torch.stack((torch.zeros_like(second), second), dim=-1).expand(len(ids), -1, -1)

    return SimpleNamespace(name="toy", tokenizer=BYTES, module=module, config=SimpleNamespace(max_len=9))


@pytest.mark.parametrize("texts", ["mixed", "single"])
def test_shares_are_of_all_drawn(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: Texts) -> None:
    monkeypatch.setattr(labelling, "N_BATCHES", 17)
    path, data = tmp_path / "curves.json", [str(corpus / "pairs.tsv")]
    facts = labelling.measure(answers_second_from(4), data, texts=texts, seed=0, by_position=path)
    curves = json.loads(path.read_text(encoding="utf-8"))
    held_out = split_pairs(list(read_pairs(corpus / "pairs.tsv")))[1]
    drawn = LabelBatches(pairs=held_out, tokenizer=BYTES, texts=texts, batch_size=64, longest=9, seed=1)
    rows = [row for step in range(17) for row in drawn.batch(step)[1].tolist()]
    hits: dict[str, list[list[bool]]] = {name: [[] for _ in range(33)] for name in ("position", "after", "before")}
    for row in rows:
        changes = [t for t in range(1, len(row)) if row[t] != row[t - 1]]
        for t, label in enumerate(row):
            right = label == int(t >= 3)
            hits["position"][t + 1].append(right)
            if past := [change for change in changes if change <= t]:
                hits["after"][t - past[-1] + 1].append(right)
            if future := [change for change in changes if change > t]:
                hits["before"][future[0] - t].append(right)
    expected = {n: np.array([np.mean(part) if part else np.nan for part in parts[1:10]]) for n, parts in hits.items()}
    np.testing.assert_allclose(curves["position"][:9], expected["position"], atol=1e-4)
    assert np.isnan(curves["position"][9:]).all()
    every = [right for part in hits["position"] for right in part]
    assert facts["right labels"].startswith(f"{np.mean(every):.1%} of {len(every):,} tokens")
    if texts == "mixed":
        for name in ("after", "before"):
            np.testing.assert_allclose(curves[f"{name} a change"][:9], expected[name], atol=1e-4)
    else:  # the mean of −1, −1, −1, 1, 1, 1, 1 … is first positive at the seventh token
        by_mean = np.array([np.mean([row[t] == int(t >= 6) for row in rows if len(row) > t]) for t in range(9)])
        assert not np.allclose(by_mean, expected["position"])
        np.testing.assert_allclose(curves["mean of the states"][:9], by_mean, atol=1e-4)
