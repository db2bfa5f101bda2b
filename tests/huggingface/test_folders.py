"""A checkpoint on disk becomes a folder of the zoo: what is in it, and what the app makes of it, of pairs too."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors import safe_open
from safetensors.torch import load_file

import tfmviz
from tests.cases import each
from tests.huggingface.folders import TOKENIZERS, word_piece, write
from tests.huggingface.models import NEWER, tiny, weighted
from tfmviz import zoo
from tfmviz.analysis import whole_model
from tfmviz.huggingface import __main__ as command
from tfmviz.huggingface.check import differences, eager, expected
from tfmviz.huggingface.conversion import convert
from tfmviz.huggingface.tokens import read_tokenizer
from tfmviz.model import linear
from tfmviz.record.marks import are_second
from tfmviz.record.trace import Encoding
from tfmviz.zoo import ZooModel, files

TEXT = "The cat sat on the mat."


def run(folder: Path, *options: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["tfmviz.huggingface", str(folder), *options])
        return command.main()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ZooModel]:
    """A model of every kind of tokenizer, converted by the command and loaded by the zoo."""
    folder = tmp_path_factory.mktemp("checkpoints")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TFMVIZ_MODELS", str(folder / "own"))
        found = {}
        for name in (*TOKENIZERS, "marian"):
            write(folder / name, name)
            assert run(folder / name, "--name", name.replace(" ", "-")) == 0
            found[name] = zoo.load(name.replace(" ", "-"))
    return found


every_kind = each("name", [*TOKENIZERS, "marian"])


def test_a_running_app_lists_a_new_model_and_python_loads_it(tmp_path: Path, place: Path) -> None:
    before, model = tfmviz.available(), write(tmp_path / "gpt2", "gpt2")
    assert run(tmp_path / "gpt2") == 0
    assert set(tfmviz.available()) == {*before, "gpt2"}
    assert tfmviz.load("gpt2").trace(TEXT)["logits"].shape[-1] == 307
    assert sorted(path.name for path in place.iterdir()) == ["gpt2"]  # no leftovers
    weights = load_file(place / "gpt2" / "model.safetensors")
    theirs = model.transformer.h[1].attn.c_attn.weight
    assert weights["decoder.blocks.1.self_attn.W_K.weight"].equal(theirs.T[42:84])


def test_half_precision_stays_half_and_folded_weights_keep_all_digits(tmp_path: Path, place: Path) -> None:
    write(tmp_path / "gemma", "gemma", half=True)
    assert run(tmp_path / "gemma") == 0
    with safe_open(place / "gemma" / "model.safetensors", framework="np") as file:
        kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
    assert kinds["embedding.W_E"] == kinds["decoder.blocks.0.mlp.W_in.weight"] == "F16"
    assert kinds["decoder.blocks.0.mlp_residual.norm.weight"] == "F32"  # 1 + w


def test_matrices_that_stay_in_their_file_are_read_in_float32(tmp_path: Path, place: Path) -> None:
    """As those of models are that would take gigabytes: one by one, each time that they are needed."""
    write(tmp_path / "llama", "llama", half=True)
    assert run(tmp_path / "llama") == 0
    usual = zoo.load("llama")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "IN_MEMORY", 0)
        patch.setattr(linear, "AT_ONCE", 100)  # two rows of a matrix at a time
        large = zoo.load("llama")
        ours, theirs = large.trace(TEXT), usual.trace(TEXT)
        written = [zoo.writing.generate(model, TEXT, max_new_tokens=5).ids for model in (large, usual)]
    halves = {name for name, value in large.module.named_parameters() if value.dtype == torch.float16}
    assert halves == {name for name, value in large.module.named_parameters() if value.ndim == 2}
    for site in theirs:
        np.testing.assert_allclose(ours[site], theirs[site], rtol=1e-4, atol=1e-5, err_msg=site)
    assert written[0] == written[1]
    for layer in usual.config.layers:
        np.testing.assert_array_equal(large.weights.attention(layer).W_O, usual.weights.attention(layer).W_O)
    assert whole_model.parameters(large.weights) == whole_model.parameters(usual.weights)


def test_the_card_says_where_the_model_is_from(tmp_path: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "bert", "bert")
    (tmp_path / "bert" / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# BERT\n")
    assert run(tmp_path / "bert", "--name", "mine", "--max-len", "31") == 0
    card, said = (place / "mine" / "CARD.md").read_text(encoding="utf-8"), capsys.readouterr().out
    for words in ("bert, encoder-only", "3 × 3 × 42", "31 tokens here, trained on up to 61", "WordPiece", "apache-2.0"):
        assert words in card
        assert words in said
    assert str(tmp_path / "bert") in card
    for kind in ("logits", "patterns", "streams"):
        assert f"- {kind}: " in card


def test_an_end_mark_that_is_no_entry_goes(tmp_path: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Small random checkpoints keep GPT-2's 50256. The command converted such a model, and the app refused it."""
    write(tmp_path / "gpt2", "gpt2")
    for name in ("config.json", "generation_config.json"):
        settings = json.loads((tmp_path / "gpt2" / name).read_text()) | {"eos_token_id": [50256, 5]}
        (tmp_path / "gpt2" / name).write_text(json.dumps(settings))
    assert run(tmp_path / "gpt2") == 0
    said = "end of text 50256: the vocabulary has entries 0 to 306"
    assert said in capsys.readouterr().out
    assert said in (place / "gpt2" / "CARD.md").read_text()
    assert zoo.load("gpt2").tokenizer.marks.ends == (5,)


