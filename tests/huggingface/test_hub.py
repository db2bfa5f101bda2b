"""A model of the Hub: what is said before it is fetched, which files are, and what happens when that is stopped."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.huggingface.hub import NAME, served
from tests.huggingface.models import tiny
from tests.huggingface.test_folders import run


class Hub:
    """A Hub with one model, whose files are fetched into a folder of this machine.

    Attributes:
        store: what has been fetched.
        fetched: the lists of files that were asked for.
        stop_before: a file at which the network ends.
    """

    def __init__(self, shelf: Path, store: Path) -> None:
        self.shelf, self.store, self.fetched = shelf, store, list[list[str]]()
        self.stop_before: str | None = None

    def model_info(self, *_: Any, **__: Any) -> Any:
        files = [file for file in sorted(self.shelf.rglob("*")) if file.is_file()]
        siblings = [
            SimpleNamespace(rfilename=str(file.relative_to(self.shelf)), size=file.stat().st_size) for file in files
        ]
        return SimpleNamespace(sha="c0ffee", siblings=siblings)

    def download(self, name: str, *, allow_patterns: Any = None, local_files_only: bool = False, **_: Any) -> str:
        if not local_files_only:
            self.fetched.append(list(allow_patterns))
            for file in sorted(allow_patterns):
                if file == self.stop_before:
                    raise KeyboardInterrupt
                self.store.mkdir(exist_ok=True)
                shutil.copy(self.shelf / file, self.store / file)
        if not self.store.exists():
            raise OSError("nothing is kept")
        return str(self.store)


@pytest.fixture
def hub(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub(checkpoint, tmp_path / "store")
    (checkpoint / "README.md").write_text("---\nlicense: mit\n---\n")
    (checkpoint / "consolidated.safetensors").write_bytes(b"the same weights again")
    (checkpoint / "onnx").mkdir()
    (checkpoint / "onnx" / "config.json").write_text("{}")
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.download)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", hub.model_info)
    return hub


def test_it_says_what_it_found_before_it_fetches(hub: Hub, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(Path("somebody/llama")) == 0
    said = capsys.readouterr().out
    before = said[: said.index("Fetching")]
    for words in ("commit c0ffee", "llama", "3 × 6 × 42", "licence mit", "tokenizer.json"):
        assert words in before
    assert len(hub.fetched) == 2
    assert not any(file.endswith(".safetensors") for file in hub.fetched[0])
    assert [file for file in hub.fetched[1] if file.endswith(".safetensors")] == ["model.safetensors"]
    assert not any("/" in file for file in hub.fetched[1])
    assert "somebody/llama, commit c0ffee" in (place / "llama" / "CARD.md").read_text(encoding="utf-8")


def test_a_stopped_download_is_fetched_on(hub: Hub, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny("llama").save_pretrained(hub.shelf, max_shard_size="60KB")
    (hub.shelf / "model.safetensors").unlink()
    shards = sorted(file.name for file in hub.shelf.glob("model-*"))
    hub.stop_before = shards[1]
    assert run(Path("somebody/llama")) == 130
    assert "files that were fetched are kept" in capsys.readouterr().err
    assert (hub.store / shards[0]).exists()
    hub.stop_before = None
    assert run(Path("somebody/llama")) == 0
    hub.fetched.clear()
    shutil.rmtree(place / "llama")
    assert run(Path("somebody/llama")) == 0
    assert hub.fetched == []


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
