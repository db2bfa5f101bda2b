"""A checkpoint before it is converted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tfmviz.huggingface.families import FAMILIES, family_of
from tfmviz.huggingface.family import Family
from tfmviz.huggingface.refusals import not_converted
from tfmviz.huggingface.source import Refused, in_one_line, shards
from tfmviz.huggingface.tokens import FILES as TOKENIZER_FILES
from tfmviz.zoo.limits import MOST_JSON, MOST_SETTINGS, check_counts, check_file, check_size, read_json

SMALL = ("*.json", "*.model", "*.spm", "vocab.txt", "merges.txt", "chat_template.jinja", "README.md")
"""The files besides the weights."""

WEIGHTS = "model*.safetensors"
"""The weights; some models hold them a second time under another name."""

SETTINGS = ("config.json", "generation_config.json", "tokenizer_config.json")
"""The files that transformers reads as settings; the last may list many special tokens."""

PLAIN = re.compile(r"[\w.-]+")
"""Names that are fetched: no folders, no patterns."""

GATED = "GatedRepo"
"""The Hub's message if terms must be accepted first."""

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """A folder with a checkpoint.

    Attributes:
        theirs: their configuration, with all defaults.
        generation: their settings for writing.
        origin: the folder, or the name on the Hub and the commit.
        licence: from the card, or "not stated".
    """

    folder: Path
    family: Family
    theirs: Any
    generation: Any
    origin: str
    licence: str


def open_checkpoint(
    given: str, *, say: Callable[[str], None], most: float = math.inf, is_look: bool = False
) -> Checkpoint:
    """A folder or, if there is none of that name, a model fetched from the Hub.

    Args:
        say: told the kind, and the files to be fetched.
        most: most bytes of weights.
        is_look: fetches only the small files.

    Raises:
        Refused: there is no such model, or its type is unknown, or it is too large.
    """
    folder = Path(given).expanduser()
    if folder.is_dir():
        found = _described(folder, origin=str(folder))
        _check_size(n_bytes := sum(path.stat().st_size for path in shards(folder) if path.is_file()), most)
        if is_look:
            say(_in_short(found, n_bytes=n_bytes))
        return found
    if not HUB_ID.fullmatch(given):
        raise Refused(f"There is no folder {given}, and it is no name of a model on the Hub either.")
    return _fetched(given, say, most, is_look)


def _check_size(n_bytes: int, most: float) -> None:
    if n_bytes > most:
        raise Refused(f"Its weights take {n_bytes / 1e6:,.0f} MB, where {most / 1e6:,.0f} MB are the most.")


def _described(folder: Path, *, origin: str) -> Checkpoint:
    from transformers import AutoConfig, GenerationConfig

    check_files(folder)
    check_type(folder)
    try:
        theirs = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # whatever a damaged file leads to
        raise Refused(f"Its config.json cannot be read ({in_one_line(error)}).") from error
    try:
        generation = GenerationConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError):
        generation = None
    theirs._attn_implementation = "eager"  # theirs may name code to fetch; ours is compared with what gives patterns
    return Checkpoint(
        folder=folder,
        family=family_of(theirs),
        theirs=theirs,
        generation=generation,
        origin=origin,
        licence=licence_of(folder / "README.md"),
    )


def check_files(folder: Path) -> None:
    """Checks all files before transformers opens any.

    Raises:
        Refused: one is no regular file, is too large for its kind, or would fill the memory.
    """
    for path in folder.iterdir():
        if any(fnmatchcase(path.name, pattern) for pattern in SMALL):
            check_file(path, _most(path.name))
        elif fnmatchcase(path.name, WEIGHTS):
            check_file(path, math.inf)
    for name in SETTINGS:
        with suppress(FileNotFoundError):
            check_counts(read_json(folder / name), name)


def _most(name: str) -> float:
    """Most bytes of a file of that name."""
    return MOST_SETTINGS if name in SETTINGS[:2] else MOST_JSON


def check_type(folder: Path) -> None:
    """Reads the type first, so that no code of the folder ever runs.

    Raises:
        Refused: there is no configuration, or its type is unknown.
    """
    try:
        config = read_json(folder / "config.json")
        kind = config.get("model_type")
    except FileNotFoundError as error:
        raise Refused(f"{folder} holds no config.json, so it is not a checkpoint of transformers.") from error
    except AttributeError as error:
        raise Refused("config.json holds no settings by name.") from error
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise Refused(not_converted(config, FAMILIES))


