"""Measurements of a finished model on held-out text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from tfmviz.constants import MASK
from tfmviz.model import generate, seq2seq
from tfmviz.model.device import batch_for
from tfmviz.model.labeller import Labeller
from tfmviz.model.seq2seq import Seq2Seq
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, EncoderOnly
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.training.data import Batch
from tfmviz.training.loop import on_device
from tfmviz.training.losses import IGNORED
from tfmviz.training.sequences import lengths_of, padded

TOGETHER = 64
"""Texts translated in parallel."""


def unigram_cross_entropy(train: np.ndarray, held_out: np.ndarray, *, vocab_size: int) -> float:
    """Cross-entropy of a model that knows only token frequencies, in nats per token.

    Its probabilities are training counts plus one, over their sum.
    """
    counts = np.bincount(train, minlength=vocab_size) + 1.0
    return float(-np.log(counts / counts.sum())[held_out].mean())


def bits_per_byte(nats_per_token: float, *, stream: np.ndarray, n_bytes: int) -> float:
    """Converts a cross-entropy to bits per byte of text, comparable across tokenizers.

    Args:
        stream: (tokens,), whose end-of-text tokens count as one byte each.
        n_bytes: length of the documents in UTF-8.
    """
    return nats_per_token * len(stream) / math.log(2) / (n_bytes + int((stream == END).sum()))


@torch.inference_mode()
def loss_by_position(model: DecoderOnly, stream: np.ndarray, *, length: int, max_windows: int = 256) -> np.ndarray:
    """Mean next-token cross-entropy at each position of windows longer than those in training (Press et al. 2022).

    All positions are measured on the same windows, so a rise is due to the position.

    Args:
        stream: (tokens,).

    Returns:
        (length,), nats per token. If positions are a table, the array ends with it.
    """
    model.eval()
    read = min(length, model.config.max_len) if model.config.scheme.table else length
    n_windows = min((len(stream) - 1) // length, max_windows)
    if n_windows < 1:
        raise ValueError(f"The held-out text has {len(stream)} tokens; one window needs {length + 1}.")
    total = np.zeros(read)
    for window in range(n_windows):
        ids = torch.from_numpy(stream[window * length :][: read + 1].astype(np.int64))
        total += F.cross_entropy(model(ids[None, :-1])[0], ids[1:], reduction="none").double().numpy()
    return total / n_windows


@dataclass(frozen=True, kw_only=True, slots=True)
class MaskedAccuracy:
    """Share of hidden tokens that are the first guess, or among the first five."""

    top_1: float
    top_5: float
    n_masked: int


@torch.inference_mode()
def masked_accuracy(model: EncoderOnly, pieces: Sequence[Sequence[int]], *, seed: int = 0) -> MaskedAccuracy:
    """Lets the model guess the masked tokens of `hidden`."""
    model.eval()
    rng, device = np.random.default_rng(seed), next(model.parameters()).device
    n_masked = n_first = n_among_five = 0
    for first in range(0, len(pieces), 32):
        ids, targets = hidden(pieces[first : first + 32], rng)
        inputs, wanted = on_device((ids, targets), device)
        asked = wanted != IGNORED
        guesses = model(**inputs)[asked].topk(5, dim=-1).indices  # (asked, 5)
        right = guesses == wanted[asked][:, None]
        n_masked += len(right)
        n_first += int(right[:, 0].sum())
        n_among_five += int(right.sum())
    return MaskedAccuracy(top_1=n_first / n_masked, top_5=n_among_five / n_masked, n_masked=n_masked)


def hidden(rows: Sequence[Sequence[int]], rng: np.random.Generator) -> Batch:
    """The rows as a batch, with 15 % of each, at least one token, masked."""
    ids = padded(rows, fill=END)
    targets = np.full_like(ids, IGNORED)
    for index, row in enumerate(rows):
        places = rng.permutation(len(row))[: max(1, round(0.15 * len(row)))]
        targets[index, places] = ids[index, places]
        ids[index, places] = MASK
    return {"ids": ids, "lengths": lengths_of(rows)}, targets


def translations(model: EncoderDecoder | Seq2Seq, tokenizer: Tokenizer, sources: Iterable[str]) -> list[str]:
    """Greedy translations, in batches of similar length."""
    model.eval()
    longest = model.config.max_len
    rows = [ids[:longest] for ids in tokenizer.encode_batch(list(sources))]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    written = [""] * len(rows)
    for first in range(0, len(order), TOGETHER):
        part = order[first : first + TOGETHER]
        src, lengths = batch_for(model, [rows[i] for i in part])
        if isinstance(model, Seq2Seq):
            found = seq2seq.translate_batch(model, src, lengths, mark=END, max_new_tokens=longest)
        else:
            found = generate.translate_batch(model, src, lengths, begin=(END,), ends=(END,), max_new_tokens=longest)
        for i, ids in zip(part, found, strict=True):
            written[i] = tokenizer.decode(ids)
    return written


@torch.inference_mode()
def label_accuracy(model: Labeller, batches: Iterable[Batch]) -> float:
    """Share of all tokens whose most probable label is right."""
    model.eval()
    device = next(model.parameters()).device
    hits = []
    for batch in batches:
        inputs, targets = on_device(batch, device)
        hits.append((model(**inputs).argmax(dim=-1) == targets).flatten())
    return torch.cat(hits).float().mean().item()


def exact_match(written: Sequence[str], wanted: Sequence[str]) -> float:
    return sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
