"""Fine-tuning: what is trained and what stays, changes of low rank, and answers that padding does not touch."""

from typing import Any, get_args

import numpy as np
import pytest
import torch

from tests.cases import each
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import DecoderOnly, EncoderOnly
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training import tuning
from tfmviz.training.tuning import Example, Method, Tuning

TOKENIZER = Tokenizer.train((), vocab_size=257)

SHAPE = {"vocab_size": 257, "max_len": 23, "d_model": 12, "n_layers": 2, "n_heads": 3, "n_kv_heads": 3, "d_ff": 19}

KNOWN: list[Example] = [(f"{start} {rest}", start == "is") for rest in "abcdefg" for start in ("is", "no")]
HELD_OUT: list[Example] = [(f"{start} {rest}", start == "is") for rest in "hijkl" for start in ("is", "no")]

METHODS: tuple[Method, ...] = get_args(Method)


@pytest.fixture(scope="module", params=["decoder-only", "encoder-only"])
def body(request: pytest.FixtureRequest) -> DecoderOnly | EncoderOnly:
    torch.manual_seed(1)
    config = ModelConfig.from_dict({**SHAPE, "architecture": request.param})
    return DecoderOnly(config) if request.param == "decoder-only" else EncoderOnly(config)


def run(body: DecoderOnly | EncoderOnly, method: Method, **settings: Any) -> list[dict[str, Any]]:
    return list(tuning.tune(body, TOKENIZER, Tuning(method=method, **settings), known=KNOWN, held_out=HELD_OUT))


def test_examples_are_half_questions_and_have_lost_their_mark() -> None:
    sentences = [f"q{n}?" for n in range(9)] + [f"s{n}." for n in range(11)] + ["What!", "?", "."]
    drawn = tuning.examples(sentences, 8, seed=3)
    assert sum(question for _, question in drawn) == 4
    assert all(text[0] == ("q" if question else "s") and text[1:].isdecimal() for text, question in drawn)
    assert len(set(drawn)) == 8
    assert drawn == tuning.examples(sentences, 8, seed=3) != tuning.examples(sentences, 8, seed=4)
    with pytest.raises(ValueError, match="20 examples need 10 questions"):
        tuning.examples(sentences, 20, seed=3)


@each("method", METHODS)
def test_exactly_what_the_method_names_is_trained(body: DecoderOnly | EncoderOnly, method: Method) -> None:
    d, layers = SHAPE["d_model"], SHAPE["n_layers"]
    whole = sum(W.numel() for W in body.parameters())
    head = d + 1
    expected = {"scratch": whole + head, "head": head, "lora": head + layers * 2 * 3 * 2 * d, "all": whole + head}
    before = {name: W.clone() for name, W in body.state_dict().items()}
    last = run(body, method, rank=3, steps=3)[-1]
    assert last["trained"] == expected[method]
    assert len(last["head"]) == head
    assert ("moved" in last) == (method in ("lora", "all"))
    for name, W in body.state_dict().items():
        assert W.equal(before[name]), "the model itself stays as it is"


def test_a_low_rank_change_is_nothing_at_first_and_never_of_a_higher_rank(body: DecoderOnly | EncoderOnly) -> None:
    plain = tuning.prepared(body, Tuning(method="head"))
    adapted = tuning.prepared(body, Tuning(method="lora", rank=2))
    ids, lengths, _ = tuning.together(tuning.encoded(HELD_OUT, TOKENIZER, body))
    torch.testing.assert_close(adapted.read(ids, lengths), plain.read(ids, lengths))
    last = run(body, "lora", rank=2, steps=5)[-1]
    values = np.array(last["spectrum"])
    assert (values[:2] > 1e-4).all()
    assert (values[2:] < 1e-6).all()
    assert np.array(last["moved"]).shape == (SHAPE["n_layers"], SHAPE["n_heads"])


def test_how_far_heads_moved_is_what_numpy_finds(body: DecoderOnly | EncoderOnly) -> None:
    classifier = tuning.prepared(body, Tuning(method="all"))
    start = {name: W.detach().clone() for name, W in classifier.body.named_parameters()}
    stack = "decoder" if isinstance(body, DecoderOnly) else "encoder"
    (name,) = [name for name in start if name.startswith(stack) and ".1." in name and name.endswith("W_Q.weight")]
    change = np.random.default_rng(0).normal(size=(12, 12)).astype(np.float32)
    with torch.no_grad():
        dict(classifier.body.named_parameters())[name].add_(torch.tensor(change))
    found = tuning.outcome(classifier, start, "all")
    W = start[name].numpy()
    expected = [np.linalg.norm(change[4 * h : 4 * h + 4]) / np.linalg.norm(W[4 * h : 4 * h + 4]) for h in range(3)]
    np.testing.assert_allclose(found["moved"], np.array([[0.0] * 3, expected]), rtol=1e-5)
    assert found["layer"] == 1
    np.testing.assert_allclose(found["spectrum"], np.linalg.svd(change, compute_uv=False), rtol=1e-4)


def test_padding_changes_no_answer_and_texts_are_cut_to_the_models_length(body: DecoderOnly | EncoderOnly) -> None:
    rows = tuning.encoded([("x" * 99, True), ("", False), ("é", True)], TOKENIZER, body)
    assert [len(row) for row, _ in rows] == [23, 2]
    classifier = tuning.prepared(body, Tuning(method="head")).eval()
    torch.nn.init.normal_(classifier.head.weight)
    data = tuning.encoded([("a", True), ("a longer text", False), ("an even longer text", True)], TOKENIZER, body)
    ids, lengths, _ = tuning.together(data)
    with torch.no_grad():
        alone = [classifier(*tuning.together([one])[:2])[0] for one in data]
        torch.testing.assert_close(classifier(ids, lengths), torch.stack(alone), rtol=1e-4, atol=1e-5)
        right = np.mean([(float(logit) > 0) == question for logit, (_, question) in zip(alone, data, strict=True)])
    assert tuning.accuracy(classifier, data) == pytest.approx(right)


@each("method", METHODS)
def test_the_task_is_learned_and_the_same_seed_gives_the_same(body: DecoderOnly | EncoderOnly, method: Method) -> None:
    records = run(body, method, steps=60)
    shares = [record["share"] for record in records]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    if method != "head":  # freshly drawn, the model itself may not tell the two apart
        assert records[-1]["accuracy"] >= 0.9
    assert records[-2]["loss"] < records[0]["loss"]
    assert run(body, method, steps=60)[-1]["head"] == records[-1]["head"]
