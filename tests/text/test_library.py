"""What other people's tokenizers can do to the process that reads with them."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial

import pytest
import tokenizers
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing

from tests.cases import each
from tests.text.panics import TEXT, panicking
from tfmviz.record.marks import Marks
from tfmviz.text import foreign
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.library import MOST_ADDED, Unreadable, check, without_panics
from tfmviz.text.tokenizer import Tokenizer


def calls(tokenizer: Tokenizer | ForeignTokenizer) -> Mapping[str, Callable[[], object]]:
    """Everything that hands a reader's text to the library."""
    one_text = ("pieces", "spelled", "ids", "ids_with_marks")
    cut = {name: partial(getattr(tokenizer, name), TEXT, max_len=9) for name in ("encode", "encode_target")}
    found = cut | {name: partial(getattr(tokenizer, name), TEXT) for name in one_text}
    if isinstance(tokenizer, Tokenizer):
        return found | {"encode_batch": partial(tokenizer.encode_batch, [TEXT])}
    return found | {"decode": partial(tokenizer.decode, [0] * 30 + [1])}  # ours joins bytes itself


def test_whatever_reads_a_text_on_which_the_library_gives_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the library raises then is no Exception, so no handler of a page or of the server would stop it."""
    monkeypatch.setattr(foreign, "check", lambda backend: None)
    reads = {"encode", "encode_target", "pieces", "ids", "ids_with_marks", "encode_batch"}
    for where, refused in {"pre_tokenizer": reads, "normalizer": reads | {"spelled"}, "decoder": {"decode"}}.items():
        theirs = ForeignTokenizer(panicking(where=where), marks=Marks(start=1), vocab_size=3)
        for tokenizer in (theirs, Tokenizer(panicking(where=where))):
            for name in calls(tokenizer).keys() & refused:
                with pytest.raises(Unreadable, match=r"break down.*Change the text, or choose another model\.$"):
                    calls(tokenizer)[name]()


def test_only_what_the_library_raises_when_it_gives_up_becomes_a_sentence() -> None:
    for other in (KeyboardInterrupt, SystemExit, GeneratorExit, KeyError):
        with pytest.raises(other), without_panics():
            raise other


@each("where", ["pre_tokenizer", "normalizer", "decoder"])
def test_rules_that_break_down_on_a_long_text_are_refused_before_a_reader_types_one(where: str) -> None:
    with pytest.raises(ValueError, match="'aaaaaa': one of them would have to try too many ways"):
        check(panicking(where=where))


def test_marks_that_would_fill_the_memory_are_refused_before_any_text_is_read() -> None:
    for n_added, refused in ((MOST_ADDED, False), (MOST_ADDED + 1, True), (200_000_000, True)):
        times, each = (n_added // 1000, 1000) if n_added >= 1000 else (n_added, 1)  # pieces, and marks in each
        backend = tokenizers.Tokenizer(BPE({"a": 0}, []))
        mark = {"id": "<s>", "ids": [0] * each, "tokens": ["a"] * each}
        backend.post_processor = TemplateProcessing(single=["<s>"] * times + ["$A"], special_tokens=[mark])
        with pytest.raises(ValueError, match=f"adds {n_added:,} marks to every text") if refused else nullcontext():
            check(backend)
