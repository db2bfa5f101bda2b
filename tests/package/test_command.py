"""The command `tfmviz`, as a process: where it listens, whom it asks, how it ends."""

import argparse
import asyncio
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import streamlit
import uvicorn

from tests.asking import handshake
from tests.browser import ROOT, Server, answers, free_port
from tests.classroom.crowd import together
from tfmviz import __main__ as command
from tfmviz.__main__ import LOOP, main, parsed

SPY = Path(__file__).parent / "spy.py"

APP = ("-m", "tfmviz")


class Started:
    """A Python process in the project's folder whose sockets are watched, and whose output is piped to us."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        shutil.copy(SPY, folder / "sitecustomize.py")
        self._record = folder / "record"
        environment = os.environ | {"PYTHONPATH": str(folder), "TFMVIZ_SPY": str(self._record), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    @property
    def record(self) -> set[str]:
        """What the spy has written: what the process did to sockets, and one thing more."""
        return set(self._record.read_text().splitlines())

    def wait_until_healthy(self, port: int) -> None:
        assert answers(Server(f"http://127.0.0.1:{port}", self.process)), "the app does not answer"

    def stop(self) -> str:
        """Asks the process to end, once, as the system does, and returns its output."""
        self.process.terminate()
        printed, _ = self.process.communicate(timeout=300)
        assert self.process.returncode in (0, -signal.SIGTERM)
        return printed.decode()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Started]]:
    """A list to which a test adds what it starts; what still runs at the end is ended."""
    processes: list[Started] = []
    yield processes
    for one in processes:
        one.process.kill()
        one.process.wait()


def start(started: list[Started], folder: Path, *arguments: str) -> Started:
    started.append(Started(folder, *arguments))
    return started[-1]


def test_only_this_machine_can_reach_it_and_no_request_leaves(started: list[Started], tmp_path: Path) -> None:
    for how, option in ((APP, "--port"), (("-m", "streamlit", "run", "app.py"), "--server.port")):
        port, folder = free_port(), tmp_path / how[1]
        folder.mkdir()
        app = start(started, folder, *how, option, str(port))
        app.wait_until_healthy(port)
        assert f"http://localhost:{port}" in app.stop()
        assert app.record == {f"socket.bind ('127.0.0.1', {port})"}, how


def test_small_messages_leave_at_once() -> None:
    set_options: list[int] = []

    class Taken(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            with socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as connection:
                set_options.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async def take_one() -> None:
        server = await asyncio.get_running_loop().create_server(Taken, "127.0.0.1", 0)
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.close()
        await writer.wait_closed()
        server.close()

    def run() -> None:
        with asyncio.Runner(loop_factory=uvicorn.Config(app="", loop=LOOP).get_loop_factory()) as runner:
            runner.run(take_one())

    with ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop in that of the tests
        thread.submit(run).result(20)
    assert set_options == [1]


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="asks Linux which libraries a process has loaded")
def test_what_is_slow_is_imported_before_a_reader_comes(started: list[Started], tmp_path: Path) -> None:
    app = start(started, tmp_path, *APP, "--port", str(free_port()))
    maps = Path(f"/proc/{app.process.pid}/maps")
    deadline = time.monotonic() + 300
    while "libtorch" not in maps.read_text():
        assert time.monotonic() < deadline, "torch has not been loaded"
        time.sleep(0.05)  # between two looks, not for a fixed time
    app.stop()
    assert "dl_iterate_phdr" not in app.record, "a server could stand still when its first reader comes"


def test_the_server_does_not_end_in_the_middle_of_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = threading.Event(), threading.Event()
    done: list[str] = []

    def slow_import(stopping: threading.Event) -> None:
        begun.set()
        may_end.wait()
        done.append("imported" if stopping.is_set() else "imported, unaware of the end")

    async def serve() -> None:
        async with command._warm(None):
            await asyncio.to_thread(begun.wait)
            asyncio.get_running_loop().call_soon(may_end.set)  # when the end waits for something, and not before
        assert done == ["imported"]

    monkeypatch.setattr(command, "_prepare", slow_import)
    together(serve())


def test_open_to_the_network_it_still_asks_nobody(started: list[Started], tmp_path: Path) -> None:
    """Not even whether another site's page may open a session, for which Streamlit would look up its own address."""
    port = free_port()
    app = start(started, tmp_path, *APP, "--port", str(port), "--host", "0.0.0.0")
    app.wait_until_healthy(port)
    for host in (f"localhost:{port}", f"LOCALHOST:{port}", "127.0.0.1", "evil.example"):
        for origin in ("http://evil.example", "http://localhost:9999", "http://localhost", "https://8.8.8.8", "null"):
            assert handshake(f"127.0.0.1:{port}", host=host, origin=origin) == 403, (host, origin)
    assert handshake(f"127.0.0.1:{port}", host=f"localhost:{port}", origin=f"http://localhost:{port}") == 101
    assert f"http://{socket.gethostname()}:{port}" in app.stop()
    assert app.record == {f"socket.bind ('0.0.0.0', {port})"}


