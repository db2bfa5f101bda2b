"""The command line from a text to a model folder."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from safetensors.torch import load_file

from tests.cases import each
from tests.training.runs import (
    COURSES,
    assert_same_weights,
    card_of,
    logged_losses,
    read_log,
    refused,
    run,
    run_in_two,
    words,
)
from tests.training.toys import write_lines
from tfmviz import zoo
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import DecoderOnly
from tfmviz.positions.schemes import SCHEMES
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training import __main__ as command
from tfmviz.training import courses
from tfmviz.training.data import load_split, pack, windows
from tfmviz.training.evaluation import unigram_cross_entropy
from tfmviz.training.loop import evaluate
from tfmviz.training.shapes import CourseName


def test_the_command_writes_a_model_folder(trained: Path) -> None:
    assert {"model.safetensors", "config.json", "tokenizer.json", "CARD.md"} <= {f.name for f in trained.iterdir()}
    assert {value.dtype for value in load_file(trained / "model.safetensors").values()} == {torch.float16}
    config = ModelConfig.from_dict(json.loads((trained / "config.json").read_text(encoding="utf-8")))
    assert (config.max_len, config.n_layers, config.d_model) == (11, 1, 20)
    assert (config.attention.n_heads, config.feed_forward.d_ff) == (2, 80)
    assert config.vocab_size == Tokenizer.load(trained / "tokenizer.json").vocab_size == 283
    assert trained.name in zoo.available(trained.parent)
    trace = zoo.load("toy", folder=trained.parent).trace("The cat sees")
    assert "".join(trace.tokens) == "The cat sees"
    assert trace["logits"].shape == (len(trace.tokens), 283)


def test_every_course_has_a_subcommand() -> None:
    assert {words(course, Path(), Path())[0] for course in COURSES} == set(get_args(CourseName))


LABELS = {"learning_rate": 3e-2}
EARLIER: list[tuple[str, dict[str, Any], type[zoo.Loaded[Any, Any]], str]] = [
    ("lm", {"architecture": "window", "layers": 2}, zoo.EarlierModel, "- **Once upon a**"),
    ("lm", {"architecture": "rnn", "layers": 2}, zoo.EarlierModel, "--architecture rnn"),
    ("lm", {"architecture": "ssm", "layers": 2}, zoo.EarlierModel, "--architecture ssm"),
    ("translate", {"architecture": "seq2seq", "attention": "none"}, zoo.RecurrentTranslator, "| training text |"),
    ("translate", {"architecture": "seq2seq", "attention": "additive", "joined": 9}, zoo.RecurrentTranslator, "joined"),
    ("label", {"directions": "forward", "texts": "single"} | LABELS, zoo.RecurrentLabeller, "texts: single |"),
    ("label", {"directions": "both", "texts": "mixed"} | LABELS, zoo.RecurrentLabeller, "texts: mixed |"),
]


@each("course, options, kind, said", EARLIER)
def test_models_from_before_the_transformer_are_trained_by_the_same_command(
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    course: str,
    options: dict[str, Any],
    kind: type[zoo.Loaded[Any, Any]],
    said: str,
) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    assert run(course, corpus, whole, **options) == 0
    for minutes in ({"minutes": 0}, {}):
        assert run(course, corpus, parted, **options, **minutes) == 0
        assert ("Stopped after 1 of 8 steps" in capsys.readouterr().out) == bool(minutes)
        assert (parted / "CARD.md").exists() == (not minutes)
    assert logged_losses(parted) == logged_losses(whole)
    assert course != "translate" or logged_losses(whole)[-1] < logged_losses(whole)[0]
    assert zoo.available(tmp_path) == ()  # no page has them in its menu
    model = zoo.load("whole", folder=tmp_path, kind=kind)
    entries = model.config.to_dict()
    assert all(entries[name] == value for name, value in options.items() if name in entries)
    assert model.trace("Phrase 1")["logits"].shape[1] == entries.get("n_labels", entries["vocab_size"])
    expected = (f"| parameters | {model.config.n_parameters:,} |", said)
    assert [words for words in expected if words not in card_of(whole)] == []


def test_the_log_holds_every_step_once_and_an_evaluation_at_every_save(trained: Path) -> None:
    losses, log = logged_losses(trained), read_log(trained)
    assert len(losses) == 8
    assert losses[-1] < losses[0]
    assert [entry["step"] + 1 for entry in log if "held_out_loss" in entry] == [3, 6, 8]


def test_the_card_holds_what_the_shipped_model_measures(trained: Path, corpus: Path) -> None:
    model, split = zoo.load("toy", folder=trained.parent), load_split([(corpus / "lines.txt", 1)])
    assert isinstance(model.module, DecoderOnly)
    assert isinstance(model.tokenizer, Tokenizer)
    stream, held_out = (pack(part, model.tokenizer, seed=5) for part in (split.train, split.held_out))
    loss = evaluate(model.module, windows(held_out, length=11))
    unigram = unigram_cross_entropy(stream, held_out, vocab_size=283)
    continuation = zoo.writing.generate(model, "Once upon a", max_new_tokens=40).text.removeprefix("Once upon a")
    n_tokens = sum(entry["tokens"] for entry in read_log(trained))
    card = card_of(trained)
    said = (
        f"| held-out loss | {loss:.3f} nats per token ({len(held_out)} tokens",
        f"| unigram cross-entropy on the same text | {unigram:.3f} nats",
        f"| training text | {len(stream):,} tokens",
        f"| training | 8 steps, {n_tokens:,} tokens, 0:00:",
        f"- **Once upon a**{continuation}",
    )
    assert card.startswith("# toy\n")
    assert [words for words in said if words not in card] == []


def test_what_is_measured_is_what_is_shipped(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[dict[str, torch.Tensor]] = []

    def spy(model: DecoderOnly, *args: Any, **kwargs: Any) -> float:
        measured.append({name: value.clone() for name, value in model.state_dict().items()})
        return evaluate(model, *args, **kwargs)

    monkeypatch.setattr(courses, "evaluate", spy)
    assert run("lm", corpus, tmp_path / "toy", steps=2) == 0
    shipped = load_file(tmp_path / "toy" / "model.safetensors")
    assert all(measured[-1][name].equal(value.float()) for name, value in shipped.items())


def test_the_card_says_what_was_said_and_how_long_the_text_is(corpus: Path, tmp_path: Path, trained: Path) -> None:
    about = write_lines(tmp_path / "about.md", ["Sentences of a toy grammar. Licence: none."])
    assert run("lm", corpus, tmp_path / "toy", about=about, steps=1) == 0
    assert "Sentences of a toy grammar. Licence: none." in card_of(tmp_path / "toy")
    assert run("lm", corpus, tmp_path / "twice", data=f"{corpus / 'lines.txt'}:2", steps=1) == 0
    found = (re.search(r"\| training text \| ([\d,]+) tokens", card_of(out)) for out in (trained, tmp_path / "twice"))
    once, twice = (int(row[1].replace(",", "")) for row in found if row)
    assert twice / once == pytest.approx(2, rel=0.1)


@each("changes", [*({"positions": scheme} for scheme in SCHEMES), {"precision": "bfloat16"}, {"training_mask": "none"}])
def test_what_the_help_offers_can_be_trained(corpus: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    assert run("lm", corpus, tmp_path / "toy", steps=2, **changes) == 0
    assert zoo.load("toy", folder=tmp_path).trace("The cat").tokens


def test_a_run_begins_with_a_finished_models_tokens_and_weights(corpus: Path, trained: Path, tmp_path: Path) -> None:
    """At a learning rate too small to move anything, on other text, it stays that model."""
    other = write_lines(tmp_path / "other.txt", [f"Number {n} is {n * n} squared." for n in range(400)])
    changes = {"start_from": trained, "steps": 1, "learning_rate": 1e-30}
    assert run("lm", corpus, tmp_path / "tuned", data=other, **changes) == 0
    for name in ("tokenizer.json", "config.json"):
        assert (tmp_path / "tuned" / name).read_bytes() == (trained / name).read_bytes()
    assert_same_weights(tmp_path / "tuned", trained)
    changes |= {"dropout": 0.1, "training_mask": "none"}  # what acts in training alone may differ
    assert run("lm", corpus, tmp_path / "other", **changes) == 0
    config = json.loads((tmp_path / "other" / "config.json").read_text(encoding="utf-8"))
    assert (config["dropout"], config["training_mask"]) == (0.1, "none")


@each(
    "change, said",
    [({"width": 40}, "has another shape (d_model: 20 there, 40 asked for"), ({"start_from": "."}, "no model")],
)
def test_a_misfit_is_no_start(corpus: Path, trained: Path, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    if "start_from" in change:
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "tokenizer.json").write_bytes((trained / "tokenizer.json").read_bytes())
        change = {"start_from": tmp_path / "model"}
    assert said in refused("lm", corpus, tmp_path / "tuned", **{"start_from": trained} | change)


def test_snapshots_are_the_weights_at_steps_spaced_evenly_on_a_log_scale(corpus: Path, tmp_path: Path) -> None:
    assert run("induction", corpus, tmp_path / "toy", steps=16, snapshots=5) == 0
    files = sorted((tmp_path / "toy" / "snapshots").iterdir())
    assert [int(file.stem) for file in files] == [1, 2, 4, 8, 16]
    last, final = load_file(files[-1]), load_file(tmp_path / "toy" / "model.safetensors")
    assert all(torch.equal(last[name], final[name]) for name in final)
    assert len(command.snapshot_steps(4000, n=16)) == 16


@each(
    "source, path, weight",
    [
        ("stories.txt", "stories.txt", 1),
        ("stories.txt:2", "stories.txt", 2),
        ("folder/with:colon:13", "folder/with:colon", 13),
        ("C:\\texts", "C:\\texts", 1),
        ("C:\\texts:3", "C:\\texts", 3),
        ("notes:2024-05", "notes:2024-05", 1),
        ("stories.txt:", "stories.txt:", 1),
        ("stories.txt:²", "stories.txt:²", 1),
    ],
)
def test_a_source_may_say_how_often_it_is_read(source: str, path: str, weight: int) -> None:
    assert courses.parse_source(source) == (Path(path), weight)


def test_two_processes_have_the_gradients_of_one_with_twice_the_batch(corpus: Path, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"smoothing": 0.1, "dropout": 0.0}
    assert run("translate", corpus, tmp_path / "one", **changes) == 0
    assert run_in_two(words("translate", corpus, tmp_path / "two", **changes)).returncode == 0
    for here, there in zip(read_log(tmp_path / "one"), read_log(tmp_path / "two"), strict=True):
        assert there["loss"] == pytest.approx(here["loss"], rel=1e-5)
        assert there["grad_norm"] == pytest.approx(here["grad_norm"], rel=1e-4)
        assert there["tokens"] == here["tokens"]
    ours, theirs = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("two", "one"))
    for name in (name for name in ours if ".exp_avg." in name):  # a mean of the gradients
        torch.testing.assert_close(ours[name], theirs[name], rtol=1e-3, atol=1e-6)
