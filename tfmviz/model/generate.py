"""Continuing and translating texts, token by token. No token is read twice: see `Cache`."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import assert_never

import torch
from torch import Tensor

from tfmviz.model.build import Earlier
from tfmviz.model.device import ids_for
from tfmviz.model.readers import Reader, TargetReader, TextReader, WholeReader
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, EncoderOnly, Transformer
from tfmviz.record.decoding import GREEDY, Rules, Sample, Step, choose, kept_of, number_for
from tfmviz.record.tap import NO_TAP, Tap


@torch.inference_mode()
def steps(
    reader: Reader,
    text: Sequence[int],
    *,
    rules: Rules = GREEDY,
    seed: int = 0,
    given: Sequence[int] = (),
    ends: Collection[int] = (),
    max_new_tokens: int,
) -> Iterator[Step]:
    """Generates tokens up to and including one of `ends`.

    Args:
        text: at least one token; for a translation, its start token.
        seed: a draw depends only on it and on the position.
        given: the first tokens, read in one pass with the text.
        max_new_tokens: includes the given ones.
    """
    read, waiting = list(text), list(given)
    rows: deque[Tensor] = deque()
    for place in range(len(text), min(len(text) + max_new_tokens, reader.longest or 2**31)):
        n_read = 0 if rows else _read_on(reader, read, waiting, rows)
        logits = rows.popleft().float().cpu().numpy()  # (vocab,)
        is_given = bool(waiting)
        number = None if is_given or rules.temperature == 0 else number_for(seed, place)
        token = waiting.pop(0) if is_given else choose(logits, rules, seen=read, number=number)
        yield Step(
            place=place,
            token=token,
            logits=logits,
            rules=rules,
            seen=tuple(read),
            number=number,
            given=is_given,
            n_read=n_read,
            n_cached=min(reader.n_cached, place),
        )
        if token in ends:
            return
        read.append(token)


def _read_on(reader: Reader, text: Sequence[int], given: Sequence[int], rows: deque[Tensor]) -> int:
    """Reads the text and as much of `given` as fits; appends the logits (vocab,) of each next token."""
    fitting = given[: max(0, reader.context - len(text))]
    logits = reader.read(torch.tensor([[*text, *fitting]], device=reader.device), last=1 + len(fitting))[0]
    rows.extend(row.clone() for row in logits)  # a slice would keep all logits alive as long as its step
    return reader.n_read


@torch.inference_mode()
def samples(
    reader: Reader,
    text: Sequence[int],
    *,
    rules: Sequence[Rules],
    seed: int,
    ends: Collection[int] = (),
    max_new_tokens: int,
) -> tuple[Sample, ...]:
    """Several samples in parallel, one forward pass per token; sample r equals `steps` with seed + r."""
    count = len(rules)
    found: list[list[int]] = [[] for _ in rules]
    log_p: list[list[float]] = [[] for _ in rules]
    rows = torch.tensor([text], device=reader.device)  # (row, len)
    for place in range(len(text), min(len(text) + max_new_tokens, reader.longest or 2**31)):
        going = [r for r, tokens in enumerate(found) if not tokens or tokens[-1] not in ends]
        if not going:
            break
        new = reader.read(rows)[:, -1].float().cpu().log_softmax(dim=-1).expand(count, -1).numpy()  # (row, vocab)
        if len(rows) == 1:
            rows = rows.expand(count, -1)
            reader.keep(torch.zeros(count, dtype=torch.long, device=reader.device))
        for r in going:
            tokens, scores = found[r], new[r]
            number = None if rules[r].temperature == 0 else number_for(seed + r, place)
            tokens.append(choose(scores, rules[r], seen=[*text, *tokens], number=number))
            log_p[r].append(float(scores[tokens[-1]]))
        rows = torch.cat((rows, torch.tensor([[tokens[-1]] for tokens in found], device=reader.device)), dim=1)
    return tuple(Sample(ids=tuple(a), log_probabilities=tuple(b)) for a, b in zip(found, log_p, strict=True))


@torch.inference_mode()
def reader_of(
    module: Transformer, ids: Sequence[int], *, begin: Sequence[int], tap: Tap, at: int | None = None
) -> tuple[Reader, list[int]]:
    """A reader for a model, and its first tokens: the text, or `begin` if the text is a source.

    Args:
        at: the only position of a translation at which the tap acts.

    Raises:
        ValueError: the model only fills in words, or does not translate although `at` is given.
    """
    match module:
        case DecoderOnly() if at is not None:
            raise ValueError("Only while a model translates can it be edited at one position alone.")
        case DecoderOnly():
            return TextReader(module, tap), list(ids)
        case EncoderDecoder():
            return TargetReader(module, ids_for(module, ids), tap, at=at), list(begin)
        case EncoderOnly():
            raise ValueError(f"A model that is {module.config.architecture} fills in words: it does not write text.")
        case _:
            assert_never(module)


def with_room(reader: Reader, text: Sequence[int], new: int) -> Sequence[int]:
    """The end of a text to which `new` tokens can be added; see `kept_of`."""
    return text if reader.longest is not None else text[-kept_of(reader.context, new) :]


def continue_ids(
    model: DecoderOnly | Earlier,
    ids: Tensor,
    *,
    ends: Collection[int] = (),
    max_new_tokens: int,
    temperature: float = 0.0,
    seed: int = 0,
    tap: Tap = NO_TAP,
) -> Tensor:
    """Appends tokens to a text, stopping before any of `ends`.

    Args:
        ids: (len,), at least one token.
        temperature: 0 takes the most probable token.

    Returns:
        (at most len + max_new_tokens,). Of a text beyond the model's context only the end is read.
    """
    rules = replace(GREEDY, temperature=temperature)
    reader = TextReader(model, tap) if isinstance(model, DecoderOnly) else WholeReader(model, tap)
    found = steps(reader, ids.tolist(), rules=rules, seed=seed, ends=ends, max_new_tokens=max_new_tokens)
    return torch.cat((ids, torch.tensor(without(ends, found), dtype=ids.dtype, device=ids.device)))


def translate_ids(
    model: EncoderDecoder,
    src: Tensor,
    *,
    start: int,
    first: int | None = None,
    ends: Collection[int],
    max_new_tokens: int,
    temperature: float = 0.0,
    seed: int = 0,
    tap: Tap = NO_TAP,
) -> Tensor:
    """Translates a text, stopping before any of `ends`.

    Args:
        src: (k_len,), at least one token.
        first: the token after `start`, such as a language token.

    Returns:
        (at most max_new_tokens,), without `start` and end.
    """
    with torch.inference_mode():
        reader = TargetReader(model, src, tap)
    found = steps(
        reader,
        [start],
        rules=replace(GREEDY, temperature=temperature),
        seed=seed,
        given=() if first is None else (first,),
        ends=ends,
        max_new_tokens=max_new_tokens,
    )
    return torch.tensor(without(ends, found), dtype=src.dtype, device=src.device)


@torch.inference_mode()
def translate_batch(
    model: EncoderDecoder,
    src: Tensor,
    src_lengths: Tensor,
    *,
    begin: Sequence[int],
    ends: Collection[int],
    max_new_tokens: int,
) -> list[list[int]]:
    """Greedy translations, without `begin` and end, one forward pass per token.

    They equal those of `steps` up to rounding: padding changes the last digits of the logits.

    Args:
        src: (batch, k_len), of which the first src_lengths tokens count.
    """
    reader = TargetReader(model, src, src_lengths=src_lengths)
    rows, marks = src.new_tensor([begin]).expand(len(src), -1), src.new_tensor(list(ends))
    for _ in range(min(max_new_tokens, reader.longest - len(begin))):
        rows = torch.cat((rows, reader.read(rows).argmax(dim=-1)), dim=1)
        if torch.isin(rows[:, len(begin) :], marks).any(dim=1).all():
            break
    return [list(takewhile(lambda token: token not in ends, row)) for row in rows[:, len(begin) :].tolist()]


def without(ends: Collection[int], found: Iterator[Step]) -> list[int]:
    return [step.token for step in found if step.token not in ends]