def licence_of(card: Path) -> str:
    try:
        head = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8"), re.DOTALL)
    except (OSError, UnicodeDecodeError):
        return "not stated"
    found = head and re.search(r"^license:\s*['\"]?([\w.-]{1,64})", head.group(1), re.MULTILINE)
    return found.group(1) if found else "not stated"


def _fetched(name: str, say: Callable[[str], None], most: float, is_look: bool) -> Checkpoint:
    """From the library's store, else from the Hub: the small files, then the weights.

    The next call continues an interrupted download.
    """
    from huggingface_hub import HfApi, snapshot_download

    folder, about = Path(), None
    with suppress(Exception):  # whatever an empty store leads to
        folder = Path(snapshot_download(name, local_files_only=True))
    if folder.name and _is_whole(folder):
        found = _described(folder, origin=f"{name}, commit {folder.name}")
        _check_size(n_bytes := sum(path.stat().st_size for path in shards(folder) if path.is_file()), most)
        if is_look:
            say(_in_short(found, n_bytes=n_bytes))
        return found
    try:
        about = HfApi().model_info(name, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in about.siblings or [] if PLAIN.fullmatch(file.rfilename)}
        small = [file for file in sizes if any(fnmatchcase(file, pattern) for pattern in SMALL)]
        weights = [file for file in sizes if fnmatchcase(file, WEIGHTS)]
        for file in small:
            check_size(file, sizes[file], _most(file))
        origin = f"{name}, commit {about.sha}"
        found = _described(Path(snapshot_download(name, revision=about.sha, allow_patterns=small)), origin=origin)
        if not weights:
            raise Refused(without_safetensors(name))
        _check_size(n_bytes := sum(sizes[file] for file in weights), most)
        say(_in_short(found, n_bytes=n_bytes))
        if is_look:
            return found
        say(f"Fetching {n_bytes / 1e6:,.0f} MB …")
        snapshot_download(name, revision=about.sha, allow_patterns=[*small, *weights])
        for file in weights:
            _check_whole(found.folder / file, sizes[file])
    except Refused:
        raise
    except Exception as error:  # the library passes on what its own libraries raise when there is no network
        raise Refused(_why_not(name, error, is_found=about is not None)) from error
    return found


def _check_whole(path: Path, n_bytes: int) -> None:
    """Raises: OSError, if a file is not as long as the Hub says; it is removed."""
    if (found := path.stat().st_size) != n_bytes:
        path.resolve().unlink()
        raise OSError(f"{path.name} has {found:,} bytes in place of {n_bytes:,}")


def _why_not(name: str, error: Exception, *, is_found: bool) -> str:
    """Advice to the reader after a failed download."""
    sentence = in_one_line(error)
    answers = [found for one in (error, error.__cause__) if (found := getattr(one, "response", None)) is not None]
    if any(answer.status_code == 403 or answer.headers.get("X-Error-Code") == GATED for answer in answers):
        return (
            f"The Hub gives {name} to those who have accepted its terms: do so on its page, then run `hf auth login`."
        )
    if is_found:
        return f"The download of {name} broke off ({sentence}). Files that are whole are kept: try again."
    return (
        f"There is no folder {name}, and the Hub gave no model of that name ({sentence}). Without a network, give the "
        "path of a folder with the model's files."
    )


def _is_whole(folder: Path) -> bool:
    try:
        return all(path.is_file() for path in shards(folder))
    except Refused:
        return False


def _in_short(found: Checkpoint, *, n_bytes: int) -> str:
    theirs = found.theirs
    shape = " × ".join(
        str(getattr(theirs, key, "?")) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size")
    )
    tokenizer = next((name for name in TOKENIZER_FILES if (found.folder / name).is_file()), "none")
    return (
        f"{found.origin}: {theirs.model_type}, layers × heads × width {shape}, tokenizer {tokenizer}, licence "
        f"{found.licence}, {n_bytes / 1e6:,.1f} MB."
    )


def without_safetensors(name: str) -> str:
    return f"{name} has no weights in safetensors files. Other files may run code when they are opened; see README.md."
