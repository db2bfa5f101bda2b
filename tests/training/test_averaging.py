"""A model whose weights are the mean of the last checkpoints."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.training.runs import card_of, refused, run
from tfmviz.training import averaging
from tfmviz.training.__main__ import AVERAGED

Weights = dict[str, torch.Tensor]


def at_checkpoint(out: Path) -> Weights:
    """The weights with which the run would go on, in full precision."""
    tensors = load_file(out / "checkpoint.safetensors")
    return {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}


def shipped(out: Path) -> Weights:
    return load_file(out / "model.safetensors")


def mean_of(checkpoints: list[Weights]) -> Weights:
    """Rounded as models are shipped."""
    return {name: torch.stack([one[name] for one in checkpoints]).mean(dim=0).half() for name in checkpoints[0]}


def assert_close(ours: Weights, theirs: Weights) -> None:
    """Up to the last digit of half precision."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name].float(), value.float(), rtol=1e-3, atol=1e-6)


def test_the_shipped_weights_are_the_mean_of_the_last_checkpoints(corpus: Path, tmp_path: Path) -> None:
    """Of a run that is made longer twice, so that each of its checkpoints can be looked at. The first falls away."""
    out, checkpoints = tmp_path / "toy", []
    for steps in (4, 6, 8):
        assert run("translate", corpus, out, warmup=2, save_every=2, average=3, steps=steps) == 0
        checkpoints.append(at_checkpoint(out))
    assert_close(shipped(out), mean_of(checkpoints))
    assert any(not value.equal(checkpoints[-1][name].half()) for name, value in shipped(out).items())
    assert "| weights | mean of 3 checkpoints, after steps 4, 6, 8 |" in card_of(out)
    assert sorted(file.name for file in (out / AVERAGED).iterdir()) == [f"000000{n}.safetensors" for n in (4, 6, 8)]

    assert run("translate", corpus, out, warmup=2, save_every=2, average=2) == 0  # the same run, but for a shorter mean
    assert_close(shipped(out), mean_of(checkpoints[1:]))

    assert run("translate", corpus, out, warmup=2, save_every=2) == 0  # the same run, without the mean
    assert all(value.equal(checkpoints[-1][name].half()) for name, value in shipped(out).items())
    assert "| weights |" not in card_of(out)


def test_only_kept_weights_within_a_run_are_averaged(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "toy"
    assert run("induction", corpus, out, steps=2) == 0
    before = (out / "model.safetensors").read_bytes()
    assert "--average" in refused("induction", corpus, out, steps=2, average=5)
    assert (out / "model.safetensors").read_bytes() == before
    model = torch.nn.Linear(2, 3)
    for step in (5, 50, 500):
        averaging.keep(tmp_path, model, step=step, n=7)
    assert [int(file.stem) for file in averaging.kept(tmp_path, until=50)] == [5, 50]
    (tmp_path / "0000050.safetensors").write_bytes(b"torn")
    with pytest.raises(ValueError, match=r"0000050\.safetensors holds no weights"):
        averaging.average(model, averaging.kept(tmp_path, until=50))