def test_a_configuration_cannot_name_code_to_compare_with(tmp_path: Path, place: Path) -> None:
    write(tmp_path / "llama", "llama")
    settings = json.loads((tmp_path / "llama" / "config.json").read_text())
    (tmp_path / "llama" / "config.json").write_text(json.dumps(settings | {"_attn_implementation": "https://a.b/c"}))
    assert run(tmp_path / "llama") == 0


def test_a_converted_model_in_memory_is_the_one_on_disk(tmp_path: Path, place: Path) -> None:
    model = write(tmp_path / "bart", "bart")
    assert run(tmp_path / "bart") == 0
    before = {name: value.clone() for name, value in model.state_dict().items()}
    here, there = tfmviz.huggingface.convert(model, TOKENIZERS["bart"]()), zoo.load("bart")
    assert here.config == there.config
    assert here.vocabulary == there.vocabulary
    ours, theirs = here.trace(TEXT, target="A dog."), there.trace(TEXT, target="A dog.")
    assert ours.sites == theirs.sites
    assert all(np.array_equal(ours[site], theirs[site]) for site in ours)
    assert all(value.equal(before[name]) for name, value in model.state_dict().items())
    assert model.config._attn_implementation == "sdpa"


@every_kind
def test_the_tokens_are_those_of_transformers(models: dict[str, ZooModel], name: str) -> None:
    encoding = models[name].tokenizer.encode(TEXT, max_len=61)
    if name == "marian":
        assert encoding.tokens[:3] == (" ", "T", "h")
        assert encoding.tokens[-1] == "</s>"
        return
    assert list(encoding.ids) == TOKENIZERS[name]()(TEXT)["input_ids"]
    assert all(encoding.text[a:b] or index in (0, len(encoding) - 1) for index, (a, b) in enumerate(encoding.offsets))


@each("name", ["bart", "t5 1.1", "marian"])
def test_a_translator_writes_what_transformers_writes(models: dict[str, ZooModel], name: str) -> None:
    model, original = models[name], tiny(name)
    source = torch.tensor([model.tokenizer.encode(TEXT, max_len=61).ids])
    theirs = original.generate(source, max_new_tokens=7, do_sample=False, num_beams=1, forced_eos_token_id=None)[0]
    end = original.config.eos_token_id
    assert list(zoo.writing.generate(model, TEXT, max_new_tokens=7).ids) == [
        index for index in theirs[1:].tolist() if index != end
    ]
    assert model.trace(TEXT).target.ids[0] == original.config.decoder_start_token_id


def test_marian_reads_two_languages_with_one_vocabulary(tmp_path: Path) -> None:
    """Indices are those of vocab.json, pieces those of each language's own file; a language's mark is one token."""
    write(tmp_path, "marian")
    source, target = read_tokenizer(tmp_path, hf.MarianConfig())
    vocabulary = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    assert source.encode("the cat").tokens == ["▁the▁cat", "</s>"]
    assert target.encode("the cat sat").tokens == ["▁the", "▁cat▁sat", "</s>"]
    assert source.encode(">>fr<< the cat").ids == [vocabulary[piece] for piece in (">>fr<<", "▁the▁cat", "</s>")]
    assert target.decode([vocabulary["▁cat▁sat"], vocabulary["s"]]) == "cat sats"


