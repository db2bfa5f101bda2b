"""Greedy writing and beam search: token by token what transformers writes, and the laws of the tree."""

from contextlib import ExitStack
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GenerationMixin

from tests.cases import each
from tests.huggingface.models import VOCAB as THEIR_VOCAB
from tests.huggingface.models import tiny
from tests.huggingface.test_parity import converted
from tests.model.helpers import lively_model, token_ids
from tests.model.sizes import SCHEMES
from tfmviz.model.beam import beam_steps
from tfmviz.model.cache import Cache
from tfmviz.model.generate import reader_of, steps
from tfmviz.model.transformer import DecoderOnly, Transformer
from tfmviz.record.decoding import BeamStep, Hypothesis, way_to
from tfmviz.record.tap import NO_TAP

MARK = 0
"""Begins and ends every target."""


TEXTS = tuple(token_ids(4, batch=5, seed=11).tolist())
ENDS = tuple(range(2, 62))
"""Marks that end texts, so many that the random models write one sooner or later and texts differ in length."""


@pytest.fixture(scope="module")
def theirs() -> dict[str, GenerationMixin]:
    """Random models of transformers, all of whose weights matter."""
    return {"writer": tiny("gpt2"), "translator": tiny("t5")}


@pytest.fixture(scope="module")
def writer(theirs: dict[str, GenerationMixin]) -> Transformer:
    return converted(theirs["writer"])


@pytest.fixture(scope="module")
def translator(theirs: dict[str, GenerationMixin]) -> Transformer:
    return converted(theirs["translator"])


def search(model: Transformer, text: list[int], **how: Any) -> list[BeamStep]:
    reader, start = reader_of(model, text, begin=[MARK], tap=NO_TAP)
    return list(beam_steps(reader, start, **how))


def greedy(model: Transformer, text: list[int], **how: Any) -> list[int]:
    reader, start = reader_of(model, text, begin=[MARK], tap=NO_TAP)
    return [step.token for step in steps(reader, start, **how)]


def their_texts(model: GenerationMixin, text: list[int], prompt: int, **how: Any) -> tuple[list[list[int]], Any]:
    """What transformers writes after the prompt, each text up to its mark, and the scores of a beam search."""
    how |= {"do_sample": False, "return_dict_in_generate": True, "output_scores": True, "pad_token_id": THEIR_VOCAB - 1}
    ids = torch.tensor([text])
    found: Any = model.generate(ids, attention_mask=torch.ones_like(ids), **how)
    texts = []
    for row in found.sequences[:, prompt:].tolist():
        ends = [n for n, token in enumerate(row, start=1) if token in how["eos_token_id"]]
        texts.append(row[: ends[0]] if ends else row)
    return texts, found.get("sequences_scores")


def assert_same_texts(found: BeamStep, expected: list[list[int]], scores: Tensor) -> None:
    assert [list(one.ids) for one in found.complete] == expected
    torch.testing.assert_close(torch.tensor([one.normalised for one in found.complete]), scores, rtol=1e-4, atol=1e-4)


PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)


@each("width", [2, 3, 4, 5])
@each("kind, prompt, most", [("writer", 4, 9), ("translator", 1, 11)])  # tokens: of the prompt, at most written
def test_all_texts_of_a_beam_search_are_those_of_transformers(
    theirs: dict[str, GenerationMixin], kind: str, prompt: int, most: int, width: int
) -> None:
    model, lengths = converted(theirs[kind]), set()
    for text, length_penalty in product(TEXTS, PENALTIES):
        how = {"max_new_tokens": most, "length_penalty": length_penalty}
        beams = {"num_beams": width, "num_return_sequences": width, "eos_token_id": list(ENDS)}
        expected, scores = their_texts(theirs[kind], text, prompt, **beams, **how)
        assert_same_texts(search(model, text, width=width, ends=ENDS, **how)[-1], expected, scores)
        lengths |= {len(one) for one in expected}
    assert len(lengths) > 3


