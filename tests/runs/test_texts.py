"""A reader's text becomes documents of which the command keeps some out of training."""

from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tfmviz.runs import texts
from tfmviz.runs.texts import KEPT_OUT, LEAST, MOST, UnfitText, prepared
from tfmviz.text.corpora import is_held_out
from tfmviz.text.tokenizer import END_OF_TEXT
from tfmviz.training.data import load_split

WORDS = ["cat", "dog", "<b>", "老王", "🙂", "$x$", "--out", "../../etc"]


def of_words(n_characters: int, *, between: str, seed: int = 0) -> str:
    return between.join(np.random.default_rng(seed).choice(WORDS, n_characters))[:n_characters]


@each("between", [" ", "\n", "\n\n", "\r\n", "", " <|endoftext|> ", "\x00", "\u2028"])
@each("seed", range(4))
def test_the_command_finds_something_to_train_on_and_something_held_out(
    between: str, seed: int, tmp_path: Path
) -> None:
    text = of_words(4 * LEAST, between=between, seed=seed)
    (tmp_path / "data.txt").write_text(prepared(text), encoding="utf-8")
    split = load_split([(tmp_path / "data.txt", 1)])
    assert KEPT_OUT * 0.8 <= sum(map(len, split.held_out)) <= len(text) / 2
    assert sum(map(len, split.train)) > len(text.replace(END_OF_TEXT, "")) / 4
    assert not set("".join(split.train + split.held_out)) - set(text) - {"\n", " "}


def test_a_text_of_an_unfit_length_is_refused_and_the_limits_are_said() -> None:
    unfit = {
        "": "has 0 characters",
        "ten chars.": "has 10 characters",
        " " * 10_000: "has 0 ",
        "ab " * 700_000: "2,099,999",
    }
    for text, says in unfit.items():
        with pytest.raises(UnfitText, match=f"{says}.*{LEAST:,} to {MOST:,}"):
            prepared(text)
    for length in (LEAST, MOST):  # the limits themselves are allowed
        assert prepared(of_words(length, between=" ").replace(" ", "x", 1).ljust(length, "x"))


def test_copies_of_a_line_that_the_hash_keeps_out_are_trained_on(tmp_path: Path) -> None:
    line = next(line for n in range(9_999) if is_held_out(line := f"line {n}"))
    (tmp_path / "data.txt").write_text(prepared(f"{line}\n" * LEAST), encoding="utf-8")
    assert sum(map(len, load_split([(tmp_path / "data.txt", 1)]).train)) > LEAST * len(line) / 2


def test_cuts_that_end_alike_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And two megabytes are hashed no more often than said."""
    hashed: list[str] = []
    monkeypatch.setattr(texts, "is_held_out", hashed.append)
    for end in ("x", "x" * 900):
        hashed.clear()
        with pytest.raises(UnfitText, match="white space"):
            prepared("x" * 900 + " " * 50_000 + end)
        assert len(hashed) == len(set(hashed)) <= texts.CUTS
    hashed.clear()
    with pytest.raises(UnfitText):
        prepared("x" * MOST)
    assert len(hashed) == texts.CUTS
    assert max(map(len, hashed)) < texts.ENOUGH + texts.CUTS
