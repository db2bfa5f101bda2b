"""A model of the Hub: what is said before it is fetched, which files are, and what happens when that is stopped."""

import hashlib
import json
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub import constants
from huggingface_hub.utils._http import close_session

from tests.huggingface.models import tiny
from tests.huggingface.test_folders import run

COMMIT = "c0ffee" + "0" * 34
NAME = "somebody/llama"


class Hub(ThreadingHTTPServer):
    """Serves the files of a folder as a model. As the real one, it sends who asks for weights elsewhere.

    Attributes:
        asked: the files that were sent, each with the byte from which it was asked for.
        more: files that are only listed, and their sizes.
        refuses: a status and the Hub's name of it, in answer to all whose path contains a text.
        cuts: how often a file of weights ends in the middle, with the connection.
        short: bytes that are missing at the end of files of weights.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder = folder
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[tuple[str, int]] = []
        self.more: dict[str, int] = {}
        self.refuses = (0, "", "nothing")
        self.cuts = 0
        self.short = 0

    def sizes(self) -> dict[str, int]:
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        return {path.relative_to(self.folder).as_posix(): path.stat().st_size for path in files} | self.more


class Answer(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status, code, part = self.server.refuses
        if part in self.path:
            self.say(status, b"{}", {"X-Error-Code": code})
        elif self.path.startswith(f"/api/models/{NAME}/tree/"):
            files = self.server.sizes().items()
            self.say(200, [{"type": "file", "path": path, "size": n, "oid": path} for path, n in files])
        elif self.path.startswith(f"/api/models/{NAME}"):
            siblings = [{"rfilename": path, "size": n} for path, n in self.server.sizes().items()]
            self.say(200, {"id": NAME, "sha": COMMIT, "siblings": siblings, "private": False})
        elif match := re.fullmatch(rf"/({NAME}/resolve/{COMMIT}|elsewhere)/(.+)", self.path):
            self.file(match[2], is_elsewhere=match[1] == "elsewhere")
        else:
            self.say(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    do_HEAD = do_GET  # noqa: N815

    def file(self, name: str, *, is_elsewhere: bool) -> None:
        data = (self.server.folder / name).read_bytes()
        about = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT}
        if name.endswith(".safetensors") and not is_elsewhere:
            linked = {"X-Linked-Size": str(len(data)), "X-Linked-ETag": about["ETag"]}
            self.say(302, b"", about | linked | {"Location": f"{self.server.address}/elsewhere/{name}"})
            return
        first = int((self.headers.get("Range") or "bytes=0-")[6:].partition("-")[0])
        if self.command == "GET":
            self.server.asked.append((name, first))
        data = data[first : len(data) - self.server.short] if is_elsewhere else data[first:]
        is_cut = is_elsewhere and self.command == "GET" and self.server.cuts > 0
        self.server.cuts -= is_cut
        self.say(206 if first else 200, data, about, n_sent=len(data) // 2 if is_cut else None)

    def say(
        self, status: int, body: object, headers: dict[str, str] | None = None, *, n_sent: int | None = None
    ) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[:n_sent])
        if n_sent is not None:
            self.close_connection = True

    def log_message(self, *_: object) -> None: ...


@contextmanager
def served(folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub with the files of a folder; the library knows no other, and keeps what it fetches in `store`."""
    with Hub(folder) as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(store))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)  # what came of a chunk when it broke off is lost
        monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)
        try:
            yield hub
        finally:
            close_session()
            hub.shutdown()
            thread.join()


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
    checkpoint: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
