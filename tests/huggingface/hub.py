"""A Hub on this machine, as far as a model is fetched from it: what it has, where files lie, the files themselves."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from huggingface_hub import constants
from huggingface_hub.utils._http import close_session

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
