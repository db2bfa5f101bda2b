"""A checkpoint becomes a folder of the zoo; a model in memory becomes one of our own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tfmviz import zoo
from tfmviz.huggingface import chat
from tfmviz.huggingface.card import facts_of, summary_text, write_card
from tfmviz.huggingface.check import Site, compare
from tfmviz.huggingface.checkpoint import Checkpoint
from tfmviz.huggingface.encoders import TYPES
from tfmviz.huggingface.families import (
    DEFAULT_LEN,
    check_shapes,
    config_of,
    family_of,
    module_of,
    open_source,
    parameters,
)
from tfmviz.huggingface.source import Files, Memory, Refused, Source
from tfmviz.huggingface.tokens import ends_of, read_tokenizer, tokenizer_of
from tfmviz.huggingface.writing import new_folder, write_weights
from tfmviz.model.config import ModelConfig
from tfmviz.model.device import placed
from tfmviz.model.transformer import parameter_shapes
from tfmviz.record.marks import BARS
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.zoo import ZooModel
from tfmviz.zoo.files import read_module

SENTENCES = (
    "The cat sat on the mat, and the dog ran away.",
    "In 1969, two people walked on the Moon for the first time.",
    "A rose is a rose is a rose.",
)
"""Texts on which a converted model is compared with the original."""

Progress = Callable[[int, int], None]
"""Called with the numbers of finished tensors and of all."""


def convert(hf_model: Any, hf_tokenizer: Any, *, name: str = "converted", max_len: int = DEFAULT_LEN) -> ZooModel:
    """A model of transformers in memory as one of our own, compared with the original, which stays unchanged.

    Args:
        hf_model: with its head, such as `AutoModelForCausalLM.from_pretrained(…)`; without one there are no logits.
        max_len: context of our model.

    Raises:
        source.Refused: the model is of an unknown kind; the message says why.
    """
    theirs, family = hf_model.config, family_of(hf_model.config)
    source = open_source(Memory(hf_model.state_dict()), family)
    config = config_of(theirs, source, family, max_len=max_len)
    tokenizer = tokenizer_of(hf_tokenizer, theirs, getattr(hf_model, "generation_config", None), config)
    config, tokenizer = in_pairs(config, tokenizer, source)
    module = module_of(source, theirs, config, family)
    reference = hf_model if hf_model.dtype == torch.float32 else deepcopy(hf_model).float()
    compare(module, reference, texts_of(tokenizer, config))
    return ZooModel(name=name, config=config, tokenizer=tokenizer, module=placed(module))


def convert_folder(
    checkpoint: Checkpoint,
    place: Path,
    name: str,
    *,
    max_len: int,
    say: Callable[[str], None],
    progress: Progress,
    is_chat: bool = False,
) -> dict[str, Site]:
    """Writes the folder `place / name`, whole or not at all, and returns the largest differences.

    Args:
        is_chat: reads texts as a user's message in the chat template.

    Raises:
        Refused: the model cannot be shown, or differs from the original.
        OSError: it cannot be written.
    """
    with Files(checkpoint.folder) as files:
        source = open_source(files, checkpoint.family)
        config = config_of(checkpoint.theirs, source, checkpoint.family, max_len=max_len)
        check_shapes(source, checkpoint.theirs, config, checkpoint.family)
        theirs = read_tokenizer(checkpoint.folder, checkpoint.theirs)
        tokenizer = tokenizer_of(theirs, checkpoint.theirs, checkpoint.generation, config)
        config, tokenizer = in_pairs(config, tokenizer, source)
        if is_chat:
            tokenizer = _in_chat(tokenizer, theirs, config)
        facts = facts_of(
            config,
            kind=checkpoint.theirs.model_type,
            n_parameters=files.n_numbers,
            tokenizer=tokenizer.kind,
            licence=checkpoint.licence,
        )
        if unknown := ends_of(checkpoint.theirs, checkpoint.generation, config)[1]:
            marks = ", ".join(map(str, unknown))
            facts["left out"] = f"end of text {marks}: the vocabulary has entries 0 to {config.vocab_size - 1}"
        if is_chat:
            around = (*tokenizer.marks.before, *tokenizer.marks.after)
            facts["reads"] = f"a text as a user's message, with {len(around)} tokens of its chat template around it"
        say("\n".join(f"{key + ':':24}{value}" for key, value in facts.items()))
        _check_room(place, files.n_bytes)
        with new_folder(place, name) as folder:
            _write(folder, source, checkpoint, config, tokenizer, progress)
            say("Comparing every pattern, every stream and the logits with transformers …")
            largest = compare(read_module(folder, config), _reference(checkpoint, config), texts_of(tokenizer, config))
            card = write_card(name, origin=checkpoint.origin, facts=facts, largest=largest)
            (folder / "CARD.md").write_text(card, encoding="utf-8")
            _try(folder)
    say("Largest differences:\n" + "\n".join(f"  {line}" for line in summary_text(largest)))
    return largest


def in_pairs(config: ModelConfig, tokenizer: ForeignTokenizer, source: Source) -> tuple[ModelConfig, ForeignTokenizer]:
    """With the separator of two texts, where a model has a vector for each."""
    mark = tokenizer.joins_by
    if not (config.embeddings.segment and source.shape(TYPES)[0] > 1 and mark):
        return config, tokenizer
    embeddings = replace(config.embeddings, separator=mark)
    return replace(config, embeddings=embeddings), tokenizer.with_marks(separator=mark)


def _in_chat(tokenizer: ForeignTokenizer, theirs: Any, config: ModelConfig) -> ForeignTokenizer:
    """The tokenizer with the tokens of the chat template around a message. Raises: Refused."""
    if config.architecture != "decoder-only":
        raise Refused("A chat is read by a decoder alone. Convert it without --chat.")
    before, after = chat.tokens(theirs, tokenizer.ids, SENTENCES)
    if (n_around := len(before) + len(after)) > config.max_len // 2:
        raise Refused(f"Its chat template puts {n_around} tokens around a message: give more room, --max-len.")
    return tokenizer.with_marks(replace(tokenizer.marks, before=before, after=after))


def _try(folder: Path) -> None:
    """Loads the model as the app does. Raises: Refused."""
    try:
        zoo.load(folder.name, folder.parent)
    except zoo.ModelUnavailable as error:
        raise Refused(f"The app would not show the result: {error}") from error


def _write(
    folder: Path,
    source: Source,
    checkpoint: Checkpoint,
    config: ModelConfig,
    tokenizer: ForeignTokenizer,
    progress: Progress,
) -> None:
    shapes = parameter_shapes(config)
    values = parameters(source, checkpoint.theirs, config, checkpoint.family)
    write_weights(folder / "model.safetensors", values, shapes=shapes, say=lambda n: progress(n, len(shapes)))
    (folder / "config.json").write_text(json.dumps(config.to_dict(), indent=2) + "\n", encoding="utf-8")
    tokenizer.save(folder)


def _check_room(place: Path, n_bytes: int) -> None:
    """Raises: OSError, if the disk has no room for a model of this size."""
    nearest = next(path for path in (place, *place.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    if free < 1.1 * n_bytes:
        raise OSError(f"{place} has room for {free / 1e6:,.0f} MB, but the model takes {n_bytes / 1e6:,.0f} MB.")


def texts_of(tokenizer: ForeignTokenizer, config: ModelConfig) -> list[tuple[Tensor, ...]]:
    """The sentences as the model reads them; in an encoder-decoder the one before is the target. Raises: Refused."""
    found, sentences = [], list(SENTENCES)
    if (window := config.attention.window) is not None and window < config.max_len:
        sentences.append(" ".join(SENTENCES * (window // 30 + 1)))  # reaches past it: they have 31 words
    if config.embeddings.separator is not None:
        sentences.append(f"{SENTENCES[0]} {BARS} {SENTENCES[1]}")
    for n, text in enumerate(sentences):
        encodings = [tokenizer.encode(text, max_len=config.max_len)]
        if config.architecture == "encoder-decoder":
            encodings.append(tokenizer.encode_target(SENTENCES[n - 1], max_len=config.max_len))
        if not all(encoding.ids for encoding in encodings):
            raise Refused("Its tokenizer makes no tokens of a sentence.")
        found.append(tuple(torch.tensor([encoding.ids]) for encoding in encodings))
    return found


def _reference(checkpoint: Checkpoint, config: ModelConfig) -> Any:
    import transformers

    which = getattr(transformers, "AutoModel" if config.head == "none" else checkpoint.family.reference)
    return which.from_pretrained(
        checkpoint.folder,
        config=checkpoint.theirs,
        trust_remote_code=False,
        use_safetensors=True,
        local_files_only=True,
        attn_implementation="eager",
        dtype=torch.float32,
    ).eval()
