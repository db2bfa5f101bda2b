"""What HAProxy adds: compression, a cache, cookies, doors; that it understands its file."""

import gzip
import itertools
import os
import re
import subprocess
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

import pytest

from deploy.serve import TEMPLATE, Replica, configuration, shares
from tests.asking import asked, handshake
from tests.deploy.serving import Serving
from tests.hostile.spellings import CLOSED
from tfmviz import security
from tfmviz.ui.scripts import name_of


def get(address: str, **headers: str) -> tuple[int, Message, bytes]:
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
    for address in (largest_script(served), f"{served.address}/views/{name_of('explorer')}"):
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


def test_haproxy_understands_its_file_and_opens_what_the_servers_open(haproxy: None, tmp_path: Path) -> None:
    settings = {"LISTEN": "127.0.0.1:8501", "REPLICAS": "localhost:8501", "CONTROL": str(tmp_path / "control")}
    for embed in ("", "https://moodle.example.edu"):
        told = {f"TFMVIZ_{name}": value for name, value in (settings | {"EMBED": embed}).items()}
        command = ["haproxy", "-c", "-f", str(TEMPLATE)]
        done = subprocess.run(command, env=os.environ | told, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr.lower()
    rules = TEMPLATE.read_text(encoding="utf-8")
    assert f"path_reg ^{security.OPEN}$" in rules
    assert not re.findall("|".join(security.headers("")), rules, re.IGNORECASE)


def test_the_servers_of_this_machine_stand_in_the_file_and_share_the_cores_evenly() -> None:
    made = configuration(TEMPLATE.read_text(encoding="utf-8"), [Replica("a", 8502, frozenset({0}))])
    assert made.count("    server a 127.0.0.1:8502\n") == 2
    assert "server-template" not in made
    assert shares([0, 1], 2) == [{0}, {1}]
    assert shares([0, 1, 2, 3, 4], 2) == [{0, 1}, {2, 3, 4}]
    assert shares([0, 1], 3) == [{0}, {1}, {0}]
    assert shares([3, 5], 1) == [{3, 5}]


CLOSE = {"Host": "localhost", "Connection": "close"}


@pytest.fixture
def door(served: Serving) -> str:
    """HAProxy's IP address and port."""
    return served.address.removeprefix("http://")


def test_a_session_of_another_site_is_closed_however_it_is_spelled(door: str) -> None:
    targets = {spelling.replace("metrics", "stream").replace("%6detrics", "%73tream") for spelling in CLOSED}
    got = {one: handshake(door, host="localhost", origin="http://evil.example", target=one) for one in targets}
    assert {target: status for target, status in got.items() if status not in (400, 403, 404)} == {}


def test_only_the_apps_own_pages_open_a_session(door: str) -> None:
    own = (None, "http://localhost:8501", "https://localhost:8501")
    others = ("http://localhost:9999", "http://evil.example", "http://localhost:8501.evil", "null")
    for origin, target in itertools.product((*own, *others), ("/_stcore/stream", "/live")):
        status = handshake(door, host="localhost:8501", origin=origin, target=target)
        assert status == (101 if origin in own else 403), (origin, target)


def test_probes_pass_and_every_answer_carries_each_header_once(door: str, served: Serving) -> None:
    """HAProxy's names no host; that of Kubernetes names the address of a pod."""
    assert asked(door, "/_stcore/health", {}, version="1.0")[0] == 200
    assert asked(door, "/_stcore/health", CLOSE | {"Host": "10.1.2.3:8501"})[0] == 200
    script = largest_script(served).removeprefix(served.address)
    for target in ("/", "/masks", script, "/media/none"):
        _, headers, _ = get(f"http://{door}{target}")
        for name, value in security.headers("").items():
            assert headers.get_all(name) == [value], target
