"""What HAProxy adds: compression, a cache, cookies; and that it understands its file."""

import gzip
import os
import re
import subprocess
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

from deploy.serve import TEMPLATE, Replica, configuration, shares
from tests.deploy.serving import Serving
from tfmviz.ui.scripts import name_of
from tfmviz.views import explorer


def get(address: str, **headers: str) -> tuple[int, Message, bytes]:
    """Status, headers and body of the answer, whatever the status."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, headers=fields)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def largest_script(served: Serving) -> str:
    _, _, page = get(served.address)
    (script,) = re.findall(r'<script type="module" crossorigin src="\./(static/js/[^"]+)"', page.decode())
    return f"{served.address}/{script}"


def test_static_files_are_compressed_and_kept(served: Serving) -> None:
    for address in (largest_script(served), f"{served.address}/views/{name_of(explorer.JS)}"):
        _, plain_headers, plain = get(address)
        _, headers, packed = get(address, Accept_Encoding="gzip")
        assert gzip.decompress(packed) == plain
        assert len(packed) < len(plain) * 2 / 3
        assert "immutable" in headers["Cache-Control"]
        assert "Set-Cookie" not in plain_headers
        assert headers["Age"], "it does not come out of HAProxy's cache"


def test_a_reader_stays_with_one_server(served: Serving) -> None:
    answers = [get(served.address) for _ in range(4)]
    cookies = {headers["Set-Cookie"].split(";")[0] for _, headers, _ in answers}
    assert len(cookies) == 2, "without a cookie, readers are sent to the servers in turn"
    assert all("HttpOnly" in headers["Set-Cookie"] for _, headers, _ in answers)
    (one, _) = cookies
    kept = [get(served.address, Cookie=one)[1]["Set-Cookie"] for _ in range(4)]
    assert kept == [None] * 4, "with a cookie, nobody is sent elsewhere"


def test_haproxy_understands_its_file(haproxy: None, tmp_path: Path) -> None:
    settings = {"LISTEN": "127.0.0.1:8501", "REPLICAS": "localhost:8501", "CONTROL": str(tmp_path / "control")}
    for embed in ("", "https://moodle.example.edu"):
        told = {f"TFMVIZ_{name}": value for name, value in (settings | {"EMBED": embed}).items()}
        command = ["haproxy", "-c", "-f", str(TEMPLATE)]
        done = subprocess.run(command, env=os.environ | told, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr.lower()


def test_the_servers_of_this_machine_take_the_place_of_those_looked_up_by_name() -> None:
    made = configuration(TEMPLATE.read_text(encoding="utf-8"), [Replica("a", 8502, frozenset({0}))])
    assert made.count("    server a 127.0.0.1:8502\n") == 2
    assert "server-template" not in made


def test_cores_are_shared_out_evenly() -> None:
    assert shares([0, 1], 2) == [{0}, {1}]
    assert shares([0, 1, 2, 3, 4], 2) == [{0, 1}, {2, 3, 4}]
    assert shares([0, 1], 3) == [{0}, {1}, {0}]
    assert shares([3, 5], 1) == [{3, 5}]