A, B = "The cat sat on the mat.", "the dog ran"


def converted(name: str) -> tuple[ZooModel, Any]:
    theirs = weighted(NEWER[name]()) if name in NEWER else tiny(name)
    return convert(theirs, word_piece()), theirs


def types_of(model: ZooModel, text: Encoding) -> list[int]:
    mark = model.config.embeddings.separator
    assert mark is not None
    return are_second(np.array(text.ids), mark).astype(int).tolist()


@each("name", ["bert", "albert", "electra narrow"])
def test_a_pair_is_what_transformers_makes_of_it(name: str) -> None:
    model, theirs = converted(name)
    inputs = word_piece()(A, B, return_tensors="pt", return_token_type_ids=True)
    found = model.trace(f"{A} ||| {B}")
    assert list(found.target.ids) == inputs.input_ids[0].tolist()
    assert types_of(model, found.target) == inputs.token_type_ids[0].tolist()
    with torch.inference_mode(), eager(theirs):
        output = theirs(**inputs, output_attentions=True, output_hidden_states=True)
    n, n_layers = len(found.target), model.config.n_layers
    for layer, pattern in enumerate(output.attentions):
        np.testing.assert_allclose(found[f"encoder.{layer}.self_attn.pattern"], pattern[0], atol=5e-6)
    ours = {site: torch.tensor(found[site])[None] for site in found}
    sites = differences(ours, expected(theirs, model.config, (inputs.input_ids,)))
    assert max(site.difference for site in sites) <= 5e-6
    assert {site.kind for site in sites} >= {"patterns", "streams"}
    last = found[f"encoder.{n_layers - 1}.resid_post"]
    np.testing.assert_allclose(last, output.hidden_states[-1][0], atol=5e-6 * max(1.0, float(abs(last).max())))
    names = [{None: "", 0: "A", 1: "B"}[part] for part in inputs.sequence_ids(0)]
    assert list(found.target.segments) == names
    where = found.target.offsets[found.target.ids.index(model.config.embeddings.separator or 0)]
    assert (len(found.target.offsets), found.target.text[slice(*where)].strip()) == (n, "|||")


def test_other_texts_are_read_as_one() -> None:
    model, _ = converted("bert")
    for text in (A, f"{A} |||", f"||| {A}", f"{A} || {B}"):
        found = model.trace(text).target
        assert (list(found.ids), found.segments) == (word_piece()(text).input_ids, ()), text
    twice = model.trace(f"{A} ||| {B} ||| {A}").target
    assert list(twice.ids) == word_piece()(A, f"{B} ||| {A}").input_ids
    plain = convert(tiny("distilbert"), word_piece())
    assert list(plain.trace(f"{A} ||| {B}").target.ids) == word_piece()(f"{A} ||| {B}").input_ids


def test_a_long_pair_is_cut_as_transformers_cuts_it() -> None:
    model, _ = converted("bert")
    for first, second in ((1, 30), (30, 1), (30, 30), (31, 30), (30, 9), (9, 30)):
        text = " ".join([A] * first), " ".join([B] * second)
        longest = model.config.max_len
        expected = word_piece()(*text, truncation="longest_first", max_length=longest)
        found = model.encode(" ||| ".join(text))
        assert list(found.ids) == expected.input_ids
        assert found.n_dropped == len(word_piece()(*text).input_ids) - longest


def test_a_converted_folder_keeps_it_and_refuses_another_mark(tmp_path: Path, place: Path) -> None:
    write(tmp_path / "bert", "bert")
    assert run(tmp_path / "bert", "--name", "pairs") == 0
    model = zoo.load("pairs")
    assert set(model.trace(f"{A} ||| {B}").target.segments) == {"", "A", "B"}
    config = place / "pairs" / "config.json"
    mark = f'"separator": {model.config.embeddings.separator}'
    config.write_text(config.read_text().replace(mark, '"separator": 7'))
    with pytest.raises(zoo.ModelUnavailable, match="does not join"):
        zoo.load("pairs")
