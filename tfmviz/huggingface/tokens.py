"""Tokenizers of transformers as files that the app reads, and special tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from tfmviz.huggingface.source import Refused, in_one_line
from tfmviz.model.config import ModelConfig
from tfmviz.record.marks import Marks
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.library import without_panics
from tfmviz.zoo.limits import read_json

FILES = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt", "source.spm")
"""Files that hold a tokenizer, the newest kind first."""

SENTENCE_PIECE = ("tokenizer.model", "spiece.model")
"""Files that need another package."""

NEVER = -1e6
"""Score of a piece that SentencePiece does not know, so that it never occurs."""

END = "</s>"
"""Marian's end-of-text token."""


def read_tokenizer(folder: Path, theirs: Any) -> Any:
    """The tokenizer of a folder: an object of transformers, or the two of a Marian model.

    Raises:
        Refused: it cannot be read.
    """
    if theirs.model_type == "marian" and not (folder / "tokenizer.json").is_file():
        return marian(folder)
    if not any((folder / name).is_file() for name in FILES):
        raise Refused(f"{folder} holds no tokenizer: no {FILES[0]} and no older vocabulary file.")
    if not (folder / FILES[0]).is_file() and any((folder / name).is_file() for name in SENTENCE_PIECE):
        _check_sentencepiece()
    from transformers import AutoTokenizer

    try:
        with without_panics():
            return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except ImportError as error:
        raise Refused(f"Its tokenizer needs another package ({error}).") from error
    except Exception as error:  # whatever a damaged file leads to
        raise Refused(f"Its tokenizer cannot be read ({in_one_line(error)}).") from error


def _check_sentencepiece() -> None:
    """Raises: Refused, where the package is not installed."""
    try:
        import sentencepiece  # noqa: F401
    except ImportError as error:
        raise Refused("Its tokenizer is a SentencePiece file, so run `pip install sentencepiece` first.") from error


def tokenizer_of(theirs_tokenizer: Any, theirs: Any, generation: Any, config: ModelConfig) -> ForeignTokenizer:
    """A model's tokenizer for the app.

    Args:
        theirs_tokenizer: from `read_tokenizer`, or a tokenizer of transformers in memory.

    Raises:
        Refused: it is none of the `tokenizers` library, or has more entries than the model has rows.
    """
    source, target = _backends(theirs_tokenizer)
    mask = getattr(theirs_tokenizer, "mask_token_id", None)
    marks = marks_of(theirs, generation, config, mask=mask)
    try:
        return ForeignTokenizer(source, marks=marks, vocab_size=config.vocab_size, target=target)
    except ValueError as error:
        raise Refused(f"The model cannot be read together with its tokenizer: {error}") from error


def marks_of(theirs: Any, generation: Any, config: ModelConfig, *, mask: int | None) -> Marks:
    """The special tokens, from the settings for writing, else from the configuration.

    Raises:
        Refused: an encoder-decoder has no start token.
    """

    ends, _ = ends_of(theirs, generation, config)
    if config.architecture == "encoder-only":
        return Marks(mask=None if config.head == "none" else mask)
    if config.architecture == "decoder-only":
        return Marks(ends=ends)
    start = _said("decoder_start_token_id", theirs, generation)
    start = theirs.pad_token_id if start is None else start
    if start is None:
        raise Refused("Its configuration does not say with which token a target begins (decoder_start_token_id).")
    return Marks(ends=ends, start=start, first=_said("forced_bos_token_id", theirs, generation))


def ends_of(theirs: Any, generation: Any, config: ModelConfig) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The end-of-text tokens, and those outside the vocabulary.

    Small random checkpoints often keep GPT-2's 50256 with a vocabulary of a few thousand.
    """
    found = _said("eos_token_id", theirs, generation)
    ends = () if found is None else tuple(found) if isinstance(found, Sequence) else (found,)
    known = tuple(end for end in ends if 0 <= end < config.vocab_size)
    return known, tuple(end for end in ends if end not in known)


def _said(name: str, theirs: Any, generation: Any) -> Any:
    """A setting for writing, else of the configuration."""
    found = getattr(generation, name, None)
    return getattr(theirs, name, None) if found is None else found


def _backends(theirs: Any) -> tuple[tokenizers.Tokenizer, tokenizers.Tokenizer | None]:
    """Copies, so that the original keeps its settings."""
    if isinstance(theirs, tuple):
        return theirs
    spm_files = getattr(theirs, "spm_files", None)
    if spm_files is not None:  # a Marian tokenizer of transformers
        return tuple(unigram(Path(path), theirs.encoder) for path in spm_files)  # type: ignore[return-value]
    backend = getattr(theirs, "backend_tokenizer", None)
    if not isinstance(backend, tokenizers.Tokenizer):
        raise Refused(f"Its tokenizer ({type(theirs).__name__}) is none of the tokenizers library. It cannot be read.")
    return tokenizers.Tokenizer.from_str(backend.to_str()), None


def marian(folder: Path) -> tuple[tokenizers.Tokenizer, tokenizers.Tokenizer]:
    """`source.spm` and `target.spm`, with the indices of `vocab.json`. Raises: Refused."""
    try:
        vocabulary = read_json(folder / "vocab.json")
        with without_panics():
            return unigram(folder / "source.spm", vocabulary), unigram(folder / "target.spm", vocabulary)
    except FileNotFoundError as error:
        raise Refused(f"Its tokenizer is not complete: {Path(error.filename).name} is missing.") from error
    except Refused:
        raise
    except Exception as error:  # whatever a damaged file leads to
        raise Refused(f"Its tokenizer is damaged ({in_one_line(error)}).") from error


def unigram(path: Path, vocabulary: dict[str, int]) -> tokenizers.Tokenizer:
    """A SentencePiece model whose pieces have the indices of another vocabulary."""
    from transformers.convert_slow_tokenizer import import_protobuf

    proto = import_protobuf().ModelProto()
    proto.ParseFromString(path.read_bytes())
    scores = {piece.piece: piece.score for piece in proto.pieces if piece.type == 1}
    entries = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[entry] for entry in entries] != list(range(len(entries))):
        raise Refused("The indices in vocab.json are not 0, 1, 2 … without a gap.")
    unknown = vocabulary["<unk>"]
    backend = tokenizers.Tokenizer(Unigram([(entry, scores.get(entry, NEVER)) for entry in entries], unk_id=unknown))
    charsmap = proto.normalizer_spec.precompiled_charsmap
    spaces = [normalizers.Strip(), normalizers.Replace(tokenizers.Regex(" {2,}"), " ")]
    backend.normalizer = normalizers.Sequence([*([normalizers.Precompiled(charsmap)] if charsmap else []), *spaces])
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    backend.add_special_tokens([entry for entry in ("<unk>", END, "<pad>") if entry in vocabulary])
    languages = [entry for entry in entries if entry.startswith(">>") and entry.endswith("<<")]
    backend.add_tokens([tokenizers.AddedToken(entry, special=False, normalized=False) for entry in languages])
    backend.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, vocabulary[END])])
    return backend
