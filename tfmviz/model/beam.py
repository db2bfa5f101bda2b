"""Beam search: texts grow in parallel, and the best of all their continuations are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import torch
from torch import Tensor

from tfmviz.model.readers import Reader
from tfmviz.record.decoding import BeamStep, Candidate, Fate, Hypothesis


@torch.inference_mode()
def beam_steps(
    reader: Reader,
    text: Sequence[int],
    *,
    width: int,
    length_penalty: float = 1.0,
    ends: Collection[int] = (),
    banned: Collection[int] = (),
    max_new_tokens: int,
) -> Iterator[BeamStep]:
    running, complete = [Hypothesis(ids=(), score=0.0, normalised=0.0)], tuple[Hypothesis, ...]()
    last = min(max_new_tokens, (reader.longest or 2**31) - len(text))
    for length in range(1, last + 1):
        rows = torch.tensor([[*text, *one.ids] for one in running], device=reader.device)  # (running, len)
        logits = reader.read(rows)[:, -1].float().cpu()  # (running, vocab)
        found = _best(logits, running, n=(1 + len(ends)) * width, banned=banned)
        candidates = _judged(found, width=width, ends=ends, is_last=length == last)
        complete = _merged(complete, candidates, running, length**length_penalty, width=width)
        going = [candidate for candidate in candidates if candidate.fate == "goes on"]
        running = [_extended(running[one.parent], one, length**length_penalty) for one in going]
        yield BeamStep(length=length, candidates=candidates, running=tuple(running), complete=complete)
        if not running or (len(complete) == width and running[0].normalised <= complete[-1].normalised):
            return
        reader.keep(torch.tensor([one.parent for one in going], device=reader.device))


def _best(
    logits: Tensor, running: Sequence[Hypothesis], *, n: int, banned: Collection[int]
) -> list[tuple[int, int, float, float]]:
    """The n best continuations of all running texts: parent, token, its log-probability, total score."""
    new = logits.log_softmax(dim=-1)  # (running, vocab)
    new[:, list(banned)] = -torch.inf
    scores = new + torch.tensor([[one.score] for one in running])  # (running, vocab)
    found = scores.flatten().topk(min(n, scores.numel()))
    parents, tokens = found.indices // scores.shape[1], found.indices % scores.shape[1]
    return list(
        zip(parents.tolist(), tokens.tolist(), new[parents, tokens].tolist(), found.values.tolist(), strict=True)
    )


def _judged(
    best: Sequence[tuple[int, int, float, float]], *, width: int, ends: Collection[int], is_last: bool
) -> tuple[Candidate, ...]:
    found, n_going = [], 0
    for rank, (parent, token, log_probability, score) in enumerate(best):
        fate: Fate
        if token in ends or is_last:
            fate = "complete" if rank < width else "dropped"
        else:
            fate = "goes on" if n_going < width else "dropped"
            n_going += 1
        found.append(Candidate(parent=parent, token=token, log_probability=log_probability, score=score, fate=fate))
    return tuple(found)


def _extended(parent: Hypothesis, candidate: Candidate, divisor: float) -> Hypothesis:
    ids = (*parent.ids, candidate.token)
    return Hypothesis(ids=ids, score=candidate.score, normalised=candidate.score / divisor)


def _merged(
    complete: Sequence[Hypothesis],
    candidates: Sequence[Candidate],
    running: Sequence[Hypothesis],
    divisor: float,
    *,
    width: int,
) -> tuple[Hypothesis, ...]:
    new = [_extended(running[one.parent], one, divisor) for one in candidates if one.fate == "complete"]
    return tuple(sorted([*complete, *new], key=lambda one: -one.normalised)[:width])
