"""The scripts that train the shipped models and pairs."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import torch

from scripts import train_recipe, train_zoo
from scripts.train_digits import changed
from scripts.train_pairs import PAIRS, recipe
from tests.training.runs import run
from tfmviz.positions.schemes import SCHEMES
from tfmviz.training.__main__ import prepare_settings
from tfmviz.training.courses import check_options
from tfmviz.training.options import parse_arguments


def test_twins_trained_otherwise_are_found(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_zoo, "RUNS", tmp_path)
    for name, positions in (("twins-none", "none"), ("twins-rope", "rope")):
        assert run("lm", corpus, tmp_path / name, positions=positions) == 0
    assert run("lm", corpus, tmp_path / "ladder-rnn", architecture="rnn", layers=2) == 0
    train_zoo.check_twins()
    assert run("lm", corpus, tmp_path / "ladder-window", architecture="window", seed=6) == 0
    with pytest.raises(SystemExit, match=r"ladder-window was not trained like .*: batch_seed, seed, text"):
        train_zoo.check_twins()
    assert run("lm", corpus, tmp_path / "twins-t5", positions="t5", seed=6) == 0
    shutil.rmtree(tmp_path / "ladder-window")
    with pytest.raises(SystemExit, match="twins-t5 was not trained like the others: batch_seed, seed, text"):
        train_zoo.check_twins()


def test_every_recipe_is_a_command_line_that_the_commands_understand(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, known in train_zoo.RECIPES.items():
        assert (train_zoo.ABOUT / known.about).exists()
        for training in (*known.before, known.train):
            monkeypatch.setattr(sys, "argv", ["tfmviz.training", *training.split(), "--out", name])
            args = parse_arguments()
            prepare_settings(args, "cpu")
            check_options(args)
    twins = {n: r.train.split("--positions")[0] for n, r in train_zoo.RECIPES.items() if n.startswith("twins-")}
    others = {f"twins-{kind}" for kind in ("postnorm", "attention-only", "unmasked", "gqa", "window", "linear", "sink")}
    assert set(twins) == {f"twins-{scheme}" for scheme in SCHEMES} | others
    assert len(set(twins.values())) == 1


def test_the_card_of_the_model_of_spans_names_the_command_of_its_script() -> None:
    card = (train_recipe.SHIPPED / "spans" / "CARD.md").read_text(encoding="utf-8")
    assert f"`python -m tfmviz.training {train_recipe.SPANS.train} --out {train_recipe.RUNS}/spans" in card
    assert train_recipe.SPANS.says in card


def test_a_thinned_log_keeps_the_ends_and_every_evaluation(tmp_path: Path) -> None:
    entries = [{"step": i, "loss": 1 / (i + 3)} | ({"held_out_loss": 2.5} if i % 333 == 7 else {}) for i in range(1001)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    train_zoo.thin_log(tmp_path / "log.jsonl", tmp_path / "thin.jsonl", n=50)
    thin = [json.loads(line) for line in (tmp_path / "thin.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = [entry["step"] for entry in thin]
    assert steps == sorted(set(range(0, 1001, 20)) | {7, 340, 673, 1000})
    assert thin[1]["loss"] == pytest.approx(entries[steps[1]]["loss"], rel=1e-5)
    kept = (tmp_path / "thin.jsonl").read_bytes()
    train_zoo.thin_log(tmp_path / "lost.jsonl", tmp_path / "thin.jsonl")
    assert (tmp_path / "thin.jsonl").read_bytes() == kept


def test_corpora_that_were_prepared_in_part_are_prepared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_zoo, "RUNS", tmp_path)
    (tmp_path / "data" / "english").mkdir(parents=True)
    for name, file in {"PAIRS": "fra-eng.tsv", "WORDS": "words.tsv", "CHINESE": "chinese.txt"}.items():
        monkeypatch.setattr(train_zoo, name, str(tmp_path / "data" / file))
        (tmp_path / "data" / file).touch()
    commands: list[str] = []
    monkeypatch.setattr(train_zoo, "run", lambda module, *_: commands.append(module))
    for source in train_zoo.SOURCES:
        train_zoo.prepare_data(tmp_path / "corpora")
        (tmp_path / "data" / "english" / source.partition(":")[0]).touch()
    train_zoo.prepare_data(tmp_path / "corpora")
    assert commands == ["scripts.prepare_english"] * len(train_zoo.SOURCES)


def test_a_recipe_goes_on_from_its_first_run(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = f"translate --data {corpus / 'pairs.tsv'} --vocab-size 283 --context 37 --batch-tokens 256 --layers 1 "
    shape += "--heads 2 --width 20 --steps 2 --device cpu --precision float32"
    again = f"{shape} --variants once"
    recipe = train_zoo.Recipe(says="A toy.", about="pairs.md", before=(shape,), train=again, evaluate="")
    monkeypatch.setitem(train_zoo.RECIPES, "toy", recipe)
    monkeypatch.setattr(train_zoo, "RUNS", tmp_path)
    assert train_zoo.train("toy", minutes=None, steps=None)
    first, second = (tmp_path / name for name in ("toy-1", "toy"))
    assert (first / "tokenizer.json").read_bytes() == (second / "tokenizer.json").read_bytes()
    assert (first / "model.safetensors").read_bytes() != (second / "model.safetensors").read_bytes()
    cards = [(folder / "CARD.md").read_text() for folder in (first, second)]
    found = [re.findall(r"\| training text \| ([\d,]+) pairs", card) for card in cards]
    one, two = (int(number.replace(",", "")) for (number,) in found)
    assert two == 2 * one  # each pair once more; these have no phrases


DIFFER = {
    "residuals": {"residual"},
    "spaces": {"architecture", "heads", "embedding_scale"},  # which a state space has not
    "duplicates": {"data"},
}


def test_the_two_of_a_pair_differ_in_one_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PAIRS.keys() == DIFFER.keys()
    for pair, names in PAIRS.items():
        settings = []
        for name in names:
            monkeypatch.setattr("sys.argv", ["", *shlex.split(recipe(pair, name).train), "--out", "x"])
            settings.append(vars(parse_arguments()))
        assert {key for key in settings[0] if settings[0][key] != settings[1][key]} == DIFFER[pair]


def test_a_digit_is_moved_by_up_to_a_cell_and_one_in_three_is_black_and_white() -> None:
    read = torch.zeros(300, 8, 8)
    read[:, 3, 4] = 0.7
    generator = torch.Generator().manual_seed(1)
    found = changed(read, generator)
    places = found.flatten(1).argmax(dim=1)
    assert set(places.tolist()) == {8 * row + column for row in (2, 3, 4) for column in (3, 4, 5)}
    assert found.unique().tolist() == pytest.approx([0.0, 0.7, 1.0])
    assert 70 < (found == 1).any(dim=2).any(dim=1).sum() < 130
