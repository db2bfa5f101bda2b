"""A small tokenizer, and the same one in the hands of the library alone."""

from pathlib import Path

import pytest
import tokenizers
from tokenizers.pre_tokenizers import ByteLevel

from tests.text.texts import SENTENCES, VOCAB_SIZE
from tfmviz.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(SENTENCES, vocab_size=VOCAB_SIZE)


@pytest.fixture(scope="module")
def saved(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(path)
    return path


@pytest.fixture(scope="module")
def library(saved: Path) -> tokenizers.Tokenizer:
    """The same vocabulary in the hands of the `tokenizers` library alone."""
    backend = tokenizers.Tokenizer.from_file(str(saved))
    backend.encode_special_tokens = True
    return backend


@pytest.fixture(scope="module")
def library_bytes() -> dict[str, int]:
    """The byte behind each printable character, read off the library's own spelling of all of Unicode's bytes."""
    spell = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str
    byte_of: dict[str, int] = {}
    for code in (*range(0x800), *range(0x800, 0x10000, 0x40), *range(0x10000, 0x110000, 0x1000)):
        if not 0xD800 <= code < 0xE000:
            character = chr(code)
            byte_of.update(zip(spell(character)[0][0], character.encode(), strict=True))
    return byte_of
