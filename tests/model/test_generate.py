"""Writing a token at a time: what is written is what independent forward passes would choose."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.cases import each
from tests.model.helpers import assert_close, flat, lively_model
from tests.model.sizes import MAX_LEN as MAX_LEN_OF_HELPERS
from tests.model.sizes import SCHEMES
from tfmviz.model.device import batch_for
from tfmviz.model.generate import continue_ids, reader_of, samples, steps, translate_batch, translate_ids
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder
from tfmviz.record.decoding import GREEDY, Rules, Step
from tfmviz.record.tap import NO_TAP

MAX_LEN, VOCAB_SIZE, END = 17, 43, 0
PROMPT = torch.tensor([5, 3, 19])
SOURCE = torch.tensor([7, 2, 31, 11])


def draw_weights(model: torch.nn.Module, seed: int) -> None:
    """Large random matrices, so that a greedy text does not repeat one token."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.ndim >= 2:
            parameter.data.normal_(generator=generator)


@pytest.fixture(scope="module")
def writer() -> DecoderOnly:
    config = flat(vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=18, n_layers=2, n_heads=3, n_kv_heads=3, d_ff=29)
    model = DecoderOnly(config).eval()
    draw_weights(model, 12)
    return model


@pytest.fixture(scope="module")
def translator() -> EncoderDecoder:
    sizes = {"vocab_size": VOCAB_SIZE, "max_len": MAX_LEN, "d_model": 20, "n_layers": 2, "n_heads": 2, "n_kv_heads": 1}
    kind = {"architecture": "encoder-decoder", "positions": "sinusoidal", "embeddings": "untied"}
    model = EncoderDecoder(flat(**sizes, **kind, d_ff=29)).eval()
    draw_weights(model, 1)
    return model


def test_a_long_prompt_is_kept_whole_and_writing_stops_before_the_mark(writer: DecoderOnly) -> None:
    prompt = torch.arange(1, 24)
    ids = continue_ids(writer, prompt, max_new_tokens=5)
    assert ids[:23].equal(prompt)
    assert ids[23:].equal(continue_ids(writer, prompt[-MAX_LEN:], max_new_tokens=5)[MAX_LEN:])
    ids = continue_ids(writer, PROMPT, max_new_tokens=11)
    end = int(ids[8])
    stopped = continue_ids(writer, PROMPT, ends=(end,), max_new_tokens=11)
    assert stopped.equal(ids[: 3 + ids[3:].tolist().index(end)])


def test_the_seed_decides_the_draws(writer: DecoderOnly, translator: EncoderDecoder) -> None:
    for write in (
        partial(continue_ids, writer, PROMPT),
        partial(translate_ids, translator, SOURCE, start=END, ends=()),
    ):
        for temperature in (0.0, 3.0):
            before = torch.get_rng_state()
            first, again, other = (write(max_new_tokens=11, temperature=temperature, seed=seed) for seed in (3, 3, 5))
            assert first.equal(again)
            assert first.equal(other) == (temperature == 0)
            assert torch.get_rng_state().equal(before)


@each("place", [0, 2, 5])
@torch.inference_mode()
def test_a_translation_stops_before_its_end_mark(translator: EncoderDecoder, place: int) -> None:
    target = translate_ids(translator, SOURCE, start=END, ends=(END,), max_new_tokens=11)
    mark = int(target[place])
    assert mark not in target[:place]
    assert translate_ids(translator, SOURCE, start=END, ends=(mark,), max_new_tokens=11).equal(target[:place])


@each("max_new_tokens", [0, 1, 5, MAX_LEN - 1, 1000])
def test_a_translation_is_as_long_as_asked_for_and_fits(translator: EncoderDecoder, max_new_tokens: int) -> None:
    target, longest = (
        translate_ids(translator, SOURCE, start=END, ends=(END,), max_new_tokens=n) for n in (max_new_tokens, MAX_LEN)
    )
    assert len(target) == min(max_new_tokens, MAX_LEN - 1)
    assert target.equal(longest[: len(target)])


SOURCES = ([7, 2, 31, 11], [5], [3, 3, 9, 40, 21, 8, 17], [12, 30])


