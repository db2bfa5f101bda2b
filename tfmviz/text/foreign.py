"""Other people's tokenizers: WordPiece, SentencePiece and byte-level BPE.

Interface and errors are those of `tokenizer.Tokenizer`, for any file of the `tokenizers` library, whose post-processor
adds the special tokens, such as [CLS] and [SEP].
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Self

import tokenizers

from tfmviz.record.marks import BARS, Marks
from tfmviz.record.trace import Encoding
from tfmviz.text.bpe import Ranks
from tfmviz.text.library import check, reading_marks, without_panics
from tfmviz.text.tokenizer import (
    GAP,
    as_written,
    bytes_of_entry,
    check_unicode,
    located,
    parts_of,
    ranks_of,
    readable,
    special_tokens_of,
    with_accents,
)

BYTE = re.compile(r"<0x([0-9A-F]{2})>")
"""SentencePiece's spelling of a single byte."""

SPACE = "▁"
"""SentencePiece's spelling of a space."""

BETWEEN = re.compile(rf"\s*{re.escape(BARS)}\s*")

Span = tuple[int, int]
"""Characters: start, end."""

Token = tuple[int, str, Span]
"""Index, readable string and span."""


class ForeignTokenizer:
    """Text to vocabulary indices.

    Args:
        backend: tokenizes the model's input.
        vocab_size: rows of the embedding; those beyond the vocabulary are untrained.
        target: for the decoder's text; None: `backend`.
        separator: between two texts; None: the model reads one.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        *,
        marks: Marks,
        vocab_size: int,
        target: tokenizers.Tokenizer | None = None,
        separator: int | None = None,
    ) -> None:
        self.marks = marks
        self.vocab_size = vocab_size
        self._backend = backend
        self._target = backend if target is None else target
        for one in (self._backend, self._target):
            one.no_padding()  # some files pad and truncate
            one.no_truncation()
            one.encode_special_tokens = True  # typed text is never a control token
            check(one)
        if (n_entries := backend.get_vocab_size(with_added_tokens=True)) > vocab_size:
            raise ValueError(f"its tokenizer has {n_entries} entries, but its embedding only {vocab_size} rows.")
        self.separator = separator
        if separator is not None and separator != self.joins_by:
            raise ValueError(f"its tokenizer does not join two texts by the token {separator}, as its config says.")

    @classmethod
    def load(cls, folder: Path, *, vocab_size: int, separator: int | None = None) -> Self:
        """Reads `tokenizer.json`, `tokens.json` and `target_tokenizer.json`, if any.

        Raises:
            ValueError: one of them is damaged, or does not fit the model.
        """
        try:
            values = json.loads((folder / "tokens.json").read_text(encoding="utf-8"))
            with without_panics():
                backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
                other = folder / "target_tokenizer.json"
                target = tokenizers.Tokenizer.from_file(str(other)) if other.exists() else None
        except Exception as error:  # the library raises bare Exceptions
            raise ValueError(f"its tokenizer is damaged ({error}).") from error
        if not isinstance(values, dict):
            raise ValueError("tokens.json holds no list of marks.")
        marks = Marks.from_dict(values, vocab_size=vocab_size)
        return cls(backend, marks=marks, vocab_size=vocab_size, target=target, separator=separator)

    def save(self, folder: Path) -> None:
        """Writes the files of `load`. Raises OSError if it cannot."""
        (folder / "tokenizer.json").write_bytes(self._backend.to_str().encode())
        if self._target is not self._backend:
            (folder / "target_tokenizer.json").write_bytes(self._target.to_str().encode())
        (folder / "tokens.json").write_text(json.dumps(self.marks.to_dict()) + "\n", encoding="utf-8")

    def with_marks(self, marks: Marks | None = None, *, separator: int | None = None) -> Self:
        target = None if self._target is self._backend else self._target
        marks = self.marks if marks is None else marks
        return type(self)(self._backend, marks=marks, vocab_size=self.vocab_size, target=target, separator=separator)

    @property
    def kind(self) -> str:
        """The method and the number of entries, such as "BPE, 50,257 entries"."""
        return f"{json.loads(self._backend.to_str())['model']['type']}, {self._backend.get_vocab_size():,} entries"

    @property
    def fills_gaps(self) -> bool:
        return self.marks.mask is not None

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per row of the embedding, spaces written as spaces; "##ing" and "[CLS]" unchanged."""
        spelling = {index: entry for entry, index in self._backend.get_vocab(with_added_tokens=True).items()}
        names = (self._readable(spelling, index) for index in range(self.vocab_size))
        return tuple(names)

    @without_panics()
    def decode(self, ids: Iterable[int]) -> str:
        return self._target.decode(list(ids), skip_special_tokens=True)

    @without_panics()
    def encode(self, text: str, *, max_len: int) -> Encoding:
        """Encodes one text for a trace, with special tokens or as a chat message. With a mask token, every gap becomes
        one. With a separator, the first `BARS` between tokens become it, and the texts are the segments A and B.

        Args:
            max_len: special tokens are kept, and the text between them is cut; of two texts the longer one, until both
                are equally long.
        """
        check_unicode(text)
        before, after = self._around
        room = max(max_len - len(before) - len(after), 0)
        if (pair := self._pair(text, room - 1)) is not None:
            return pair
        found = self._read(text, 0, len(text))
        kept = found[:room]
        if not kept:
            return Encoding(text=text, ids=(), tokens=(), offsets=(), n_dropped=len(found))
        ids = [[index for _, index in part] for part in (before, after)]
        marked = [*self._marks(ids[0], 0), *kept, *self._marks(ids[1], len(text))]
        encoding = _encoding(text, marked, n_dropped=len(found) - len(kept))
        roles = (*(role for role, _ in before), *["user"] * len(kept), *(role for role, _ in after))
        return replace(encoding, segments=roles) if any(role for role, _ in (*before, *after)) else encoding

    @cached_property
    @without_panics()
    def joins_by(self) -> int | None:
        """The mark that ends the first of two texts, if exactly what follows is of another type, as in BERT."""
        found = self._backend.encode("a", "b")
        ids, n_first = found.ids, found.type_ids.count(0)
        before, after = ([index for _, index in part] for part in self._around)
        first, second = [*before, *self.ids("a"), mark := ids[n_first - 1]], [*self.ids("b"), *after]
        is_sorted = found.type_ids == sorted(found.type_ids) and n_first < len(ids)
        fits = is_sorted and ids == first + second and len(first) == n_first and mark not in first[:-1]
        return mark if fits else None

    @without_panics()
    def spelled(self, text: str) -> str:
        """The normalised text."""
        normalizer = self._backend.normalizer
        return text if normalizer is None else normalizer.normalize_str(text)

    @without_panics()
    def pieces(self, text: str) -> tuple[str, ...]:
        return tuple(name for _, name, _ in self._tokens(self._target, text))

    @without_panics()
    def encode_target(self, text: str, *, max_len: int) -> Encoding:
        """Encodes a text for the decoder of an encoder-decoder, after the tokens that begin a target."""
        check_unicode(text)
        found = self._tokens(self._target, text)
        before = self.marks.before_target
        kept = found[: max(max_len - len(before), 0)]
        return _encoding(text, [*self._marks(before, 0), *kept], n_dropped=len(found) - len(kept))

    def encoding_of(self, ids: Sequence[int], *, max_len: int) -> Encoding:
        """See `as_written`."""
        return as_written(ids, self.vocabulary, self.bytes_of, max_len=max_len)

    def bytes_of(self, index: int) -> bytes:
        return self._bytes.get(index) or self.vocabulary[index].encode()

    @cached_property
    def ranks(self) -> Ranks | None:
        """The rank of each merge; None unless a BPE that only merges bytes."""
        model = json.loads(self._backend.to_str())["model"]
        extras = ("continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges")
        if model["type"] != "BPE" or not self._cuts_as_gpt2 or any(model.get(extra) for extra in extras):
            return None
        return ranks_of(self._backend)

    @property
    def _cuts_as_gpt2(self) -> bool:
        """True if `bpe.words_of` cuts text into words and bytes as this tokenizer does."""
        file = json.loads(self._backend.to_str())
        words = file["pre_tokenizer"] or {}
        return words.get("type") == "ByteLevel" and words.get("use_regex", True) and not file["normalizer"]

    @property
    def special_tokens(self) -> tuple[str, ...]:
        return special_tokens_of(self._backend)

    @without_panics()
    def ids(self, text: str) -> list[int]:
        """The indices of a whole text, without the special tokens that a model adds."""
        check_unicode(text)
        return self._backend.encode(text, add_special_tokens=False).ids

    @without_panics()
    def ids_with_marks(self, text: str) -> list[int]:
        """See `Tokenizer.ids_with_marks`."""
        return self._with_marks.encode(text, add_special_tokens=False).ids

    @cached_property
    def _with_marks(self) -> tokenizers.Tokenizer:
        return reading_marks(self._backend)

    def _pair(self, text: str, room: int) -> Encoding | None:
        """Two texts with `room` for their tokens, cut as transformers does it; None where `text` is one."""
        bars = BETWEEN.search(text)
        if self.separator is None or bars is None or room < 2:
            return None
        first, second = self._read(text, 0, bars.start()), self._read(text, bars.end(), len(text))
        if not first or not second:
            return None
        n_dropped = max(len(first) + len(second) - room, 0)
        if n_dropped:
            shorter = min(len(first), len(second), room // 2)
            n_first = room - shorter if len(first) > len(second) else shorter
            first, second = first[:n_first], second[: room - n_first]
        before, after = ([index for _, index in part] for part in self._around)
        between = (self.separator, self.vocabulary[self.separator], bars.span())
        marked = [*self._marks(before, 0), *first, between, *second, *self._marks(after, len(text))]
        names = [*[""] * len(before), *["A"] * len(first), "", *["B"] * len(second), *[""] * len(after)]
        return replace(_encoding(text, marked, n_dropped=n_dropped), segments=tuple(names))

    def _read(self, text: str, first: int, last: int) -> list[Token]:
        """The tokens from one character to another, gaps as masks."""
        spans = parts_of(text[first:last], self.fills_gaps)
        return [token for start, end in spans for token in self._part(text, first + start, first + end)]

    def _part(self, text: str, start: int, end: int) -> list[Token]:
        part = text[start:end]
        if self.marks.mask is not None and GAP.fullmatch(part):
            return [(self.marks.mask, self.vocabulary[self.marks.mask], (start, end))]
        found = self._tokens(self._backend, part)
        return [(i, name, (start + a, start + b)) for i, name, (a, b) in found]

    def _tokens(self, backend: tokenizers.Tokenizer, text: str) -> list[Token]:
        """The tokens of a text without special tokens. In a run of byte tokens, each names the bytes it holds."""
        encoding = backend.encode(text, add_special_tokens=False)
        ids, spans = encoding.ids, list(with_accents(text, encoding.offsets))
        names = [self.vocabulary[index] for index in ids]
        for are_bytes, run in groupby(range(len(ids)), lambda n: ids[n] in self._bytes):
            if are_bytes:
                self._locate(text, ids, names, spans, list(run))
        return list(zip(ids, names, spans, strict=True))

    def _locate(self, text: str, ids: Sequence[int], names: list[str], spans: list[Span], run: Sequence[int]) -> None:
        """Names the tokens of a run by the characters that their bytes form together.

        If these are those of the text, it sets their spans too: the library's omit spaces, or are those of the whole
        run.
        """
        first, last = run[0], run[-1]
        raw = [self._bytes[ids[n]] for n in run]
        try:
            spelled = b"".join(raw).decode("utf-8")
        except UnicodeDecodeError:
            return
        names[first : last + 1], places = located(spelled, list(map(len, raw)))
        start = spans[first - 1][1] if first else 0
        end = spans[last + 1][0] if last + 1 < len(ids) else len(text)
        added = first == 0 and spelled == f" {text[start:end]}"  # some tokenizers prepend a space
        if added or spelled == text[start:end]:
            start -= added
            spans[first : last + 1] = [(max(start + a, 0), start + b) for a, b in places]

    def _marks(self, ids: Sequence[int], at: int) -> list[Token]:
        return [(index, self.vocabulary[index], (at, at)) for index in ids]

    @cached_property
    def _around(self) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
        """The tokens before and after a text, with their chat roles."""
        if self.marks.before or self.marks.after:
            return self.marks.before, self.marks.after
        encoding = self._backend.encode("a", add_special_tokens=True)
        own = [n for n, is_mark in enumerate(encoding.special_tokens_mask) if not is_mark]
        if not own:
            return (), ()
        before, after = encoding.ids[: own[0]], encoding.ids[own[-1] + 1 :]
        return tuple(("", index) for index in before), tuple(("", index) for index in after)

    def _readable(self, spelling: dict[int, str], index: int) -> str:
        if index not in spelling:
            return f"[unused {index}]"
        entry = spelling[index]
        if index in self._bytes:
            return readable(self._bytes[index])
        return entry if entry in self._added_entries or self._is_byte_level else entry.replace(SPACE, " ")

    @cached_property
    def _bytes(self) -> dict[int, bytes]:
        """The bytes of entries spelled as bytes: all but the special tokens, or SentencePiece's single bytes."""
        entries = self._backend.get_vocab(with_added_tokens=True).items()
        found = {index: self._bytes_of(entry) for entry, index in entries if entry not in self._added_entries}
        return {index: raw for index, raw in found.items() if raw}

    def _bytes_of(self, entry: str) -> bytes | None:
        if self._is_byte_level:
            return bytes_of_entry(entry)
        byte = BYTE.fullmatch(entry)
        return byte and bytes.fromhex(byte[1])

    @cached_property
    def _added_entries(self) -> frozenset[str]:
        return frozenset(token.content for token in self._backend.get_added_tokens_decoder().values())

    @cached_property
    def _is_byte_level(self) -> bool:
        file = json.loads(self._backend.to_str())
        return '"ByteLevel"' in json.dumps([file["pre_tokenizer"], file["decoder"]])


def _encoding(text: str, tokens: Sequence[Token], *, n_dropped: int) -> Encoding:
    ids, names, offsets = zip(*tokens, strict=True) if tokens else ((), (), ())
    return Encoding(text=text, ids=ids, tokens=names, offsets=offsets, n_dropped=n_dropped)