def test_banned_tokens_are_left_out_as_transformers_leaves_them_out(
    writer: Transformer, theirs: dict[str, GenerationMixin]
) -> None:
    how: dict[str, Any] = {"width": 3, "ends": ENDS, "max_new_tokens": 9}
    for text in TEXTS:
        banned = search(writer, text, **how)[-1].complete[0].ids[:2]
        beams = {"num_beams": 3, "num_return_sequences": 3, "eos_token_id": list(ENDS), "suppress_tokens": banned}
        expected, scores = their_texts(theirs["writer"], text, 4, max_new_tokens=9, **beams)
        found = search(writer, text, banned=banned, **how)[-1]
        assert_same_texts(found, expected, scores)
        assert not set(banned) & {token for one in found.complete for token in one.ids}


def score_of(model: Transformer, text: list[int], found: Hypothesis) -> float:
    """The log-probability of a text, from one forward pass without a cache."""
    new = list(found.ids)
    if isinstance(model, DecoderOnly):
        logits = model(torch.tensor([text + new]))[0, len(text) - 1 : -1]
    else:
        logits = model(torch.tensor([text]), torch.tensor([[MARK, *new]]))[0, :-1]
    return float(logits.log_softmax(dim=-1)[torch.arange(len(new)), torch.tensor(new)].sum())


@each("scheme", SCHEMES)
@each("architecture", ["decoder-only", "encoder-decoder"])
@torch.inference_mode()
def test_every_score_is_that_of_its_text_and_one_beam_writes_what_greedy_writes(architecture: str, scheme: str) -> None:
    model, how = lively_model(architecture=architecture, positions=scheme), {"ends": ENDS, "max_new_tokens": 8}
    for text in TEXTS:
        (only,) = search(model, text, width=1, length_penalty=0.8, **how)[-1].complete
        assert list(only.ids) == greedy(model, text, **how)
    for text in TEXTS[:2]:
        for step in search(model, text, width=3, length_penalty=0.7, **how):
            for one in (*step.running, *step.complete):
                assert one.score == pytest.approx(score_of(model, text, one), abs=1e-4)
                assert one.normalised == pytest.approx(one.score / len(one.ids) ** 0.7, abs=1e-5)


def test_the_way_to_a_text_adds_up_to_its_score(writer: Transformer) -> None:
    found = search(writer, TEXTS[0], width=3, ends=ENDS, max_new_tokens=7)
    texts: list[tuple[int, ...]] = [()]  # that run
    fates = set()
    for step in found:
        scores = [candidate.score for candidate in step.candidates]
        assert scores == sorted(scores, reverse=True)
        going = [(*texts[one.parent], one.token) for one in step.candidates if one.fate == "goes on"]
        assert going == [one.ids for one in step.running]
        for candidate in step.candidates:
            ids = (*texts[candidate.parent], candidate.token)
            way = way_to(ids, found)
            assert way is not None
            assert [one.token for one in way] == list(ids)
            assert way[-1] is candidate
            assert sum(one.log_probability for one in way) == pytest.approx(candidate.score, abs=1e-4)
            if candidate.fate != "goes on":
                assert way_to((*ids, ids[-1]), found) is None
            fates.add(candidate.fate)
        texts = going
    assert fates == {"goes on", "complete", "dropped"}
    assert way_to((), found) is None
    unseen = next(token for token in range(THEIR_VOCAB) if token not in {one.token for one in found[0].candidates})
    assert way_to((unseen,), found) is None


def test_the_encoder_runs_once_and_every_token_is_read_once(translator: Transformer) -> None:
    read: list[int] = []
    with ExitStack() as hooks:
        for name in ("encoder", "decoder.blocks.0.self_attn.W_K", "decoder.blocks.0.cross_attn.W_K"):
            module = translator.get_submodule(name)
            hooks.enter_context(module.register_forward_hook(lambda _, given, __: read.append(given[0].shape[1])))
        found = search(translator, TEXTS[0], width=3, ends=(), max_new_tokens=9)
    assert sorted(filter(None, read), reverse=True) == [len(TEXTS[0])] * 2 + [1] * len(found)


@torch.no_grad()
def test_a_branch_of_a_cache_reads_its_own() -> None:
    model, text, cache = lively_model(positions="rope"), token_ids(5, batch=1, seed=4), Cache()
    model(text, cache)
    for new in (torch.tensor([[7]]), torch.tensor([[9]])):  # the second branch knows nothing of the first
        expected = model(torch.cat((text, new), dim=1))[:, -1]
        torch.testing.assert_close(model(new, cache.branch(), past=5)[:, 0], expected, rtol=1e-4, atol=1e-5)
