"""`python -m deploy.serve` as a process: what `make serve` runs."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.asking import asked
from tests.browser import ROOT
from tests.deploy.serving import free_ports


def command(*options: str, **settings: object) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "deploy.serve", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(line, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, **settings)  # type: ignore[call-overload]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_it_serves_until_it_is_asked_to_stop_and_leaves_nothing_behind(haproxy: None) -> None:
    port = free_ports(3)
    with command("--replicas=2", f"--port={port}", "--allowed-host=attention.uni.example") as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == f"Open http://localhost:{port} (2 servers)\n"
            for host, status in (("attention.uni.example", 200), ("uni.example", 403)):
                assert asked(f"127.0.0.1:{port}", "/", {"Host": host, "Connection": "close"})[0] == status
            with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=300) as answer:
                assert answer.status == 200
            assert [listens(port + n) for n in range(3)] == [True] * 3
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
    assert [listens(port + n) for n in range(3)] == [False] * 3


def test_it_says_what_to_install_when_haproxy_is_missing_and_refuses_impossible_settings(tmp_path: Path) -> None:
    with command(env={"PATH": str(tmp_path)}) as process:
        _, said = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "apt-get install haproxy" in said
    for option in ("--replicas=0", "--replicas=-1", "--replicas=two", "--port=0"):
        with command(option) as process:
            _, said = process.communicate(timeout=300)
        assert process.returncode == 2, option
        assert "Traceback" not in said, option


def test_where_nothing_can_listen_one_sentence_says_so(haproxy: None) -> None:
    port = free_ports(3)
    for taken in (0, 2):  # HAProxy's port, a server's port
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port + taken))
            listener.listen()
            with command("--replicas=2", f"--port={port}") as process:
                printed, said = process.communicate(timeout=300)
        assert (process.returncode, printed) == (1, "")
        assert re.fullmatch(rf"Port {port + taken} is taken: .* --port \d+\.\n", said)
    with command("--host=203.0.113.5", f"--port={port}") as process:
        printed, said = process.communicate(timeout=300)
    assert (process.returncode, printed) == (1, "")
    assert re.fullmatch(r"This machine has no address 203\.0\.113\.5: .*\n", said)
