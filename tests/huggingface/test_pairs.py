"""Two sentences for BERT in one box: the tokens, token types and values that transformers makes of the pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.huggingface.folders import word_piece, write
from tests.huggingface.models import tiny, weighted
from tests.huggingface.newer import NEWER
from tests.huggingface.test_folders import run
from tfmviz import zoo
from tfmviz.huggingface.check import differences, eager, expected
from tfmviz.huggingface.conversion import convert
from tfmviz.record.marks import are_second
from tfmviz.record.trace import Encoding
from tfmviz.zoo import ZooModel

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
