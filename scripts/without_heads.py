"""A model's rise in loss without each of its heads, token by token; for `scripts.find_heads`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tfmviz import zoo
from tfmviz.analysis import ablation, forming
from tfmviz.analysis.biography.claims import Claim
from tfmviz.analysis.biography.kinds import KINDS, Frequencies, cells
from tfmviz.analysis.heads import allowed, random_repeats
from tfmviz.record.trace import Array, Trace
from tfmviz.zoo import ZooModel

REPEATS = 40
"""Texts of random tokens that come twice on which a claim is tested; it is made on as many others."""

MASKED_EVERY = 7
"""In a model that fills in words, so many tokens have one that is hidden."""


def answer(model: ZooModel, text: str) -> tuple[int, ...] | None:
    """The input of a translator's decoder: the model's own translation. None for all other models."""
    if model.config.architecture != "encoder-decoder":
        return None
    return zoo.writing.translations(model, [text])[0]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Lost:
    """By how many nats the loss of each token rises without each head.

    Attributes:
        rises: per layer (head, token) over all texts.
        where: per layer (head, token): whether the head gives at least half of its attention to what it is said to
            look at.
        text, place: of each token: line of the file, and position.
        twice: per layer (head,), in the second half of random tokens that come twice, on average.
    """

    n_texts: int
    rises: dict[str, Array]
    where: dict[str, Array]
    text: Array
    place: Array
    twice: dict[str, Array]


def damages(
    model: ZooModel,
    texts: Sequence[tuple[int, str]],
    made: dict[str, list[Claim | None]],
    frequencies: Frequencies,
) -> Lost:
    """Reads some texts, each with its line in the file, without each head in turn."""
    rises: dict[str, list[Array]] = {layer: [] for layer in made}
    where: dict[str, list[Array]] = {layer: [] for layer in made}
    places: list[tuple[int, int]] = []
    n_texts = 0
    for index, text in texts:
        inputs, target = (
            text if model.config.architecture != "encoder-only" else hidden(model, text),
            answer(model, text),
        )
        trace = model.trace(inputs, target=target)
        if (question := asked(model, trace, text)) is None:
            continue
        n_texts += 1
        places += [(index, position) for position in question.positions]
        run = partial(zoo.experiments.logits_under, model, inputs, target=target)
        before = _losses(trace.rows("logits", question.positions), question)
        for layer in trace.layers:
            n_heads = len(trace[f"{layer}.pattern"])
            parts = [part for part in ablation.parts_of(trace) if part.kind == "head" and part.sites == (f"{layer}.z",)]
            rows = run([part.scaled(0.0) for part in parts], question.positions)
            rises[layer].append(_losses(rows, question) - before)
            where[layer].append(_where(trace, layer, made[layer], frequencies, question, n_heads))
    text_of, place = np.array(places).T
    return Lost(
        n_texts=n_texts,
        rises={layer: np.concatenate(rows, axis=1) for layer, rows in rises.items()},
        where={layer: np.concatenate(rows, axis=1) for layer, rows in where.items()},
        text=text_of,
        place=place,
        twice=damage_twice(model),
    )


def hidden(model: ZooModel, text: str) -> list[int]:
    """The tokens of a text with some of them hidden, for a model that fills them in."""
    ids, mask = list(model.encode(text).ids), model.tokenizer.marks.mask
    assert mask is not None
    for position in range(MASKED_EVERY // 2, len(ids), MASKED_EVERY):
        ids[position] = mask
    return ids


def asked(model: ZooModel, trace: Trace, text: str) -> ablation.Question | None:
    """The tokens to predict: the next token everywhere, or those that are hidden. None: nothing."""
    if model.config.architecture == "encoder-only":
        ids, mask = model.encode(text).ids, model.tokenizer.marks.mask
        places = tuple(n for n, token in enumerate(trace.target.ids) if token == mask)
        return ablation.Question(positions=places, answers=tuple(ids[n] for n in places)) if places else None
    return ablation.whole_text(trace.target.ids) if len(trace.target) > 1 else None


def _losses(rows: Array, question: ablation.Question) -> Array:
    """−log p(answer) at each position: (…, position)."""
    shifted = rows.astype(np.float64) - rows.max(axis=-1, keepdims=True)
    said = shifted[..., np.arange(len(question.answers)), list(question.answers)]
    return np.log(np.exp(shifted).sum(axis=-1)) - said


def _where(
    trace: Trace, layer: str, made: Sequence[Claim | None], frequencies: Frequencies, asked: ablation.Question, n: int
) -> Array:
    """(head, position): whether a head gives at least half of its attention to what it is said to look at."""
    queries, keys = trace.axes(layer)
    if queries is not trace.target:
        return np.zeros((n, len(asked.positions)), dtype=bool)  # of an encoder, whose tokens predict nothing
    pattern = trace[f"{layer}.pattern"]
    of_kind = cells(queries, keys, np.broadcast_to(allowed(trace, layer), pattern.shape[1:]), frequencies)
    found = np.zeros((n, len(asked.positions)), dtype=bool)
    for head, claim in enumerate(made):
        if claim is not None and claim.kind in KINDS:
            share = (pattern[head] * of_kind[KINDS.index(claim.kind)]).sum(axis=-1)
            found[head] = share[list(asked.positions)] >= 0.5
    return found


def damage_twice(model: ZooModel) -> dict[str, Array]:
    """By how much the loss of tokens that come again rises without each head; none but for language models."""
    if model.config.architecture != "decoder-only":
        return {}
    found: dict[str, list[Array]] = {}
    for ids in repeats(model)[REPEATS:]:
        trace = model.trace(ids)
        heads = [part for part in ablation.parts_of(trace) if part.kind == "head"]
        run = partial(zoo.experiments.logits_under, model, ids)
        lost = forming.damage(trace, forming.second_time(ids), run, heads)
        for layer in trace.layers:
            found.setdefault(layer, []).append(lost[[part.sites == (f"{layer}.z",) for part in heads]])
    return {layer: np.mean(rows, axis=0) for layer, rows in found.items()}


def repeats(model: ZooModel) -> list[tuple[int, ...]]:
    """Random tokens that come twice, always the same: `REPEATS` to make claims on, then as many to test them on."""
    vocab_size, max_len = model.config.vocab_size, model.config.max_len
    return [random_repeats(vocab_size=vocab_size, max_len=max_len, seed=seed) for seed in range(1, 2 * REPEATS + 1)]
