"""What other people's tokenizers can do to the process that reads with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tokenizers
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing

from tests.each import each
from tests.text.panics import TEXT, panicking
from tfmviz.record.marks import Marks
from tfmviz.text import foreign
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.library import MOST_ADDED, Unreadable, check, without_panics
from tfmviz.text.tokenizer import Tokenizer


def calls(tokenizer: Tokenizer | ForeignTokenizer) -> dict[str, Callable[[], object]]:
    """Everything that hands a reader's text to the library."""
    found: dict[str, Callable[[], object]] = {
        "encode": lambda: tokenizer.encode(TEXT, max_len=9),
        "encode_target": lambda: tokenizer.encode_target(TEXT, max_len=9),
        "pieces": lambda: tokenizer.pieces(TEXT),
        "spelled": lambda: tokenizer.spelled(TEXT),
        "ids": lambda: tokenizer.ids(TEXT),
        "ids_with_marks": lambda: tokenizer.ids_with_marks(TEXT),
        "decode": lambda: tokenizer.decode([0] * 30 + [1]),
    }
    if isinstance(tokenizer, Tokenizer):
        found["encode_batch"] = lambda: tokenizer.encode_batch([TEXT])
    return found


def test_whatever_reads_a_text_on_which_the_library_gives_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the library raises then is no Exception, so no handler of a page or of the server would stop it."""
    monkeypatch.setattr(foreign, "check", lambda backend: None)
    for where, refused in {
        "pre_tokenizer": {"encode", "encode_target", "pieces", "ids", "ids_with_marks", "encode_batch"},
        "normalizer": {"encode", "encode_target", "pieces", "ids", "ids_with_marks", "encode_batch", "spelled"},
        "decoder": {"decode"},
    }.items():
        theirs = ForeignTokenizer(panicking(where=where), marks=Marks(start=1), vocab_size=3)
        for tokenizer in (theirs, Tokenizer(panicking(where=where))):
            for name, call in calls(tokenizer).items():
                if name in refused and not (name == "decode" and tokenizer is not theirs):  # ours joins bytes itself
                    with pytest.raises(Unreadable, match=r"break down.*Change the text, or choose another model\.$"):
                        call()


def test_only_what_the_library_raises_when_it_gives_up_becomes_a_sentence() -> None:
    for other in (KeyboardInterrupt, SystemExit, GeneratorExit, KeyError):
        with pytest.raises(other), without_panics():
            raise other


@each("where", ["pre_tokenizer", "normalizer", "decoder"])
def test_rules_that_break_down_on_a_long_text_are_refused_before_a_reader_types_one(where: str) -> None:
    with pytest.raises(ValueError, match="'aaaaaa': one of them would have to try too many ways"):
        check(panicking(where=where))


def test_marks_that_would_fill_the_memory_are_refused_before_any_text_is_read() -> None:
    for n_added, is_allowed in ((MOST_ADDED, True), (MOST_ADDED + 1, False), (200_000_000, False)):
        backend, (times, each) = tokenizers.Tokenizer(BPE({"a": 0}, [])), divided(n_added)
        mark = {"id": "<s>", "ids": [0] * each, "tokens": ["a"] * each}
        backend.post_processor = TemplateProcessing(single=["<s>"] * times + ["$A"], special_tokens=[mark])
        if is_allowed:
            check(backend)
        else:
            with pytest.raises(ValueError, match=f"adds {n_added:,} marks to every text"):
                check(backend)


def divided(n: int) -> tuple[int, int]:
    """Pieces of a template, and marks in each."""
    return (n // 1000, 1000) if n >= 1000 else (n, 1)
