"""The script that measures a finished model."""

import os
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from scripts import evaluate
from scripts.evaluate import write_into_card
from scripts.translating import bleu, repeats_endlessly, unlike


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
