"""A server with few open files: it asks for more, and says that it is full while it can still say so."""

import re
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event

import pytest

from tests.asking import SESSION, asked
from tests.browser import free_port
from tests.package.test_command import Started
from tfmviz.capacity import BEFORE_A_SESSION, ENOUGH, PROBE

HEALTH = "/_stcore/health"

pytestmark = pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="reads a process's limits from Linux")


@contextmanager
def started(folder: Path, soft: int, hard: int) -> Iterator[tuple[str, int]]:
    """The address of a server that may have so many open files, and its process."""
    port = free_port()
    limits = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))"
    app = Started(folder, "-c", f"{limits}; from tfmviz.__main__ import main; main(['--port', '{port}'])")
    try:
        app.wait_until_healthy(port)
        yield f"127.0.0.1:{port}", app.process.pid
    finally:
        app.process.kill()
        app.process.communicate()


def status(server: str, path: str) -> int:
    return asked(server, path, {"Host": server, "Connection": "close"})[0]


def idle_session(server: str) -> tuple[socket.socket, bytes]:
    """A session that asks for nothing, and how the server answers it."""
    host, port = server.split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    fields = "".join(f"{name}: {value}\r\n" for name, value in {"Host": server, **SESSION}.items())
    connection.sendall(f"GET /_stcore/stream HTTP/1.1\r\n{fields}\r\n".encode())
    answer = connection.recv(4096)
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(4096)
    return connection, answer


def test_it_asks_for_as_many_open_files_as_it_may_have(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with started(tmp_path, 256, hard) as (_, process):
        (found,) = re.findall(r"^Max open files +(\d+)", Path(f"/proc/{process}/limits").read_text(), re.MULTILINE)
    assert int(found) == (ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH))


def test_it_is_full_before_its_files_run_out_and_idle_sessions_go(tmp_path: Path) -> None:
    """With four files for each session there would be room for 20, and who comes late would find no answer at all."""
    with started(tmp_path, 160, 160) as (server, _), ExitStack() as stack:
        sessions, found, answer = 0, [], b""
        for _ in range(5):  # where ten seconds pass meanwhile, the first ones have left and there is room again
            while status(server, PROBE) == 200:
                stack.enter_context(idle_session(server)[0])
                sessions += 1
            assert 30 < sessions < 160
            late, answer = idle_session(server)
            stack.enter_context(late)
            found = [status(server, path) for path in (PROBE, HEALTH, BEFORE_A_SESSION)]
            while (read := late.recv(4096)) and b"This server is full." not in answer:
                answer += read
            if b"This server is full." in answer and found == [503, 200, 503]:
                break
        assert b"This server is full." in answer
        assert found == [503, 200, 503]
        for _ in range(600):  # each was let in for ten seconds, and has as long to say goodbye
            if status(server, PROBE) == 200:
                break
            Event().wait(0.1)
        assert status(server, PROBE) == 200
