"""Servers behind HAProxy in this process's hands, and readers who keep them busy."""

import asyncio
import csv
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from deploy import serve
from deploy.serve import Asked, Proxy, Replica
from tests.classroom.session import Answer, Session, opened


@dataclass(frozen=True, slots=True)
class Serving:
    """What `make serve` runs, without its command line."""

    address: str
    replicas: list[Replica]
    proxy: Proxy
    asked: Asked

    def sessions_on(self, replica: Replica) -> int:
        """How many readers a server has, by HAProxy's account."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.proxy.control))
            connection.sendall(b"show stat\n")
            table = connection.makefile(encoding="utf-8").read().removeprefix("# ")
        rows = {(row["pxname"], row["svname"]): row for row in csv.DictReader(table.splitlines())}
        return int(rows["app", replica.name]["scur"])

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within this block, a server that has ended is started again."""
        self.asked.stop = False
        watch = threading.Thread(target=serve.watch, args=(self.replicas, self.proxy, self.asked))
        watch.start()
        try:
            yield
        finally:
            self.asked.stop = True
            watch.join()

    def process_ids(self) -> list[int]:
        return [replica.process.pid for replica in self.replicas if replica.process]


@contextmanager
def serving(count: int) -> Iterator[Serving]:
    """So many servers behind HAProxy; nobody watches them yet."""
    port = free_ports(1 + count)
    replicas, asked = serve.replicas_on(port + 1, count), Asked()
    with serve.started(replicas), serve.proxy(f"127.0.0.1:{port}", replicas) as proxy:
        yield Serving(f"http://127.0.0.1:{port}", replicas, proxy, asked)


def free_ports(count: int) -> int:
    """The first of so many free ports in a row. Test processes, which run side by side, begin at different ones."""
    for first in range(20_000 + 10 * (os.getpid() % 1_000), 32_000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as listener:
                    listener.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise RuntimeError("There are no free ports.")


@dataclass
class Reader:
    """Someone who types one sentence after the other, and comes back when the connection is lost."""

    address: str
    number: int
    answers: list[tuple[str, Answer]] = field(default_factory=list)
    interruptions: int = 0

    async def read(self, enough: Callable[[], bool]) -> None:
        """Types until there is enough, and leaves."""
        session = await self.come("")
        while not enough():
            text = f"Reader {self.number} has seen {len(self.answers)} cats."
            try:
                self.answers.append((text, await session.enter(text)))
            except WebSocketException:
                self.interruptions += 1
                session = await self.come(text)
        await session.close()

    async def come(self, text: str) -> Session:
        """Opens the explorer with a sentence in the address, as a browser does after a loss: again and again.

        Raises:
            TimeoutError: no server has been there for five minutes.
        """
        async with asyncio.timeout(300):
            while True:
                try:
                    session, answer = await opened(self.address, query=urlencode({"text": text}) if text else "")
                except (OSError, WebSocketException):
                    await asyncio.sleep(0.1)
                    continue
                if text:
                    self.answers.append((text, answer))
                return session

    @property
    def mistakes(self) -> list[str]:
        """Answers with an error on the screen, or for another sentence than the one that was sent."""
        wrong = [(answer.explored, text) for text, answer in self.answers if answer.explored != text]
        found = [f"{shown!r} in place of {text!r}" for shown, text in wrong]
        return found + [problem for _, answer in self.answers for problem in answer.problems]


async def silence(address: str) -> ClientConnection:
    """Opens a session that asks for one picture after the other and reads none of them."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", int(address.rsplit(":", 1)[1])))
    reader.setblocking(False)
    connection = await connect(
        f"{address.replace('http', 'ws', 1)}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_queue=1,
        ping_interval=None,
        open_timeout=300,
        close_timeout=0,
        sock=reader,
    )
    for number in range(20):
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode({"text": f"{number} words " * 40})
        await connection.send(asked.SerializeToString())
    return connection


@contextmanager
def reading(address: str, count: int) -> Iterator[list[Reader]]:
    readers = [Reader(address, number) for number in range(count)]
    enough = threading.Event()

    async def all_read() -> None:
        await asyncio.gather(*(reader.read(enough.is_set) for reader in readers))

    thread = threading.Thread(target=lambda: asyncio.run(all_read()))
    thread.start()
    try:
        yield readers
    finally:
        enough.set()
        thread.join()


def has_haproxy() -> bool:
    return shutil.which("haproxy") is not None
