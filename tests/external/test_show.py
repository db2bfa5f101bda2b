"""Attention that somebody else computed, on a page: the numbers that went in, or a sentence."""

import json
import re
from base64 import b64decode
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers as hf
from tokenizers import pre_tokenizers, processors
from tokenizers.models import WordLevel

import tfmviz
from tests.browser import ROOT
from tests.cases import each
from tests.huggingface.folders import byte_level
from tests.huggingface.models import BART, GPT2, LLAMA, PLAIN, T5
from tests.traces import FORMULAS, ODD_TOKENS, causal, decoder, pattern, read_blob, read_payload, words
from tfmviz import views
from tfmviz.__main__ import main
from tfmviz.external import MOST_WEIGHTS, files
from tfmviz.external.arrays import MOST_TOKENS
from tfmviz.record.trace import Array, Trace

N, N_SOURCE = 7, 11
IDS, SOURCE_IDS = torch.arange(5, 5 + N)[None], torch.arange(5, 5 + N_SOURCE)[None]


def eager(model: Any) -> Any:
    model.set_attn_implementation("eager")
    return model.eval()


def run(model: Any, **inputs: Any) -> Any:
    torch.manual_seed(0)
    with torch.no_grad():
        return eager(model)(**inputs, output_attentions=True)


def same(trace: Trace, kind: str, layers: Any) -> None:
    """Whether a record holds these numbers, and no other layer of the kind."""
    stack, part = kind.split(".")
    names = [layer for layer in trace.layers if layer.startswith(stack) and layer.endswith(part)]
    assert names == [f"{stack}.{n}.{part}" for n in range(len(layers))]
    for name, layer in zip(names, layers, strict=True):
        np.testing.assert_array_equal(trace[f"{name}.pattern"], layer[0].numpy())


ONE_TEXT: dict[str, Callable[[], Any]] = {
    "decoder gpt2": lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**GPT2)),
    "encoder bert": lambda: hf.BertModel(hf.BertConfig(**PLAIN)),
    "decoder mixtral, which is not converted": lambda: hf.MixtralForCausalLM(
        hf.MixtralConfig(**LLAMA | {"hidden_size": 84, "intermediate_size": 36}, num_local_experts=2)
    ),
}


@each("name", list(ONE_TEXT))
def test_a_text_that_looks_at_itself_keeps_its_numbers(name: str) -> None:
    output = run(ONE_TEXT[name](), input_ids=IDS)
    for given in (output, output.attentions, [layer[0].tolist() for layer in output.attentions]):
        trace = tfmviz.trace_of(given, words(N))
        same(trace, f"{name.split()[0]}.self_attn", output.attentions)
        is_causal = np.array_equal(trace[f"{trace.layers[0]}.mask"], causal(N))
        assert is_causal == name.startswith("decoder")


@each("model", [lambda: hf.BartModel(hf.BartConfig(**BART)), lambda: hf.T5Model(hf.T5Config(**T5))])
def test_two_texts_keep_the_numbers_of_all_three_kinds(model: Callable[[], Any]) -> None:
    output = run(model(), input_ids=SOURCE_IDS, decoder_input_ids=IDS)
    trace = tfmviz.trace_of(output, words(N), source=words(N_SOURCE))
    same(trace, "encoder.self_attn", output.encoder_attentions)
    same(trace, "decoder.self_attn", output.decoder_attentions)
    same(trace, "decoder.cross_attn", output.cross_attentions)
    assert (len(trace.target), len(trace.source or ())) == (N, N_SOURCE)
    alone = tfmviz.trace_of(output.cross_attentions, words(N), source=words(N_SOURCE))
    same(alone, "decoder.cross_attn", output.cross_attentions)


