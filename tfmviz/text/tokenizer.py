"""Byte-level byte-pair encoding, which decodes to exactly the encoded text.

The merges are those of the `tokenizers` library (Sennrich et al. 2016; on bytes: Radford et al. 2019, section 2.2).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Self

import tokenizers
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from tfmviz.constants import MASK, MASK_TOKEN, TYPED_GAP
from tfmviz.record.marks import Marks
from tfmviz.record.trace import Encoding
from tfmviz.text.bpe import Ranks
from tfmviz.text.library import check, reading_marks, without_panics
from tfmviz.text.spelling import one_spelling

END_OF_TEXT = "<|endoftext|>"
"""Separates documents in training text. Typed by a reader, it is ordinary text."""

END = 0
"""Index of `END_OF_TEXT` in every vocabulary."""

SPAN_TOKEN = "<|span-{}|>"
"""Sentinel for the first, second … hidden span; see `text.corruption`."""

SPANS = 1
"""Index of the first sentinel."""

GAP = re.compile(TYPED_GAP)

LONE_BYTE = re.compile("[\udc80-\udcff]")
"""Python's spelling of a byte that is part of no whole character ("surrogateescape")."""

PROBE = "A  b,\tC\né 中 😀 " * 40
"""A loaded tokenizer must reproduce this text, up to its normalisation."""