@each("max_new_tokens", [0, 1, 5, 1000])
@each("begin", {"a mark": (END,), "a mark and a language": (END, 4)})
def test_texts_translated_together_are_those_translated_alone(
    translator: EncoderDecoder, begin: tuple[int, ...], max_new_tokens: int
) -> None:
    def written(ends: tuple[int, ...], most: int) -> list[list[int]]:
        texts = []
        for ids in SOURCES:
            reader, text = reader_of(translator, ids, begin=begin, tap=NO_TAP)
            found = steps(reader, text, ends=ends, max_new_tokens=most)
            texts.append([step.token for step in found if step.token not in ends])
        return texts

    endless = written((), MAX_LEN)
    ends = (endless[0][3], endless[2][6])  # so the texts end at different places
    alone = written(ends, max_new_tokens)
    src, lengths = batch_for(translator, SOURCES)
    assert translate_batch(translator, src, lengths, begin=begin, ends=ends, max_new_tokens=max_new_tokens) == alone
    if max_new_tokens > 5:
        assert len({len(ids) for ids in alone}) > 1


def recorded(model: Any, text: Tensor, **how: Any) -> list[Step]:
    reader, start = reader_of(model, text.tolist(), begin=[END], tap=NO_TAP)
    return list(steps(reader, start, **how))


@each("given", [(), (4, 8, 15), tuple(range(20))])
@each("scheme", SCHEMES)
@torch.inference_mode()
def test_every_record_holds_the_logits_of_its_own_place(scheme: str, given: tuple[int, ...]) -> None:
    """Elsewhere every word once showed what stood against the first. The context ends at 13 tokens."""
    model = lively_model(n_heads=4, n_kv_heads=2, d_model=24, positions=scheme)  # heads share keys and values
    found = recorded(model, PROMPT, given=given, rules=Rules(temperature=1.5), seed=7, max_new_tokens=24)
    text = [*PROMPT.tolist(), *(step.token for step in found)]
    assert tuple(text[3 : 3 + len(given)]) == given
    for step in found:
        assert list(step.seen) == text[: step.place]
        expected = model(torch.tensor([text[max(0, step.place - MAX_LEN_OF_HELPERS) : step.place]]))[0, -1]
        assert_close(torch.from_numpy(step.logits), expected)
        assert step.given is (step.place - 3 < len(given))
        if not step.given:
            assert step.draw is not None
            assert step.draw.token == step.token
    assert len({step.logits.tobytes() for step in found}) > 3


def test_given_tokens_are_read_in_one_pass_and_records_are_small(writer: DecoderOnly) -> None:
    found = recorded(writer, PROMPT, given=(4, 8, 15), max_new_tokens=20)
    assert [step.n_read for step in found[:5]] == [6, 0, 0, 0, 1]
    assert [step.n_cached for step in found[:5]] == [3, 4, 5, 6, 7]
    assert [(step.n_read, step.n_cached) for step in found[-2:]] == [(MAX_LEN, 0)] * 2  # past the context
    found = recorded(writer, PROMPT, given=(4, 8), max_new_tokens=MAX_LEN + 3)
    for step in found:
        kept = step.logits.base
        assert isinstance(kept, Tensor)
        assert kept.untyped_storage().nbytes() == step.logits.nbytes
    tokens = [step.token for step in recorded(writer, PROMPT, max_new_tokens=9)]
    found = recorded(writer, PROMPT, ends=(tokens[4],), max_new_tokens=9)
    assert [step.token for step in found] == tokens[: tokens.index(tokens[4]) + 1]


def test_a_text_written_on_later_is_the_text_written_at_once(writer: DecoderOnly) -> None:
    how = {"rules": Rules(temperature=1.3, top_k=9), "seed": 5, "max_new_tokens": 12}
    once = [step.token for step in recorded(writer, PROMPT, **how)]
    for n in (1, 5, 11):
        assert [step.token for step in recorded(writer, PROMPT, given=once[:n], **how)] == once


def test_many_texts_written_at_once_are_those_written_one_by_one(writer: DecoderOnly) -> None:
    ends = (recorded(writer, PROMPT, max_new_tokens=3)[2].token,)
    rules = [*[Rules(temperature=1.6, top_k=7)] * 5, GREEDY, Rules(temperature=0.7, top_p=0.8)]
    reader, start = reader_of(writer, PROMPT.tolist(), begin=[END], tap=NO_TAP)
    how: dict[str, Any] = {"ends": ends, "max_new_tokens": 19}  # past the context of 17
    found = samples(reader, start, rules=rules, seed=5, **how)
    assert len(found) == len(rules)
    for r, sample in enumerate(found):
        alone = recorded(writer, PROMPT, rules=rules[r], seed=5 + r, **how)
        assert sample.ids == tuple(step.token for step in alone)
        assert np.exp(sample.log_probabilities) == pytest.approx([step.probability for step in alone], rel=1e-4)
    reader, start = reader_of(writer, PROMPT.tolist(), begin=[END], tap=NO_TAP)
    found = samples(reader, start, rules=[GREEDY] * 2, seed=0, **how)
    assert reader.n_cached == len(start) + len(found[0].ids) - 1