def written(model: Any, ids: torch.Tensor, **choices: Any) -> Any:
    with torch.no_grad():
        return eager(model).generate(
            ids,
            **{"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False, "pad_token_id": 0} | choices,
            **{"output_attentions": True, "return_dict_in_generate": True},
        )


@each("choices", [{}, {"use_cache": False}, {"cache_implementation": "static"}, {"window": 3}])
def test_what_a_model_wrote_has_the_rows_of_one_pass_over_it(choices: dict[str, Any]) -> None:
    window = {"sliding_window": choices.pop("window", None)}
    model = hf.MistralForCausalLM(hf.MistralConfig(**LLAMA | window))
    output = written(model, IDS, **choices)
    trace = tfmviz.trace_of(output, tokenizer=byte_level())
    assert trace.target.ids == tuple(output.sequences[0, :-1].tolist())
    assert trace.tokens == tfmviz.trace_of(output.attentions, output.sequences, tokenizer=byte_level()).tokens
    whole = run(model, input_ids=output.sequences[:, :-1]).attentions
    for layer, expected in zip(trace.layers, whole, strict=True):
        np.testing.assert_allclose(trace[f"{layer}.pattern"], expected[0].numpy(), atol=1e-6)


def test_a_translation_that_was_written_has_all_three_kinds() -> None:
    model = hf.BartForConditionalGeneration(hf.BartConfig(**BART))
    output = written(model, SOURCE_IDS, num_beams=1)
    trace = tfmviz.trace_of(output, tokenizer=byte_level(), source=SOURCE_IDS)
    whole = run(model, input_ids=SOURCE_IDS, decoder_input_ids=output.sequences[:, :-1])
    for kind, layers in (
        ("decoder.{}.self_attn", whole.decoder_attentions),
        ("decoder.{}.cross_attn", whole.cross_attentions),
    ):
        for n, expected in enumerate(layers):
            np.testing.assert_allclose(trace[f"{kind.format(n)}.pattern"], expected[0].numpy(), atol=1e-6)


class Cache:
    """What a cache of TransformerLens has; it is no mapping by inheritance."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.cache_dict = values

    def keys(self) -> Any:
        return self.cache_dict.keys()

    def __getitem__(self, name: str) -> Any:
        return self.cache_dict[name]


LAYERS = [pattern(3, causal(N), seed=n) for n in range(2)]
CACHE = Cache(
    {f"blocks.{n}.attn.hook_pattern": torch.tensor(layer)[None] for n, layer in enumerate(LAYERS)} | {"ln": 1}
)


def test_a_cache_a_file_and_a_record_give_the_same(tmp_path: Path) -> None:
    trace = tfmviz.trace_of(LAYERS, words(N))
    (tmp_path / "a.json").write_text(json.dumps({"tokens": words(N), "attentions": [one.tolist() for one in LAYERS]}))
    (tmp_path / "a.npz").write_bytes(views.npz_of(trace))
    forms: list[tuple[Any, Any]] = [(CACHE, words(N)), (np.stack(LAYERS)[:, None], words(N)), (trace, None)]
    forms += [(tmp_path / "a.json", None), (str(tmp_path / "a.npz"), None)]
    for given, tokens in forms:
        found = tfmviz.trace_of(given, tokens)
        assert found.target == trace.target, given
        for layer, expected in zip(found.layers, LAYERS, strict=True):
            np.testing.assert_array_equal(found[f"{layer}.pattern"], expected)


def test_ids_become_the_words_of_their_tokenizer_and_pieces_are_spelled_as_text() -> None:
    text = "The cat 中"
    ids = byte_level()(text).input_ids
    layer = pattern(1, causal(len(ids)))
    trace = tfmviz.trace_of(layer, ids, tokenizer=byte_level())
    assert trace.target == tfmviz.trace_of(layer, byte_level()(text), tokenizer=byte_level()).target
    assert trace.target.ids == tuple(ids)
    assert trace.target.text.startswith("The cat ")
    assert "中 1/3" in " ".join(trace.tokens)
    assert trace.tokens == tfmviz.trace_of(layer, torch.tensor([ids]), tokenizer=byte_level()._tokenizer).tokens
    maltese = ("Ġimgħa", "kelb", "Ġnina")
    assert tfmviz.trace_of(pattern(1, causal(3)), maltese).tokens == maltese


def test_pieces_are_joined_by_summing_what_they_receive_and_averaging_what_they_give() -> None:
    layer = pattern(2, causal(5))
    for tokens, joined in (
        (("The", "Ġun", "bel", "iev", "able"), ["The", " unbelievable"]),
        (("[CLS]", "un", "##be", "##liev", "##able"), ["[CLS]", "unbelievable"]),
    ):
        trace = tfmviz.show(layer, tokens, words=True).trace
        assert list(trace.tokens) == joined
        found = trace["decoder.0.self_attn.pattern"]
        np.testing.assert_allclose(found[:, 1, 0], layer[:, 1:, 0].mean(axis=1), rtol=1e-6)
        np.testing.assert_allclose(found[:, 1, 1], layer[:, 1:, 1:].sum(axis=2).mean(axis=1), rtol=1e-6)
    assert len(tfmviz.show(layer, words(5), words=True).trace.tokens) == 5


def pair_tokenizer() -> tokenizers.Tokenizer:
    entries = {entry: n for n, entry in enumerate(["[UNK]", "[CLS]", "[SEP]", *"abcde"])}
    made = tokenizers.Tokenizer(WordLevel(entries, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return made


def test_the_sentences_of_a_pair_are_parts_and_each_head_says_what_goes_between_them() -> None:
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=pair_tokenizer())
    layer = pattern(2, np.ones((8, 8), dtype=bool))
    trace = tfmviz.trace_of(layer, tokenizer("a b c", "d e"), tokenizer=tokenizer)
    named = ("", "A", "A", "A", "", "B", "B", "")
    assert trace.target.segments == named
    for given in ([0, 0, 0, 0, 0, 1, 1, 1], np.array([[0, 0, 0, 0, 0, 1, 1, 1]]), [part or None for part in named]):
        assert tfmviz.trace_of(layer, trace.tokens, segments=given).target.segments == named, given
    header, _ = read_blob(views.payload(trace))
    assert header["texts"]["target"]["segments"] == list(named)
    (kind,) = header["kinds"]
    assert kind["between"]["parts"] == ["A", "B"]
    there, back = layer[:, 1:4, 5:7].sum(axis=2).mean(axis=1), layer[:, 5:7, 1:4].sum(axis=2).mean(axis=1)
    for head, shares in enumerate(kind["between"]["shares"][0]):
        assert (shares[0][1], shares[1][0]) == pytest.approx((there[head], back[head]), abs=0.0006)
    assert tfmviz.trace_of(layer, trace.tokens, segments=[1] * 8).target.segments == ()
    assert tfmviz.trace_of(layer[:, :1, :1], ["a"], segments=["only"]).target.segments == ()


class Frame(HTMLParser):
    """The text within the frame of a notebook's cell."""

    page = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "iframe"
        self.page = dict(attrs)["srcdoc"] or ""


def test_page_notebook_and_file_hold_every_weight_and_no_words_as_markup(tmp_path: Path) -> None:
    tokens = (*ODD_TOKENS, *FORMULAS, "half \ud800", "</iframe><img src=x onerror=alert(1)>", "&quot;", '" onload="x')
    layer = pattern(3, causal(len(tokens)))
    page = tfmviz.show(layer, tokens, title="<b>&")
    frame = Frame()
    frame.feed(page._repr_html_())
    assert frame.page == page.html == page.save(tmp_path / "a.html").read_bytes().decode()
    (data,) = re.findall(r'id="payload">([^<]*)<', page.html)
    header, _, weights = read_payload(b64decode(data))
    assert header["texts"]["target"]["tokens"] == [token.replace("\ud800", "?") for token in tokens]
    assert np.abs(weights["decoder.0.self_attn"] - layer).max() < 0.0005
    markup = page.html.replace(data, "")
    assert "<img src=x" not in markup
    assert "&lt;img src=x" in markup


def test_a_record_shows_itself_in_a_notebook_even_without_masks() -> None:
    def shown(trace: Any) -> Any:
        return trace._repr_html_()

    trace = decoder(words(N))
    patterns = {name: trace[name] for name in trace if name.endswith("pattern")}
    assert shown(trace) == shown(Trace(target=trace.target, values=patterns)) == tfmviz.show(trace)._repr_html_()
    assert shown(Trace(target=trace.target, values={})) is None


def test_the_command_writes_a_page_or_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "attention.json"
    file.write_text(json.dumps({"tokens": words(N), "attention": [one.tolist() for one in LAYERS], "title": "mine"}))
    main(["show", str(file)])
    assert str(tmp_path / "attention.html") in capsys.readouterr().out
    assert (tmp_path / "attention.html").read_bytes().decode() == tfmviz.show(file).html
    for text in ("{", "[" * 100_000, "{}", None):
        file.unlink()
        if text is not None:
            file.write_text(text)
        with pytest.raises(SystemExit, match="1"):
            main(["show", str(file)])
        said = capsys.readouterr().err
        assert said.startswith(f"Cannot show {file}: ")
        assert "Traceback" not in said


def changed(value: float) -> Array:
    layer = LAYERS[0].copy()
    layer[1, 2, 0] = value
    return layer


def long(heads: int, n: int) -> Array:
    return np.broadcast_to(np.float32(0), (1, heads, n, n))


REFUSED: dict[str, tuple[Any, ...]] = {
    "parts of another text": ({"attentions": LAYERS, "segments": [0, 1]},),
    "a part for each token": ({"attentions": [long(1, 9)[0]], "segments": range(9)}, words(9)),
    "an empty list": ([],),
    "what a fast kernel gives": ((None, None),),
    "an output without attention": ({"logits": 1},),
    "a layer that is missing": ([*LAYERS, None],),
    "a vector": (np.ones(3),),
    "no head": (np.ones((1, 0, 3, 3)),),
    "rows of two lengths": ([[[0.5, 0.5], [1.0]]],),
    "a batch of two": ([np.stack(LAYERS)[:1].repeat(2, axis=0)],),
    "layers of two sizes": ([LAYERS[0], LAYERS[1][:2]],),
    "not a number": (changed(np.nan),),
    "a negative value": (changed(-0.5),),
    "scores": (changed(3.0),),
    "steps of two depths": ([[LAYERS[0][None]], [LAYERS[0][None, :, :1]] * 2],),
    "a step that looks ahead": ([[LAYERS[0][None]], [np.ones((1, 3, 1, N + 2))]],),
    "cross-attention in steps of two texts": ({"cross_attentions": [[np.ones((1, 3, 1, k))] for k in (3, 4)]},),
    "a rectangle": (LAYERS[0][:, :5],),
    "texts that differ": ({"decoder_attentions": LAYERS, "cross_attentions": [np.ones((3, 5, 4)) / 4]},),
    "4,000 tokens": ([long(1, 4000)],),
    "more weights than a page holds": ([long(12, MOST_TOKENS)] * (MOST_WEIGHTS // (12 * MOST_TOKENS**2 // 2) + 1),),
    "no tokens": (LAYERS, None),
    "a text": (LAYERS, "The cat sat"),
    "ids alone": (LAYERS, range(N)),
    "ids and something else": (LAYERS, range(N), "gpt2"),
    "ids of another model": (LAYERS, range(N), SimpleNamespace(convert_ids_to_tokens=lambda index: None)),
    "an id below 0": (LAYERS, range(-1, N - 1), byte_level()),
    "a number": (LAYERS, 5, byte_level()),
    "words and ids": (LAYERS, ["a", 1, "b", 2, "c", 3, "d"]),
    "more tokens than columns": (LAYERS, words(N + 1)),
}


def test_what_cannot_be_shown_is_refused_with_a_sentence_that_the_docs_list(tmp_path: Path) -> None:
    section = (
        (ROOT / "docs" / "python.md").read_text(encoding="utf-8").split("## What is refused\n")[1].split("\n## ")[0]
    )
    rows = re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)[1:]
    listed = {row: re.compile(re.escape(row.replace("`", "")).replace("…", ".+?")) for row in rows}
    (tmp_path / "a.npz").write_text("no archive")
    (tmp_path / "a.json").write_text("{")
    said = {}
    for name, (given, *rest) in REFUSED.items():
        with pytest.raises(ValueError, match=r"\.$") as caught:
            tfmviz.show(given, rest[0] if rest else words(N), tokenizer=rest[1] if rest[1:] else None)
        said[name] = str(caught.value)
    for file in ("a.npz", "a.json"):
        with pytest.raises(ValueError, match=file) as caught:
            files.read_file(tmp_path / file)
        said[file] = str(caught.value)
    assert not {name: one for name, one in said.items() if not any(row.match(one) for row in listed.values())}
    assert not [row for row, one in listed.items() if not any(map(one.match, said.values()))]