class Tokenizer:
    """Turns text into vocabulary indices and back.

    Args:
        backend: a byte-level BPE of the `tokenizers` library whose entry 0 is `END_OF_TEXT`.
    """

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self._backend = backend
        self._backend.encode_special_tokens = True  # typed text is never a control token

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a `tokenizer.json`. Models with equal files share one object.

        Raises:
            ValueError: it is not a byte-level tokenizer that reproduces every text.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ValueError(f"{path.name} is not a readable tokenizer ({error}).") from error
        return cls._of(data, path.name)

    @classmethod
    @lru_cache(maxsize=16)
    def _of(cls, data: bytes, name: str) -> Self:
        try:
            with without_panics():
                backend = tokenizers.Tokenizer.from_buffer(data)
            check(backend)
            tokenizer = cls(backend)
            first, returned = tokenizer.vocabulary[END], tokenizer.decode(tokenizer.encode_batch([PROBE])[0])
            expected = one_spelling().normalize_str(PROBE) if tokenizer.spells else PROBE
        except Exception as error:  # the library raises bare Exceptions
            raise ValueError(f"{name} is not a readable tokenizer ({error}).") from error
        if first != END_OF_TEXT:
            raise ValueError(f"{name} does not begin with {END_OF_TEXT}.")
        if returned != expected:
            raise ValueError(f"{name} does not give back the text it is given.")
        return tokenizer

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        vocab_size: int,
        with_mask: bool = False,
        n_spans: int = 0,
        spelling: Normalizer | None = None,
    ) -> Self:
        """Learns merges until the vocabulary has `vocab_size` entries, or nothing is left to merge.

        Args:
            n_spans: span sentinels; a vocabulary has these or a mask.
            spelling: applied before cutting, such as `one_spelling`.
        """
        backend = tokenizers.Tokenizer(BPE())
        if spelling is not None:
            backend.normalizer = spelling
        backend.pre_tokenizer = ByteLevel(add_prefix_space=False)
        backend.decoder = ByteLevelDecoder()
        backend.train_from_iterator(
            texts,
            BpeTrainer(
                vocab_size=vocab_size,
                special_tokens=[
                    END_OF_TEXT,
                    *([MASK_TOKEN] if with_mask else []),
                    *(SPAN_TOKEN.format(n) for n in range(1, n_spans + 1)),
                ],
                initial_alphabet=ByteLevel.alphabet(),
                show_progress=False,
            ),
        )
        return cls(backend)

    def save(self, path: Path) -> None:
        """Writes a `tokenizer.json`. Raises OSError if it cannot."""
        path.write_bytes(self._backend.to_str(pretty=False).encode())

    @property
    def vocab_size(self) -> int:
        return self._backend.get_vocab_size()

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per entry. Part of a character reads like "[byte E4]"."""
        return tuple(map(readable, self._bytes))

    @cached_property
    def fills_gaps(self) -> bool:
        return self._backend.token_to_id(MASK_TOKEN) == MASK

    @cached_property
    def marks(self) -> Marks:
        """One token both ends a text and begins a target."""
        return Marks(ends=(END,), start=END, mask=MASK if self.fills_gaps else None)

    @property
    def spells(self) -> bool:
        """True if texts are normalised."""
        return self._backend.normalizer is not None

    @without_panics()
    def spelled(self, text: str) -> str:
        """The normalised text."""
        return self._backend.normalizer.normalize_str(text) if self.spells else text

    @without_panics()
    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The indices alone, for training."""
        parts = (list(texts[first : first + 10_000]) for first in range(0, len(texts), 10_000))
        return [encoding.ids for part in parts for encoding in self._backend.encode_batch(part)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these tokens. Incomplete characters become U+FFFD."""
        return b"".join(self._bytes[index] for index in ids).decode("utf-8", errors="replace")

    @without_panics()
    def encode(self, text: str, *, max_len: int) -> Encoding:
        """Encodes one text for a trace. Every `GAP` becomes a mask, if there is one.

        Raises:
            ValueError: the text holds a lone surrogate.
        """
        check_unicode(text)
        found = [
            token for start, end in parts_of(text, self.fills_gaps) for token in self._encode_part(text, start, end)
        ]
        kept = found[:max_len]
        return Encoding(
            text=text,
            ids=tuple(index for index, _, _ in kept),
            tokens=tuple(token for _, token, _ in kept),
            offsets=tuple(span for _, _, span in kept),
            n_dropped=len(found) - len(kept),
        )

    def encoding_of(self, ids: Sequence[int], *, max_len: int) -> Encoding:
        """See `as_written`."""
        return as_written(ids, self.vocabulary, self.bytes_of, max_len=max_len)

    def pieces(self, text: str) -> tuple[str, ...]:
        return self.encode(text, max_len=len(text) + 1).tokens

    def encode_target(self, text: str, *, max_len: int) -> Encoding:
        """Encodes a text for the decoder of an encoder-decoder, after the token that begins a target."""
        encoding = self.encode(text, max_len=max_len - 1)
        return replace(
            encoding,
            ids=(END, *encoding.ids),
            tokens=(END_OF_TEXT, *encoding.tokens),
            offsets=((0, 0), *encoding.offsets),
        )

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of each merge: 0, 1, 2 …"""
        return ranks_of(self._backend)

    @property
    def special_tokens(self) -> tuple[str, ...]:
        return special_tokens_of(self._backend)

    @without_panics()
    def ids(self, text: str) -> list[int]:
        """The indices of a whole text; spelled special tokens and gaps are text.

        Raises:
            ValueError: the text holds a lone surrogate.
        """
        check_unicode(text)
        return self._backend.encode(text).ids

    def bytes_of(self, index: int) -> bytes:
        return self._bytes[index]

    @without_panics()
    def ids_with_marks(self, text: str) -> list[int]:
        """The same, but typed special tokens count as such."""
        return self._with_marks.encode(text).ids

    @cached_property
    def _with_marks(self) -> tokenizers.Tokenizer:
        return reading_marks(self._backend)

    def _encode_part(self, text: str, start: int, end: int) -> list[tuple[int, str, tuple[int, int]]]:
        """Index, readable string and span of each token of a part."""
        part = text[start:end]
        if self.fills_gaps and GAP.fullmatch(part):
            return [(MASK, part, (start, end))]
        encoded, spelled = self._backend.encode(part), self.spelled(part)
        ids = encoded.ids
        tokens, offsets = located(spelled, [len(self._bytes[index]) for index in ids])
        if spelled != part:
            offsets = with_accents(part, encoded.offsets)
        return [(i, t, (start + a, start + b)) for i, t, (a, b) in zip(ids, tokens, offsets, strict=True)]

    @cached_property
    def _bytes(self) -> tuple[bytes, ...]:
        """The bytes of each entry. The library spells them as printable characters (GPT-2's table)."""
        spelling = {index: entry for entry, index in self._backend.get_vocab().items()}
        return tuple(
            spelling[index].encode() if index == END else bytes(_BYTE_OF[character] for character in spelling[index])
            for index in range(self.vocab_size)
        )


def readable(raw: bytes) -> str:
    """The characters, or "[byte E4]" for a part of one."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return f"[byte {raw.hex(' ').upper()}]"


def ranks_of(backend: tokenizers.Tokenizer) -> Ranks:
    merges = json.loads(backend.to_str())["model"]["merges"]
    return {tuple(pair): rank for rank, pair in enumerate(merges)}


def special_tokens_of(backend: tokenizers.Tokenizer) -> tuple[str, ...]:
    return tuple(token.content for token in backend.get_added_tokens_decoder().values() if token.special)


def check_unicode(text: str) -> None:
    """Raises ValueError if the text holds a lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"Character {error.start + 1} of the text is not valid Unicode (a lone surrogate).") from error