def test_the_spy_hears_a_request(started: list[Started], tmp_path: Path) -> None:
    """Even one that a thread makes and whose failure is ignored."""
    program = """
import threading, socket
def ask():
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    except OSError:
        pass
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""
    app = start(started, tmp_path, "-c", program)
    app.process.wait(timeout=300)
    assert app.record == {"socket.getaddrinfo 127.0.0.1", "socket.connect ('127.0.0.1', 9)"}


def test_it_ends_when_asked_though_nobody_reads_its_output_any_more(started: list[Started], tmp_path: Path) -> None:
    """`streamlit run` survives every SIGTERM then: it fails at printing "Stopping...", before it stops."""
    port = free_port()
    app = start(started, tmp_path, *APP, "--port", str(port))
    app.wait_until_healthy(port)
    assert app.process.stdout
    app.process.stdout.close()
    app.process.terminate()
    assert app.process.wait(timeout=300) == -signal.SIGTERM


def test_it_ends_when_asked_though_a_reader_takes_nothing(started: list[Started], tmp_path: Path) -> None:
    """A laptop that has fallen asleep; `streamlit run` waits for it and survives every SIGTERM meanwhile."""
    files = Path(streamlit.__file__).parent / "static" / "static" / "js"
    largest = max(files.iterdir(), key=lambda path: path.stat().st_size)
    port = free_port()
    app = start(started, tmp_path, *APP, "--port", str(port))
    app.wait_until_healthy(port)
    with socket.socket() as asleep:
        asleep.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asleep.connect(("127.0.0.1", port))
        asleep.sendall(f"GET /static/js/{largest.name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        asleep.recv(1)  # it has begun to answer
        app.stop()


def test_an_allowed_host_that_is_no_name_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("https://attention.uni.example/", "attention.uni.example:443", "*.uni.example", ""):
        monkeypatch.setenv("TFMVIZ_ALLOWED_HOSTS", "")
        with pytest.raises(SystemExit, match="2"):
            main([f"--allowed-host={name}"])
        monkeypatch.setenv("TFMVIZ_ALLOWED_HOSTS", f"good.example {name or '-*'}")
        with pytest.raises(SystemExit, match="2"):
            main([])
        said = capsys.readouterr().err
        assert said.count("an allowed host is a name alone, such as attention.uni.example, not ") == 2, name


def test_readers_may_use_the_names_of_option_environment_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFMVIZ_ALLOWED_HOSTS", "one.example  Two.example")
    given = ["--allowed-host=three.example", "--allowed-host", "four.example", "--host=Laptop.lan"]
    args = parsed(argparse.ArgumentParser(), given)
    assert args.allowed_host == [f"{name}.example" for name in ("one", "two", "three", "four")] + ["laptop.lan"]
    assert parsed(argparse.ArgumentParser(), ["--host=::"]).allowed_host == ["one.example", "two.example"]


def test_where_nothing_can_listen_one_sentence_says_so_and_what_to_try(started: list[Started], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentences = {
            ("--port", str(port)): f"Port {port} is taken: ",
            ("--host", "203.0.113.5"): "This machine has no address 203.0.113.5: ",
            ("--host", "2001:db8::5"): "This machine has no address 2001:db8::5: ",
        }
        for options, begins in sentences.items():
            app = start(started, tmp_path, *APP, *options)
            printed, _ = app.process.communicate(timeout=300)
            assert app.process.returncode == 1, printed
            (line,) = printed.decode().splitlines()
            assert line.startswith(begins)
            assert options[0] in line


def test_a_port_that_the_system_keeps_from_this_user_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def bind(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("socket.socket", MagicMock(**{"return_value.__enter__.return_value.bind": bind}))
    with pytest.raises(SystemExit, match=r"Port 80 is not for this user: .* try --port 8501"):
        main(["--port=80"])
