"""A model of the Hub: what is said before it is fetched, which files are, and what happens when that is stopped."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from tests.huggingface.hub import COMMIT, NAME, served
from tests.huggingface.models import tiny
from tests.huggingface.test_folders import run


def test_it_says_what_it_found_before_it_fetches(
    checkpoint: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkpoint / "README.md").write_text("---\nlicense: mit\n---\n")
    (checkpoint / "consolidated.safetensors").write_bytes(b"the same weights again")
    (checkpoint / "onnx").mkdir()
    (checkpoint / "onnx" / "config.json").write_text("{}")
    with served(checkpoint, tmp_path / "store", monkeypatch) as hub:
        assert run(Path(NAME)) == 0
    said = capsys.readouterr().out
    before = said[: said.index("Fetching")]
    for words in (f"commit {COMMIT[:7]}", "llama", "3 × 6 × 42", "licence mit", "tokenizer.json"):
        assert words in before
    asked = [name for name, _ in hub.asked]
    assert [name for name in asked if name.endswith(".safetensors")] == [asked[-1]] == ["model.safetensors"]
    assert not any("/" in name for name in asked)
    assert f"{NAME}, commit {COMMIT}" in (place / "llama" / "CARD.md").read_text(encoding="utf-8")


def test_a_stopped_download_is_fetched_on(
    checkpoint: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny("llama").save_pretrained(checkpoint, max_shard_size="60KB")
    (checkpoint / "model.safetensors").unlink()
    first, *rest = sorted(file.name for file in checkpoint.glob("model-*"))
    fetch = huggingface_hub.snapshot_download

    def stopped(name: str, *, allow_patterns: Sequence[str] = (), **how: Any) -> str:
        folder: str = fetch(name, allow_patterns=[one for one in allow_patterns if one not in rest], **how)
        if first in allow_patterns:
            raise KeyboardInterrupt
        return folder

    with served(checkpoint, tmp_path / "store", monkeypatch) as hub:
        with monkeypatch.context() as patch:
            patch.setattr("huggingface_hub.snapshot_download", stopped)
            assert run(Path(NAME)) == 130
        assert "files that were fetched are kept" in capsys.readouterr().err
        hub.asked.clear()
        assert run(Path(NAME)) == 0
        assert {name for name, _ in hub.asked} == {*rest}
        hub.asked.clear()
        shutil.rmtree(place / "llama")
        assert run(Path(NAME)) == 0
        assert hub.asked == []


def test_over_a_connection_it_is_redirected_and_goes_on_where_it_was_cut(
    checkpoint: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkpoint / "pytorch_model.bin").write_bytes(b"code")
    with served(checkpoint, tmp_path / "store", monkeypatch) as hub:
        hub.more = {"../evil.json": 3, "*.json": 3, "sub/../../evil.json": 3}
        hub.cuts = 2
        assert run(Path(NAME)) == 0
        weights = [first for name, first in hub.asked if name == "model.safetensors"]
        assert len(weights) == 3
        assert 0 == weights[0] < weights[1] < weights[2]
        assert {name for name, _ in hub.asked} <= {path.name for path in checkpoint.iterdir()} - {"pytorch_model.bin"}
    assert (place / "llama" / "model.safetensors").is_file()
    assert not list(tmp_path.rglob("evil.json"))


def test_over_a_connection_what_is_wrong_is_said_and_nothing_is_written(
    checkpoint: Path,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    weights = checkpoint / "model.safetensors"
    cases: list[tuple[dict[str, Any], str, bool]] = [
        ({"refuses": (401, "GatedRepo", "/")}, "accepted its terms", False),
        ({"refuses": (401, "GatedRepo", "/resolve/")}, "accepted its terms", False),
        ({"refuses": (403, "", "/resolve/")}, "accepted its terms", False),
        ({"refuses": (404, "RepoNotFound", "/")}, "gave no model of that name", False),
        ({"refuses": (500, "", "/")}, "gave no model of that name", False),
        ({"more": {"config.json": 1_100_000}}, "config.json has 1 MB", False),
        ({"more": {"tokenizer.json": 60_000_000}}, "tokenizer.json has 60 MB", False),
        ({"short": 8}, "broke off", True),
        ({"cuts": 99}, "broke off", True),
    ]
    wrong = []
    with served(checkpoint, tmp_path / "store", monkeypatch) as hub:
        for set_to, said, asks_for_weights in cases:
            shutil.rmtree(tmp_path / "store", ignore_errors=True)
            hub.asked.clear()
            with monkeypatch.context() as patch:
                for name, value in set_to.items():
                    patch.setattr(hub, name, value)
                status, error = run(Path(NAME)), capsys.readouterr().err
            asked = weights.name in {name for name, _ in hub.asked}
            if status != 1 or said not in error or asked != asks_for_weights or "Traceback" in error or place.exists():
                wrong.append((set_to, status, error))
        assert not wrong
        weights.rename(checkpoint / "pytorch_model.bin")
        shutil.rmtree(tmp_path / "store")
        assert run(Path(NAME)) == 1
        assert "no weights in safetensors files" in capsys.readouterr().err
        (checkpoint / "pytorch_model.bin").rename(weights)
        hub.short = 8
        assert run(Path(NAME)) == 1
        hub.short = 0
        assert run(Path(NAME)) == 0  # it is fetched anew