def parts_of(text: str, fills_gaps: bool) -> Iterator[tuple[int, int]]:
    """The spans of gaps, if they are filled, and of the text between."""
    edges = [edge for gap in GAP.finditer(text) for edge in gap.span()] if fills_gaps else []
    return ((start, end) for start, end in pairwise((0, *edges, len(text))) if start < end)


def with_accents(text: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The spans of tokens, extended by the combining accents that follow.

    The library's end before the accent.
    """
    starts, found = {start for start, _ in spans}, []
    for start, end in spans:
        while end < len(text) and end not in starts and unicodedata.combining(text[end]):
            end += 1
        found.append((start, end))
    return tuple(found)


def as_written(
    ids: Sequence[int], vocabulary: Sequence[str], bytes_of: Callable[[int], bytes], *, max_len: int
) -> Encoding:
    """The encoding of given indices: that of the text which their bytes form together.

    A byte that is part of no whole character is U+FFFD there, and its token reads as in the vocabulary.

    Raises:
        ValueError: an index is not in the vocabulary.
    """
    if unknown := [index for index in ids if not 0 <= index < len(vocabulary)]:
        raise ValueError(f"The vocabulary has entries 0 to {len(vocabulary) - 1}, but {unknown[0]} was given.")
    kept = tuple(ids[:max_len])
    raw = [bytes_of(index) for index in kept]
    text = b"".join(raw).decode("utf-8", "surrogateescape")
    names, offsets = located(text, list(map(len, raw)))
    return Encoding(
        text=LONE_BYTE.sub("\ufffd", text),
        ids=kept,
        tokens=tuple(vocabulary[n] if LONE_BYTE.search(name) else name for n, name in zip(kept, names, strict=True)),
        offsets=offsets,
        n_dropped=len(ids) - len(kept),
    )


def bytes_of_entry(entry: str) -> bytes | None:
    """The bytes of an entry of a byte-level vocabulary; None if it is not spelled in that alphabet."""
    try:
        return bytes(_BYTE_OF[character] for character in entry)
    except KeyError:
        return None


def located(text: str, sizes: Sequence[int]) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """The readable string and the span of each token of a text that is cut between bytes.

    Args:
        sizes: of the tokens, in bytes. A `LONE_BYTE` is one.
    """
    widths = [len(character.encode("utf-8", "surrogateescape")) for character in text]
    character_of_byte = [*(i for i, width in enumerate(widths) for _ in range(width)), len(text)]
    first_byte = list(accumulate(widths, initial=0))  # of each character

    tokens, offsets, position = [], [], 0
    for size in sizes:
        begin, position = position, position + size
        start = character_of_byte[begin]
        end = character_of_byte[position - 1] + 1 if size else start
        whole = first_byte[start] == begin and first_byte[end] == position
        if whole:
            tokens.append(text[start:end])
        else:
            tokens.append(_describe_bytes(text, start, end, begin, position, first_byte))
        offsets.append((start, end))
    return tuple(tokens), tuple(offsets)


def _describe_bytes(text: str, start: int, end: int, begin: int, stop: int, first_byte: Sequence[int]) -> str:
    """Names a token that splits a character: "中 1/3", or "a中 1–2/3" if it covers whole ones too."""
    notes = []
    for character in range(start, end):
        size = first_byte[character + 1] - first_byte[character]
        low = max(begin - first_byte[character], 0) + 1
        high = min(stop - first_byte[character], size)
        if high - low + 1 == size:
            notes.append(text[character])
        else:
            span = f"{low}" if low == high else f"{low}–{high}"
            notes.append(f"{text[character]} {span}/{size}")
    return "".join(notes)


def _byte_of_character() -> dict[str, int]:
    """GPT-2's printable alphabet: visible Latin-1 characters stand for themselves, and the characters from U+0100 on
    for the other bytes in order.
    """
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(0x100 + i): byte for i, byte in enumerate(hidden)}


_BYTE_OF = _byte_of_character()
