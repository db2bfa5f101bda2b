"""Expressions on which the library of tokenizers gives up."""

import tokenizers
from tokenizers import decoders
from tokenizers.models import BPE
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import Split

TEXT = 30 * "a" + "!"
"""There are 2³⁰ ways to match its letters with `WAYS`, and none that reaches the end of the text."""

WAYS = "(?:a|a)+$"


def panicking(*, where: str = "pre_tokenizer") -> tokenizers.Tokenizer:
    """A tokenizer that reads all but texts such as `TEXT`."""
    backend = tokenizers.Tokenizer(BPE({"a": 0, "!": 1, "b": 2}, []))
    if where == "pre_tokenizer":
        backend.pre_tokenizer = Split(tokenizers.Regex(WAYS), "isolated")
    if where == "normalizer":
        backend.normalizer = Replace(tokenizers.Regex(WAYS), "b")
    if where == "decoder":
        backend.decoder = decoders.Sequence([decoders.Fuse(), decoders.Replace(tokenizers.Regex(WAYS), "b")])
    return backend


def panic(*_: object) -> None:
    panicking().encode(TEXT)
