"""Sources and targets, and the texts that models write."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
import torch

from tests.cases import each
from tests.zoo.models import MAX_LEN, TARGET, TEXT
from tfmviz import zoo
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, EncoderOnly
from tfmviz.record.decoding import Rules
from tfmviz.record.edits import Edit, Patch, Scale, SetMask
from tfmviz.record.trace import NotCaptured
from tfmviz.text.tokenizer import END, END_OF_TEXT, Tokenizer
from tfmviz.training.evaluation import translations


@each("name", ["decoder-only", "encoder-only"])
def test_only_an_encoder_decoder_has_a_target_text(shipped: Path, name: str) -> None:
    model = zoo.load(name, folder=shipped)
    assert model.trace(TEXT).source is None
    with pytest.raises(ValueError, match=f"{name} is {name}: it has no target text"):
        model.trace(TEXT, target=TARGET)


@each("target", [TARGET, "", f"typed {END_OF_TEXT}"])
def test_a_given_target_is_read_after_the_mark_that_starts_it(translator: zoo.ZooModel, target: str) -> None:
    trace = translator.trace(TEXT, target=target)
    expected = translator.tokenizer.encode(target, max_len=MAX_LEN)
    assert trace.source == translator.tokenizer.encode(TEXT, max_len=MAX_LEN)
    assert trace.target.ids == (END, *expected.ids)
    assert trace.target.tokens == trace.tokens == (END_OF_TEXT, *expected.tokens)
    assert trace.target.offsets == ((0, 0), *expected.offsets)


def test_a_text_goes_on_a_target_is_cut(translator: zoo.ZooModel, shipped: Path, library: tokenizers.Tokenizer) -> None:
    target = translator.trace(TEXT, target=TARGET * 20).target
    whole = translator.tokenizer.encode(TARGET * 20, max_len=1000)
    assert target.ids[1:] == whole.ids[: MAX_LEN - 1]
    assert (len(target), target.n_dropped) == (MAX_LEN, len(whole) - (MAX_LEN - 1))
    model = zoo.load("decoder-only", folder=shipped)
    written = zoo.writing.generate(model, TEXT, max_new_tokens=5)
    prompt = library.encode(TEXT).ids
    assert isinstance(model.module, DecoderOnly)
    assert list(written.ids[:-5]) == prompt
    assert written.text.startswith(TEXT)
    assert written.text == model.tokenizer.decode(written.ids)
    with torch.no_grad():
        chosen = model.module(torch.tensor([written.ids]))[0].argmax(dim=-1)
    assert list(written.ids[-5:]) == chosen[-6:-1].tolist()


@each("text", [TEXT, "The dog ran.", "a"])
def test_without_a_target_the_decoder_reads_what_the_model_would_write(translator: zoo.ZooModel, text: str) -> None:
    trace, written = translator.trace(text), zoo.writing.generate(translator, text)
    assert len(written.ids) > 1
    assert END not in written.ids
    assert written.text == translator.tokenizer.decode(written.ids)  # the target alone
    assert trace.target.ids == (END, *written.ids)
    assert trace["logits"].argmax(axis=-1)[:-1].tolist() == list(written.ids)
    assert 0 < len(zoo.writing.generate(translator, text, max_new_tokens=5).ids) <= 5


def test_texts_translated_together_are_those_translated_alone(translator: zoo.ZooModel) -> None:
    texts = [TEXT, "a", "The dog ran. " * 30, "mat", TEXT]
    alone = tuple(zoo.writing.generate(translator, text).ids for text in texts)
    assert len(set(alone)) > 2
    assert zoo.writing.translations(translator, texts) == alone
    assert isinstance(translator.module, EncoderDecoder)
    assert isinstance(translator.tokenizer, Tokenizer)
    assert translations(translator.module, translator.tokenizer, texts) == [
        translator.tokenizer.decode(ids) for ids in zoo.writing.translations(translator, texts, max_new_tokens=MAX_LEN)
    ]
    with pytest.raises(ValueError, match="no text to run the model on"):
        zoo.writing.translations(translator, [TEXT, ""])


def test_what_cannot_be_written_is_refused(shipped: Path, translator: zoo.ZooModel) -> None:
    models = {name: zoo.load(name, folder=shipped) for name in ("decoder-only", "encoder-only", "encoder-decoder")}
    assert isinstance(models["encoder-only"].module, EncoderOnly)
    with pytest.raises(ValueError, match="decoder-only: it does not translate"):
        zoo.writing.translations(models["decoder-only"], [TEXT])
    with pytest.raises(ValueError, match="encoder-only fills in words: it does not write"):
        zoo.writing.generate(models["encoder-only"], TEXT)
    for model in models.values():
        with pytest.raises(ValueError, match=r"^There is no text"):
            zoo.writing.generate(model, "")
    with pytest.raises(ValueError, match=r"temperature = 0\.7 stands beside rules"):  # it was ignored without a word
        zoo.writing.generate(translator, TEXT, temperature=0.7, rules=Rules(temperature=0.2))


@each("name", ["decoder-only", "encoder-decoder"])
def test_how_every_token_was_chosen_is_kept_and_beams_write_the_best_text(shipped: Path, name: str) -> None:
    model = zoo.load(name, folder=shipped)
    rules = Rules(temperature=1.2, top_k=5)
    written = zoo.writing.generate(model, TEXT, rules=rules, seed=3, max_new_tokens=5)
    new = [step.token for step in written.steps if step.token != END]
    assert list(written.ids[-len(new) :]) == new
    assert all(step.stages[-1].allowed.sum() == 5 for step in written.steps)
    assert zoo.writing.generate(model, TEXT, rules=rules, seed=3, given=new[:2], max_new_tokens=5) == written
    greedy = zoo.writing.generate(model, TEXT, max_new_tokens=6)
    found = zoo.writing.search(model, TEXT, width=4, length_penalty=0.0, max_new_tokens=6)
    best = found.beams[-1].complete[0]
    assert found.ids[-len(best.ids) :] == best.ids or best.ids[-1] == END
    assert found.text == model.tokenizer.decode(found.ids)
    assert found.text.startswith(TEXT) is greedy.text.startswith(TEXT)


STEP = 2
"""The position of the target at which the row of attention below is another one."""


def rows_changed(how: str, k_len: int) -> tuple[tuple[Edit, ...], Callable[[int], tuple[Edit, ...]]]:
    """The same change of one row of cross-attention, for a token that is read alone and for whole targets."""
    layers = ("decoder.0.cross_attn", "decoder.1.cross_attn")
    if how == "closed":
        row = tuple(k not in (0, 3) for k in range(k_len))
        alone = tuple(SetMask(layer=layer, mask=(row,)) for layer in layers)
        return alone, lambda q_len: tuple(
            SetMask(layer=layer, mask=tuple(row if q == STEP else (True,) * k_len for q in range(q_len)))
            for layer in layers
        )
    weights = tuple(float(k == 1) for k in range(k_len))
    patches = [Patch(site=f"{layer}.pattern", vector=weights) for layer in layers]
    return tuple(patches), lambda q_len: tuple(replace(patch, position=STEP) for patch in patches)


@each("how", ["closed", "directed"])
def test_a_row_edited_while_it_translates_is_the_row_edited_in_whole_passes(translator: zoo.ZooModel, how: str) -> None:
    alone, whole = rows_changed(how, len(translator.tokenizer.encode(TEXT, max_len=MAX_LEN)))
    written = zoo.writing.generate(translator, TEXT, max_new_tokens=7, edits=alone, at=STEP)
    pairs = zip(written.steps, zoo.writing.generate(translator, TEXT, max_new_tokens=7).steps, strict=False)
    assert [bool((a.logits == b.logits).all()) for a, b in pairs][: STEP + 1] == [True, True, False]
    logits = translator.trace(TEXT, whole(len(written.ids) + 1), target=written.ids)["logits"]
    assert logits.argmax(axis=-1)[: len(written.ids)].tolist() == list(written.ids)

    given = zoo.writing.generate(translator, TEXT, max_new_tokens=7, edits=alone, at=STEP, given=written.ids[:4])
    assert given.ids == written.ids

    found = zoo.writing.search(translator, TEXT, width=3, max_new_tokens=7, edits=alone, at=STEP).beams[-1].complete
    for one in found:
        read = one.ids[:-1]
        logits = translator.trace(TEXT, whole(len(read) + 1), target=read)["logits"]
        log_p = torch.tensor(logits).log_softmax(dim=-1)[range(len(one.ids)), one.ids]
        assert one.score == pytest.approx(float(log_p.sum()), rel=1e-4)


def test_edits_at_one_position_are_for_translations(shipped: Path, translator: zoo.ZooModel) -> None:
    scale = (Scale(site="decoder.0.mlp.out", factor=0.0),)
    with pytest.raises(ValueError, match="Only while a model translates"):
        zoo.writing.generate(zoo.load("decoder-only", folder=shipped), TEXT, edits=scale, at=1)
    with pytest.raises(NotCaptured, match="nowhere"):
        zoo.writing.search(translator, TEXT, width=2, edits=(Scale(site="nowhere", factor=0.0),), at=1)
    with pytest.raises(ValueError, match="one token at a time"):
        zoo.writing.search(translator, TEXT, width=2, edits=rows_changed("closed", 5)[0])


def test_texts_written_together_go_on_with_an_end_that_leaves_them_room(shipped: Path) -> None:
    model = zoo.load("decoder-only", folder=shipped)
    ids = model.tokenizer.encode(TEXT * 20, max_len=MAX_LEN).ids
    assert len(ids) == MAX_LEN
    new, rules = 5, [Rules(temperature=1.3), Rules(temperature=0.0)]
    found = zoo.writing.samples(model, TEXT * 20, rules=rules, seed=2, max_new_tokens=new)
    assert found == zoo.writing.samples(model, ids[new - MAX_LEN :], rules=rules, seed=2, max_new_tokens=new)
    assert zoo.writing.search(model, TEXT * 20, width=1, max_new_tokens=new).ids == (*ids, *found[1].ids)
    long = zoo.writing.samples(model, TEXT * 20, rules=rules, seed=2, max_new_tokens=MAX_LEN + 3)
    assert len(long[0].ids) == MAX_LEN + 3
    for kept, is_same in ((MAX_LEN // 2, True), (1, False)):  # a single token was continued
        other = zoo.writing.samples(model, ids[-kept:], rules=rules, seed=2, max_new_tokens=MAX_LEN + 3)
        assert (long == other) == is_same
