"""Other people's tokenizers: WordPiece, SentencePiece and byte-level BPE, with the marks that each adds to a text.

The same questions as `tokenizer.Tokenizer` answers, for any file of the `tokenizers` library. What the file's own
post-processor adds to a text, such as [CLS] and [SEP], is added and shown; nothing else is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

import tokenizers

from tfmviz.record.marks import Marks
from tfmviz.record.trace import Encoding
from tfmviz.text.bpe import Ranks
from tfmviz.text.library import check, reading_marks, without_panics
from tfmviz.text.tokenizer import (
    GAP,
    as_written,
    bytes_of_entry,
    check_unicode,
    parts_of,
    ranks_of,
    special_tokens_of,
)

BYTE = re.compile(r"<0x([0-9A-F]{2})>")
"""How SentencePiece spells a single byte."""

SPACE = "▁"
"""How SentencePiece spells a space."""

Token = tuple[int, tuple[int, int]]
"""Index and span of characters."""


class ForeignTokenizer:
    """Turns text into vocabulary indices and back.

    Args:
        backend: reads what the model reads.
        marks: the marks that the model uses.
        vocab_size: rows of the model's embedding. There may be more than entries of the vocabulary: nobody trained the
            rest.
        target: reads what the decoder reads, where that is another language; None: `backend`.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        *,
        marks: Marks,
        vocab_size: int,
        target: tokenizers.Tokenizer | None = None,
    ) -> None:
        self.marks = marks
        self.vocab_size = vocab_size
        self._backend = backend
        self._target = backend if target is None else target
        for one in (self._backend, self._target):
            one.no_padding()  # files exist that pad and cut
            one.no_truncation()
            one.encode_special_tokens = True  # what a reader types is never a control token
            check(one)
        if (n_entries := backend.get_vocab_size(with_added_tokens=True)) > vocab_size:
            raise ValueError(f"its tokenizer has {n_entries} entries, but its embedding only {vocab_size} rows.")

    @classmethod
    def load(cls, folder: Path, *, vocab_size: int) -> Self:
        """Reads `tokenizer.json`, `tokens.json` and, if there is one, `target_tokenizer.json`.

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
        return cls(backend, marks=marks, vocab_size=vocab_size, target=target)

    def save(self, folder: Path) -> None:
        """Writes what `load` reads. Raises: OSError, when it cannot be written."""
        (folder / "tokenizer.json").write_bytes(self._backend.to_str().encode())
        if self._target is not self._backend:
            (folder / "target_tokenizer.json").write_bytes(self._target.to_str().encode())
        (folder / "tokens.json").write_text(json.dumps(self.marks.to_dict()) + "\n", encoding="utf-8")

    @property
    def kind(self) -> str:
        """The method and the number of entries, such as "BPE, 50,257 entries"."""
        return f"{json.loads(self._backend.to_str())['model']['type']}, {self._backend.get_vocab_size():,} entries"

    @property
    def fills_gaps(self) -> bool:
        """Whether the model has a mask."""
        return self.marks.mask is not None

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per row of the embedding, spaces written as spaces; "##ing" and "[CLS]" as they are."""
        spelling = {index: entry for entry, index in self._backend.get_vocab(with_added_tokens=True).items()}
        names = (self._readable(spelling, index) for index in range(self.vocab_size))
        return tuple(names)

    @without_panics()
    def decode(self, ids: Iterable[int]) -> str:
        """The text of these tokens without marks."""
        return self._target.decode(list(ids), skip_special_tokens=True)

    @without_panics()
    def encode(self, text: str, *, max_len: int) -> Encoding:
        """Encodes one text for a trace, with the post-processor's marks. If there is a mask, every gap becomes one.

        Args:
            max_len: the most tokens that are kept. The marks at both ends are kept, the text between them is cut.

        Raises:
            ValueError: the text holds half a surrogate pair and is therefore not Unicode text.
        """
        check_unicode(text)
        found = [token for start, end in parts_of(text, self.fills_gaps) for token in self._part(text, start, end)]
        before, after = self._added
        kept = found[: max(max_len - len(before) - len(after), 0)]
        if not kept:
            return Encoding(text=text, ids=(), tokens=(), offsets=(), n_dropped=len(found))
        marked = [*((i, (0, 0)) for i in before), *kept, *((i, (len(text), len(text))) for i in after)]
        return self._encoding(text, marked, n_dropped=len(found) - len(kept))

    @without_panics()
    def spelled(self, text: str) -> str:
        """The text as it is cut into words: normalised, if the tokenizer has a normaliser."""
        normalizer = self._backend.normalizer
        return text if normalizer is None else normalizer.normalize_str(text)

    @without_panics()
    def pieces(self, text: str) -> tuple[str, ...]:
        """The readable tokens of a text without any marks."""
        return tuple(self.vocabulary[index] for index in self._target.encode(text, add_special_tokens=False).ids)

    @without_panics()
    def encode_target(self, text: str, *, max_len: int) -> Encoding:
        """Encodes a text for the decoder of an encoder-decoder, after the marks with which a target begins."""
        check_unicode(text)
        encoding = self._target.encode(text, add_special_tokens=False)
        found = list(zip(encoding.ids, encoding.offsets, strict=True))
        before = self.marks.before_target
        kept = found[: max(max_len - len(before), 0)]
        return self._encoding(text, [*((i, (0, 0)) for i in before), *kept], n_dropped=len(found) - len(kept))

    def encoding_of(self, ids: Sequence[int], *, max_len: int) -> Encoding:
        """The encoding of given indices. Its `text` is their readable strings, joined.

        Raises:
            ValueError: an index is not in the vocabulary.
        """
        return as_written(ids, self.vocabulary, max_len=max_len)

    @cached_property
    def ranks(self) -> Ranks | None:
        """The priority of each merge; None for other methods, and for BPE that does more than merge bytes."""
        model = json.loads(self._backend.to_str())["model"]
        extras = ("continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges")
        if model["type"] != "BPE" or not self._cuts_as_gpt2 or any(model.get(extra) for extra in extras):
            return None
        return ranks_of(self._backend)

    @property
    def _cuts_as_gpt2(self) -> bool:
        """Whether a text becomes words, and words bytes, as `bpe.words_of` says."""
        file = json.loads(self._backend.to_str())
        words = file["pre_tokenizer"] or {}
        return words.get("type") == "ByteLevel" and words.get("use_regex", True) and not file["normalizer"]

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The marks, as they are spelled."""
        return special_tokens_of(self._backend)

    @without_panics()
    def ids(self, text: str) -> list[int]:
        """The indices of a whole text, however long, without the marks that a model adds.

        Raises:
            ValueError: the text holds half a surrogate pair and is therefore not Unicode text.
        """
        check_unicode(text)
        return self._backend.encode(text, add_special_tokens=False).ids

    @without_panics()
    def ids_with_marks(self, text: str) -> list[int]:
        """The indices of a text in which typed marks are taken for marks. No page runs a model on them."""
        return self._with_marks.encode(text, add_special_tokens=False).ids

    @cached_property
    def _with_marks(self) -> tokenizers.Tokenizer:
        return reading_marks(self._backend)

    def _part(self, text: str, start: int, end: int) -> list[Token]:
        """The tokens of a part of a text: of a gap, or of what stands between gaps."""
        part = text[start:end]
        if self.marks.mask is not None and GAP.fullmatch(part):
            return [(self.marks.mask, (start, end))]
        encoding = self._backend.encode(part, add_special_tokens=False)
        return [(i, (start + a, start + b)) for i, (a, b) in zip(encoding.ids, encoding.offsets, strict=True)]

    def _encoding(self, text: str, tokens: Sequence[Token], *, n_dropped: int) -> Encoding:
        return Encoding(
            text=text,
            ids=tuple(index for index, _ in tokens),
            tokens=tuple(self.vocabulary[index] for index, _ in tokens),
            offsets=tuple(span for _, span in tokens),
            n_dropped=n_dropped,
        )

    @cached_property
    def _added(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The marks that the post-processor puts before and after a text."""
        encoding = self._backend.encode("a", add_special_tokens=True)
        own = [n for n, is_mark in enumerate(encoding.special_tokens_mask) if not is_mark]
        if not own:
            return (), ()
        return tuple(encoding.ids[: own[0]]), tuple(encoding.ids[own[-1] + 1 :])

    def _readable(self, spelling: dict[int, str], index: int) -> str:
        if index not in spelling:
            return f"[unused {index}]"
        entry = spelling[index]
        if entry in self._added_entries:
            return entry
        if self._is_byte_level:
            raw = bytes_of_entry(entry)
            return entry if raw is None else _text_of(raw)
        if byte := BYTE.fullmatch(entry):
            return _text_of(bytes.fromhex(byte.group(1)))
        return entry.replace(SPACE, " ")

    @cached_property
    def _added_entries(self) -> frozenset[str]:
        return frozenset(token.content for token in self._backend.get_added_tokens_decoder().values())

    @cached_property
    def _is_byte_level(self) -> bool:
        """Whether entries are spelled in GPT-2's printable alphabet."""
        file = json.loads(self._backend.to_str())
        return '"ByteLevel"' in json.dumps([file["pre_tokenizer"], file["decoder"]])


def _text_of(raw: bytes) -> str:
    """The characters, or "[byte E4]" where the bytes are only a part of one."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return f"[byte {raw.hex(' ').upper()}]"
