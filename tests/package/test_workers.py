"""Several servers at one address: who gets which connection, what happens when one dies, how all end."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode

import pytest
from websockets.exceptions import WebSocketException

from tests.asking import asked, wait_until
from tests.browser import ROOT, free_port
from tests.classroom.crowd import together
from tests.classroom.session import Session, cookie_from, opened
from tests.package.two_workers import SILENT
from tfmviz import __main__ as command
from tfmviz import workers

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks Linux for a process's children")


def start(*line: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-m", *line], cwd=ROOT, stdout=pipe, stderr=subprocess.STDOUT, text=True)


@pytest.fixture
def front() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A front whose two workers say who they are, and its port."""
    with start("tests.package.two_workers") as process:
        assert process.stdout
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.terminate()


def children(process: subprocess.Popen[str]) -> list[int]:
    return [*map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())]


def ask(connection: HTTPConnection, reader: str = "") -> int:
    """Who answers on a connection."""
    connection.request("GET", "/", headers={"Cookie": f"other=1; {workers.COOKIE}={reader}"} if reader else {})
    return int(connection.getresponse().read())


def answers(port: int, reader: str = "") -> int:
    """Who answers a reader, 0 if nobody does."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection, suppress(OSError, HTTPException):
        return ask(connection, reader)
    return 0


def test_a_browser_keeps_its_worker_and_others_go_where_the_fewest_are(
    front: tuple[subprocess.Popen[str], int],
) -> None:
    process, port = front
    with ExitStack() as stack:

        def come(reader: str = "") -> tuple[int, HTTPConnection]:
            connection = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=60)))
            return ask(connection, reader), connection

        there = [come() for _ in range(6)]
        assert sorted(who for who, _ in there) == sorted(3 * children(process))
        (mine, _), *later = [come("0" * 32) for _ in range(4)]
        assert {who for who, _ in later} == {mine}
        (other,) = {*children(process)} - {mine}
        for who, connection in there:
            if who == other:
                connection.close()

        def it_is_empty() -> bool:
            came = [come() for _ in range(3)]
            for _, connection in came:
                connection.close()
            return {who for who, _ in came} == {other}

        wait_until(it_is_empty, "a turn to the empty worker")


def test_a_worker_that_dies_is_started_again_and_its_readers_are_with_another_meanwhile(
    front: tuple[subprocess.Popen[str], int],
) -> None:
    process, port = front
    mine = answers(port, "0" * 32)
    (other,) = {*children(process)} - {mine}
    os.kill(mine, signal.SIGKILL)
    wait_until(lambda: answers(port, "0" * 32) == other, "an answer of the other")
    wait_until(lambda: len({*children(process)} - {mine}) == 2 and answers(port) not in (0, other), "a new worker")
    assert answers(port, "0" * 32) == other


def test_a_connection_that_says_nothing_is_closed(front: tuple[subprocess.Popen[str], int]) -> None:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", front[1]), timeout=60) as silent:
        assert silent.recv(1) == b""
    assert time.monotonic() - began >= SILENT


def test_all_end_with_the_front_however_it_ends(front: tuple[subprocess.Popen[str], int]) -> None:
    process, _ = front
    there = children(process)
    process.kill()
    wait_until(lambda: not any(Path(f"/proc/{one}/cmdline").exists() for one in there), "the end of the workers")


def test_workers_that_cannot_start_end_the_front_with_a_sentence() -> None:
    with start("tests.package.two_workers", "no") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "A worker has ended before it could answer." in said


def test_the_app_with_two_workers() -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with start("tfmviz", "--workers=2", f"--port={port}") as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == f"Open http://localhost:{port} (2 workers)\n"
            with start("tfmviz", "--workers=2", f"--port={port}") as second:
                assert second.communicate(timeout=60)[0].startswith(f"Port {port} is taken: ")
            together(a_reader_moves(process, address))
            there = children(process)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stdout.read() == "A worker has ended; it is started again.\n"
    assert not [Path(f"/proc/{one}/stat").read_text() for one in there if Path(f"/proc/{one}").exists()]


async def a_reader_moves(process: subprocess.Popen[str], address: str) -> None:
    """Two readers, each on a worker of their own, one of which is killed: its reader comes back to the other."""
    cookies = [await asyncio.to_thread(cookie_from, address) for _ in range(2)]
    text = "the river was cold in winter ."
    visits = [await opened(address, query=urlencode({"text": text}), cookie=cookie) for cookie in cookies]
    assert [answer.explored for _, answer in visits] == [text, text]
    gone, *others = children(process)
    os.kill(gone, signal.SIGKILL)
    sessions = [session for session, _ in visits]
    stay = [session for session in sessions if await lives(session)]
    assert (len(stay), len(others)) == (1, 1)
    lost = cookies[1 - sessions.index(stay[0])]
    headers = {"Host": address.removeprefix("http://"), "Cookie": lost}
    status = await asyncio.to_thread(comes_back, headers)
    session, answer = await opened(address, query=urlencode({"text": text}), cookie=lost)
    assert (status, answer.problems, answer.explored) == (200, [], text)
    for one in (*stay, session):
        await one.close()


def comes_back(headers: dict[str, str]) -> int:
    """The status of an answer, asked again where the front has not yet heard that the worker has ended."""
    found: list[int] = []

    def answers() -> bool:
        with suppress(ConnectionError):
            found.append(asked(headers["Host"], "/_stcore/host-config", headers)[0])
        return bool(found)

    wait_until(answers, "an answer")
    return found[0]


async def lives(session: Session) -> bool:
    """Whether a session still answers."""
    with suppress(WebSocketException):
        answer = await session.enter("the children did not swim .")
        return answer.explored == "the children did not swim ."
    return False


def test_one_on_this_machine_alone_and_as_many_as_fit_for_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "processors", lambda: 16)
    for gigabytes, count in ((0, 1), (3, 3), (100, 16)):
        monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": gigabytes * 2**18, "SC_PAGE_SIZE": 2**12}.__getitem__)
        assert workers.most() == count
    shared: list[int] = []
    monkeypatch.setattr(command, "_share", lambda *_: shared.append(_[-1]))
    command.main(["--host=0.0.0.0", f"--port={free_port()}"])
    command.main(["--workers=2", f"--port={free_port()}"])
    assert shared == [16, 2]


def test_options_that_cannot_be_are_refused_in_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = {f"--port={port}": "a port is a number from 1 to 65535" for port in ("0", "65536", "-1", "http")}
    options |= dict.fromkeys((f"--convert={tmp_path} --workers=2", "--workers=0", "--workers=two"), "worker")
    for words, said in options.items():
        with pytest.raises(SystemExit, match="2"):
            command.main(words.split())
        assert said in capsys.readouterr().err.splitlines()[-1], words
