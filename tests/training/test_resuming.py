"""Runs that are broken off go on as if nothing had happened."""

import re
import signal
from pathlib import Path
from typing import Any

from tests.cases import each
from tests.training.runs import (
    TRANSFORMERS,
    assert_same_weights,
    broken_off_after,
    card_of,
    copy_of,
    logged_losses,
    read_log,
    refused,
    run,
    run_apart,
    words,
)
from tfmviz import zoo


def test_a_finished_run_is_not_trained_again(corpus: Path, trained: Path, tmp_path: Path) -> None:
    out = copy_of(trained, tmp_path / "toy")
    assert run("lm", corpus, out) == 0
    assert read_log(out) == read_log(trained)
    assert (out / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()


@each(
    "option, value, named",
    [
        ("seed", 6, "seed"),
        ("learning_rate", 1e-3, "learning_rate"),
        ("context", 13, "max_len"),
        ("width", 24, "d_model"),
        ("positions", "learned", "positions"),
        ("batch_size", 4, "batch_size"),
        ("repeated", 0, "repeated"),
        ("vocab_size", 271, "vocab"),
        ("smoothing", 0.2, "smoothing"),
        ("change_rate", "4:0.1", "changes: None there, [[4, 0.1]] now"),
    ],
)
def test_settings_must_agree(corpus: Path, stopped: Path, tmp_path: Path, option: str, value: Any, named: str) -> None:
    out = copy_of(stopped, tmp_path / "toy")
    assert named in refused("lm", corpus, out, **{option: value})
    assert not (out / "model.safetensors").exists()


@each("course", TRANSFORMERS)
def test_every_course_resumes_exactly(course: str, corpus: Path, tmp_path: Path) -> None:
    assert run(course, corpus, tmp_path / "whole", dropout=0.1) == 0
    with broken_off_after(4):
        run(course, corpus, tmp_path / "parts", dropout=0.1)
    assert run(course, corpus, tmp_path / "parts", dropout=0.1) == 0
    assert logged_losses(tmp_path / "parts") == logged_losses(tmp_path / "whole")
    assert len(logged_losses(tmp_path / "whole")) == 8
    assert_same_weights(tmp_path / "parts", tmp_path / "whole")
    model = zoo.load("parts", folder=tmp_path)
    assert model.trace("abc")["logits"].shape[1] == model.config.vocab_size
    said = f"| command | `python -m tfmviz.training {words(course, corpus, tmp_path)[0]}"
    assert said in card_of(tmp_path / "parts")


def test_a_run_whose_schedule_knows_no_end_may_be_made_longer(corpus: Path, tmp_path: Path) -> None:
    assert run("translate", corpus, tmp_path / "whole", warmup=2) == 0
    assert run("translate", corpus, tmp_path / "parts", warmup=2, steps=3) == 0
    assert run("translate", corpus, tmp_path / "parts", warmup=2) == 0
    assert logged_losses(tmp_path / "parts") == logged_losses(tmp_path / "whole")
    assert "has done 8 steps already" in refused("translate", corpus, tmp_path / "parts", warmup=2, steps=3)


AFTER_STEP_4 = """
from tfmviz.training import __main__, loop
def train(*args, **kwargs):
    for record in loop.train(*args, **kwargs):
        yield record
        if record.step == 4:
            os.kill(os.getpid(), 9)
__main__.train = train
"""


@each("step", range(8))
def test_a_run_goes_on_from_any_step(step: int, corpus: Path, trained: Path, tmp_path: Path) -> None:
    with broken_off_after(step):
        run("lm", corpus, tmp_path / "toy")
    assert run("lm", corpus, tmp_path / "toy") == 0
    assert logged_losses(tmp_path / "toy") == logged_losses(trained)
    assert (tmp_path / "toy" / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()


WHILE_SAVING = """
from tfmviz.training import checkpoint
save_file = checkpoint.save_file
def kill(tensors, path, **kwargs):
    save_file(tensors, path, **kwargs)
    if kwargs["metadata"]["step"] == "6":
        os.kill(os.getpid(), 9)
checkpoint.save_file = kill
"""


@each("prologue, n_logged, left", {"between steps": (AFTER_STEP_4, 5, False), "while saving": (WHILE_SAVING, 6, True)})
def test_a_killed_run_goes_on(prologue: str, n_logged: int, left: bool, corpus: Path, tmp_path: Path) -> None:
    assert run("translate", corpus, tmp_path / "whole") == 0
    assert run_apart(prologue, words("translate", corpus, tmp_path / "parts")).returncode == -signal.SIGKILL
    assert len(logged_losses(tmp_path / "parts")) == n_logged
    assert (tmp_path / "parts" / "checkpoint.safetensors.partial").exists() == left
    assert run("translate", corpus, tmp_path / "parts") == 0
    assert logged_losses(tmp_path / "parts") == logged_losses(tmp_path / "whole")
    assert not (tmp_path / "parts" / "checkpoint.safetensors.partial").exists()


def test_a_full_disk_ends_in_one_sentence_and_leaves_nothing_behind(corpus: Path, tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    out = tmp_path / "toy"
    done = run_apart(limit, words("lm", corpus, out, width=64))
    assert done.returncode == 1
    assert re.fullmatch(r"Cannot train: .*checkpoint\.safetensors cannot be written .*\n", done.stderr)
    assert {file.name for file in out.iterdir()} == {"tokenizer.json", "config.json", "log.jsonl"}
