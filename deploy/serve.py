"""Several servers of the app behind HAProxy, without containers: `make serve REPLICAS=2`.

Each server has its share of the cores. One that ends is started again. SIGHUP restarts them one after the other, each
after HAProxy has stopped sending readers to it: after an update of the code, nobody notices more than a short pause.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tfmviz import security, workers
from tfmviz.__main__ import parsed, trouble_at, where
from tfmviz.paths import PROJECT

TEMPLATE = Path(__file__).parent / "haproxy.cfg"

NO_HAPROXY = """\
HAProxy is needed to share readers among several servers, and is not installed.
On Debian and Ubuntu: apt-get install haproxy. Without it, `make app` starts one server."""

PATIENCE = 60.0
"""Seconds for a server to answer, or to end, before we give it up."""

AGAIN = 5.0
"""Seconds between two starts of a server that ends by itself."""


@dataclass(slots=True)
class Replica:
    """One server of the app, on this machine only."""

    name: str
    port: int
    cores: frozenset[int]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    began: float = field(default=0.0, init=False)

    def start(self) -> None:
        """Starts it without waiting for it.

        Raises:
            RuntimeError: nothing can listen on its port.
        """
        self.began = time.monotonic()
        if trouble := trouble_at("127.0.0.1", self.port):
            raise RuntimeError(trouble)
        command = [sys.executable, "-m", "tfmviz", "--port", str(self.port)]
        self.process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL)
        if hasattr(os, "sched_setaffinity"):  # Linux; elsewhere the system shares the cores out
            os.sched_setaffinity(self.process.pid, self.cores)

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def wait_until_healthy(self) -> None:
        """Waits for its first answer.

        Raises:
            RuntimeError: it ended, or gave none within a minute.
        """
        deadline = time.monotonic() + PATIENCE
        while self.running and time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"The server on port {self.port} does not answer.")

    def stop(self) -> None:
        """Asks it to end, and makes it if it does not."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def shares(cores: Sequence[int], count: int) -> list[frozenset[int]]:
    """The cores of each of `count` servers: as equal as can be, one at least, each core used by as few as can be."""
    if count >= len(cores):
        return [frozenset({cores[i % len(cores)]}) for i in range(count)]
    return [frozenset(cores[i * len(cores) // count : (i + 1) * len(cores) // count]) for i in range(count)]


def replicas_on(first_port: int, count: int) -> list[Replica]:
    """Servers that are not started yet, on the ports from the first one on."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return [Replica(f"replica{i + 1}", first_port + i, share) for i, share in enumerate(shares(cores, count))]


def configuration(template: str, replicas: Sequence[Replica]) -> str:
    """`haproxy.cfg` with these servers in place of those whose addresses a name server knows."""
    lines = "\n".join(f"    server {one.name} 127.0.0.1:{one.port}" for one in replicas)
    return re.sub(r"^    server-template .*$", lines, template, flags=re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running HAProxy and the socket by which it is told what to do."""

    process: subprocess.Popen[bytes]
    control: Path

    def wait_until_listening(self) -> None:
        """Waits until readers can come in.

        Raises:
            RuntimeError: HAProxy has ended; it has said why.
        """
        while not self.control.exists():  # it listens to readers first, and to us last
            if self.process.poll() is not None:
                raise RuntimeError("HAProxy did not start.")
            time.sleep(0.05)

    def send_readers_to(self, replica: Replica, *, ready: bool) -> None:
        """Says whether this server may have new readers; what it is just answering it may end."""
        for backend in ("files", "app"):
            self._say(f"set server {backend}/{replica.name} state {'ready' if ready else 'maint'}")

    def _say(self, command: str) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.control))
            connection.sendall(f"{command}\n".encode())
            if objection := connection.recv(4096).decode().strip():
                raise RuntimeError(f"HAProxy does not understand {command!r}: {objection}")


@contextmanager
def proxy(listen: str, replicas: Sequence[Replica]) -> Iterator[Proxy]:
    """Runs HAProxy in front of these servers."""
    with tempfile.TemporaryDirectory(prefix="tfmviz") as folder:
        settings, control = Path(folder) / "haproxy.cfg", Path(folder) / "control"
        settings.write_text(configuration(TEMPLATE.read_text(encoding="utf-8"), replicas), encoding="utf-8")
        environment = os.environ | {"TFMVIZ_LISTEN": listen, "TFMVIZ_CONTROL": str(control)}
        process = subprocess.Popen(["haproxy", "-db", "-f", str(settings)], env=environment)
        try:
            made = Proxy(process, control)
            made.wait_until_listening()
            yield made
        finally:
            process.terminate()
            process.wait()


@contextmanager
def started(replicas: Sequence[Replica]) -> Iterator[None]:
    """Runs these servers."""
    try:
        for replica in replicas:
            replica.start()
        for replica in replicas:
            replica.wait_until_healthy()
        yield
    finally:
        for replica in replicas:
            if replica.process:
                replica.process.terminate()  # all at once; then each is waited for
        for replica in replicas:
            replica.stop()


@dataclass(slots=True)
class Asked:
    """What is to be done next."""

    stop: bool = False
    restart: bool = False

    def by_signals(self) -> None:
        """From now on SIGTERM and SIGINT ask to stop, SIGHUP to restart."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._hear)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self.restart = True
        else:
            self.stop = True


def restart_in_turn(replicas: Sequence[Replica], proxy: Proxy) -> None:
    """Stops and starts one server after the other, so that all but one are there at any time.

    If one does not come back, those after it stay as they are: what ails it would ail them too.
    """
    for replica in replicas:
        proxy.send_readers_to(replica, ready=False)
        replica.stop()
        try:
            replica.start()
            replica.wait_until_healthy()
        except RuntimeError as error:
            print(f"{error} The others go on without a restart.", file=sys.stderr, flush=True)
            return
        finally:
            proxy.send_readers_to(replica, ready=True)  # HAProxy sees by itself whether it answers


def watch(replicas: Sequence[Replica], proxy: Proxy, asked: Asked) -> None:
    """Keeps the servers running until it is asked to stop.

    Raises:
        RuntimeError: HAProxy has ended.
    """
    while not asked.stop:
        if proxy.process.poll() is not None:
            raise RuntimeError("HAProxy has ended.")
        if asked.restart:
            asked.restart = False
            restart_in_turn(replicas, proxy)
        for replica in replicas:
            if not replica.running and time.monotonic() - replica.began > AGAIN:
                print(f"{replica.name} has ended; it is started again.", file=sys.stderr, flush=True)
                try:
                    replica.start()
                except RuntimeError as error:
                    print(f"{error} The others go on without it.", file=sys.stderr, flush=True)
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make serve", description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", type=int, default=2, help="number of servers, on the ports after --port (2)")
    args = parsed(parser, None)
    if args.replicas < 1:
        parser.error("There must be at least one server.")
    if not shutil.which("haproxy"):
        sys.exit(NO_HAPROXY)
    if trouble := trouble_at(args.host, args.port):
        sys.exit(trouble)
    os.environ[security.SETTING] = " ".join(args.allowed_host)  # for the servers
    os.environ[workers.KEY] = os.environ.get(workers.KEY) or secrets.token_hex(32)
    asked = Asked()
    asked.by_signals()
    replicas = replicas_on(args.port + 1, args.replicas)
    try:
        with started(replicas), proxy(f"{args.host}:{args.port}", replicas) as front:
            print(f"{where(args.host, args.port)} ({args.replicas} servers)", flush=True)
            watch(replicas, front, asked)
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
