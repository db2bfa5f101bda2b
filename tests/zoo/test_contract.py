"""The contract that every model keeps, over every architecture."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from safetensors.torch import load_file

from tests.cases import each
from tests.zoo.models import CONFIGS, MAX_LEN, TEXT, VOCAB_SIZE, plain_logits, traced
from tfmviz import zoo
from tfmviz.model.transformer import build
from tfmviz.record.edits import AblateHead, Edit, SetMask
from tfmviz.record.model import Model
from tfmviz.record.trace import Encoding, NotCaptured, Trace


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
    np.testing.assert_allclose(traced(model)["logits"], plain_logits(module, library), rtol=1e-4, atol=1e-4)


def test_arrays_are_float32_or_masks_with_a_row_per_token_and_cannot_be_written(model: zoo.ZooModel) -> None:
    trace = traced(model)
    for site in trace:
        array = trace[site]
        assert array.dtype == (np.bool_ if site.endswith(".mask") else np.float32), site
        assert np.isfinite(array).all() or site.endswith(".scores"), site
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        trace.edits = ()  # type: ignore[misc]
    trace, config = traced(model), model.config
    n_heads, n_kv_heads = config.attention.n_heads, config.attention.n_kv_heads
    per_head = {"q": n_heads, "k": n_kv_heads, "v": n_kv_heads, "z": n_heads}
    for site in trace:
        layer, _, name = site.rpartition(".")
        if name in ("mask", "scores", "pattern"):
            q, k = trace.axes(layer)
            heads = () if name == "mask" else (n_heads,)
            assert trace[site].shape == (*heads, len(q), len(k)), site
        elif name in per_head:
            length = len(trace.axes(layer)[name in ("k", "v")])
            assert trace[site].shape == (per_head[name], length, config.d_head), site
        elif name in ("embed", "out", "norm") or name.startswith("resid_"):
            length = len(trace.source if trace.source and site.startswith("encoder") else trace.target)
            assert trace[site].shape == (length, config.d_model), site
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


@each("wanted", ["decoder.7.self_attn.pattern", "nothing.*", "Logits", ""])
def test_a_wanted_site_that_the_model_does_not_compute_is_refused(model: zoo.ZooModel, wanted: str) -> None:
    with pytest.raises(NotCaptured, match="logits"):
        model.trace(TEXT, sites=("logits", wanted))


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


def test_an_edit_of_what_is_not_there_is_refused(model: zoo.ZooModel) -> None:
    layer = model.config.layers[0]
    wrong: list[tuple[Edit, str]] = [
        *((AblateHead(layer=layer, head=head), f"head {head} does not exist") for head in (-1, 3, 99)),
        (SetMask(layer=layer, mask=((True, False),)), r"\(1, 2\)"),
    ]
    for edit, said in wrong:
        with pytest.raises(ValueError, match=said):
            traced(model, (edit,))
    with pytest.raises(NotCaptured, match=r"decoder\.7\.self_attn"):
        traced(model, (AblateHead(layer="decoder.7.self_attn", head=0),))


def test_a_mask_set_by_hand_is_the_mask_that_is_used(model: zoo.ZooModel) -> None:
    layer, n_heads = model.config.layers[0], model.config.attention.n_heads
    diagonal = np.eye(len(traced(model).axes(layer)[0]), dtype=bool)
    edit = SetMask(layer=layer, mask=tuple(map(tuple, diagonal.tolist())))
    trace = traced(model, (edit,))
    assert (trace.edits, traced(model).edits) == ((edit,), ())
    np.testing.assert_array_equal(trace[f"{layer}.mask"], diagonal)
    np.testing.assert_array_equal(trace[f"{layer}.pattern"], np.broadcast_to(diagonal, (n_heads, *diagonal.shape)))


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
