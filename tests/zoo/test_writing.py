"""The contract that every model keeps, and the texts that models write."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tokenizers
import torch
from safetensors.torch import load_file

from tests.cases import each
from tests.zoo.models import CONFIGS, MAX_LEN, TARGET, TEXT, VOCAB_SIZE, traced
from tfmviz import zoo
from tfmviz.model.transformer import EncoderDecoder, EncoderOnly, build
from tfmviz.record.decoding import Rules
from tfmviz.record.edits import AblateHead, Edit, Patch, Scale, SetMask
from tfmviz.record.model import Model
from tfmviz.record.trace import Encoding, NotCaptured, Trace
from tfmviz.text.tokenizer import END, END_OF_TEXT
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


def test_a_target_is_cut_and_a_text_goes_on(translator: zoo.ZooModel, shipped: Path) -> None:
    target = translator.trace(TEXT, target=TARGET * 20).target
    whole = translator.tokenizer.encode(TARGET * 20, max_len=1000)
    assert target.ids[1:] == whole.ids[: MAX_LEN - 1]
    assert (len(target), target.n_dropped) == (MAX_LEN, len(whole) - (MAX_LEN - 1))
    model = zoo.load("decoder-only", folder=shipped)
    written = zoo.writing.generate(model, TEXT, max_new_tokens=5)
    assert written.text.startswith(TEXT)
    assert written.text == model.tokenizer.decode(written.ids)
    chosen = model.trace(written.ids)["logits"].argmax(axis=-1)
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


def test_texts_translated_together_are_those_translated_alone(translator: zoo.ZooModel, mixed: Path) -> None:
    texts = [TEXT, "a", "The dog ran. " * 30, "mat", TEXT]
    recurrent = zoo.load("seq2seq-additive", mixed, kind=zoo.RecurrentTranslator)
    for model in (translator, recurrent):
        alone = tuple(zoo.writing.translations(model, [text])[0] for text in texts)
        assert len(set(alone)) > 2
        assert zoo.writing.translations(model, texts) == alone
        whole = [model.tokenizer.decode(ids) for ids in alone]
        found = translations(model.module, model.tokenizer, texts)  # type: ignore[arg-type]
        assert [text[: len(one)] for text, one in zip(found, whole, strict=True)] == whole
    assert [zoo.writing.generate(translator, text).ids for text in texts] == [
        *zoo.writing.translations(translator, texts)
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


def test_a_model_has_a_name_tokens_and_words(model: zoo.ZooModel, library: tokenizers.Tokenizer) -> None:
    known: Model = model  # mypy checks the protocol here
    assert known.name == model.config.architecture
    assert len(known.vocabulary) == known.trace(TEXT)["logits"].shape[-1] == VOCAB_SIZE
    assert all(isinstance(entry, str) and entry for entry in known.vocabulary)
    trace = traced(model)
    read = read_by(trace)
    assert read.text == TEXT
    assert list(read.ids) == library.encode(TEXT).ids
    assert len(read.ids) == len(read.tokens) == len(read.offsets)
    assert trace.tokens == trace.target.tokens
    assert len(trace.tokens) == len(trace.target.ids) == len(trace.target.offsets)


def test_the_logits_are_those_of_one_pass(model: zoo.ZooModel, shipped: Path, library: tokenizers.Tokenizer) -> None:
    module = build(CONFIGS[model.name]).eval()
    weights = load_file(shipped / model.name / "model.safetensors")
    module.load_state_dict({name: value.float() for name, value in weights.items()})
    source, target = (torch.tensor([library.encode(text).ids]) for text in (TEXT, f"{END_OF_TEXT}{TARGET}"))
    with torch.no_grad():
        logits = module(source, target)[0] if isinstance(module, EncoderDecoder) else module(source)[0]
    np.testing.assert_allclose(traced(model)["logits"], logits.numpy(), rtol=1e-4, atol=1e-4)


def test_arrays_are_float32_or_masks_with_a_row_per_token_and_cannot_be_written(model: zoo.ZooModel) -> None:
    trace = traced(model)
    for site in trace:
        array = trace[site]
        assert array.dtype == (np.bool_ if site.endswith(".mask") else np.float32), site
        assert np.isfinite(array).all() or site.endswith(".scores"), site
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    config = model.config
    assert trace.layers == config.layers
    n_heads, n_kv_heads = config.attention.n_heads, config.attention.n_kv_heads
    per_head = {"q": n_heads, "k": n_kv_heads, "v": n_kv_heads, "z": n_heads}
    per_head |= {"rot_q": n_heads, "rot_k": n_kv_heads}
    for site in trace:
        layer, _, name = site.rpartition(".")
        if name in ("mask", "scores", "pattern"):
            q, k = trace.axes(layer)
            heads = () if name == "mask" else (n_heads,)
            assert trace[site].shape == (*heads, len(q), len(k)), site
        elif name in per_head:
            length = len(trace.axes(layer)[name in ("k", "v", "rot_k")])
            assert trace[site].shape == (per_head[name], length, config.d_head), site
        elif name != "logits":
            length = len(trace.source if trace.source and site.startswith("encoder") else trace.target)
            width = config.feed_forward.d_ff if name in ("pre", "post", "gate") else config.d_model
            assert trace[site].shape == (length, width), site
    assert trace["logits"].shape == (len(trace.target), config.vocab_size)


def read_by(trace: Trace) -> Encoding:
    """The text that was given."""
    return trace.target if trace.source is None else trace.source


@each("wanted", [("logits",), ("*.pattern", "logits"), ("*.0.self_attn.*",), ("*",)])
def test_wanted_sites_and_no_others_are_kept_with_the_same_values(model: zoo.ZooModel, wanted: tuple[str, ...]) -> None:
    whole = model.trace(TEXT)
    part = model.trace(TEXT, sites=iter(wanted))
    infixes = [pattern.strip("*") for pattern in wanted]
    assert part.sites == tuple(site for site in whole if any(infix in site for infix in infixes))
    assert len(part.sites) == len(tuple(part)) > 0
    for site in part:
        np.testing.assert_allclose(part[site], whole[site], rtol=1e-4, atol=1e-4)


NOTHING = r"^There is no text to run the model on\."


@each(
    "text, said",
    [
        ("", NOTHING),
        ([], NOTHING),
        ((), NOTHING),
        ("a\ud800", "Character 2"),
        *(([1, index], str(index)) for index in (-1, VOCAB_SIZE)),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(model: zoo.ZooModel, text: str | list[int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        model.trace(text)


def test_a_text_longer_than_the_context_says_what_was_cut(model: zoo.ZooModel, library: tokenizers.Tokenizer) -> None:
    ids, read = library.encode(TEXT * 20).ids, read_by(model.trace(TEXT * 20))
    assert list(read.ids) == ids[:MAX_LEN]
    assert read.n_dropped == len(ids) - MAX_LEN


def test_tokens_may_be_given_in_place_of_a_text(model: zoo.ZooModel, library: tokenizers.Tokenizer) -> None:
    ids = library.encode(TEXT).ids
    from_text, from_ids = model.trace(TEXT), model.trace(ids)
    assert from_ids.sites == from_text.sites
    for site in from_text:
        np.testing.assert_array_equal(from_ids[site], from_text[site])
    assert read_by(from_ids) == read_by(from_text)


@each("cut", [False, True])
def test_one_site_on_several_texts_is_what_each_text_has_there(model: zoo.ZooModel, cut: bool) -> None:
    if model.config.architecture == "encoder-decoder":
        return
    texts = ((3, 4, 5), (5, 3, 4))
    site = f"{model.writes_from}.{model.config.n_layers - 1}.resid_post"
    edits = (AblateHead(layer=model.config.layers[0], head=0),) if cut else ()
    expected = [model.trace(text, edits)[site] for text in texts]
    np.testing.assert_allclose(zoo.experiments.values_at(model, site, texts, edits), expected, rtol=1e-4, atol=1e-5)


def test_what_comes_after_several_texts_is_the_last_row_of_each(model: zoo.ZooModel) -> None:
    texts = ((3, 4, 5), (5, 3, 4))
    if model.config.architecture != "decoder-only":
        with pytest.raises(ValueError, match="not a language model"):
            zoo.experiments.logits_after(model, texts)
        return
    expected = [model.trace(text)["logits"][-1] for text in texts]
    np.testing.assert_allclose(zoo.experiments.logits_after(model, texts), expected, rtol=1e-4, atol=1e-5)
