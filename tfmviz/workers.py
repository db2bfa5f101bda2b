"""Several servers at one address, so that pages are computed on all processors: `tfmviz --workers 4`.

Python has one lock, so a server computes one script at a time. Here a front takes every connection, looks at its first
bytes, and hands it to one of several workers as an open file, so that no byte passes through the front. A browser
always has the same worker, by the cookie of `ui/session_cookie.py`; without one, or if its worker has ended, it goes
where the fewest connections are.

A worker sends the front a byte when it is ready, and one for each connection that has ended since.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import uvicorn

from tfmviz import capacity

COOKIE = "tfmviz_reader"
"""The cookie by which a browser is known."""

READER = re.compile(rf"^cookie:.*\b{COOKIE}=([0-9a-f]{{32}})".encode(), re.IGNORECASE | re.MULTILINE)

KEY = "TFMVIZ_KEY"
"""Environment variable with the key that workers sign cookies with."""

COUNT = "TFMVIZ_WORKERS"
"""Environment variable with the number of workers."""

SHARING = int(os.environ.get(COUNT, "1"))
"""Number of servers that share the processors and the memory."""

POSSIBLE = hasattr(socket, "send_fds")
"""True where open files can be handed to other processes: not on Windows."""

EACH = 2**30
"""Bytes of memory for each worker by default."""

HEAD = 8192
"""Bytes of a connection in which the cookie is looked for."""

REMEMBERED = 10_000
"""Maximum readers whose worker is remembered."""

PATIENCE = 10.0
"""Seconds for a worker to end when it is asked to."""

AGAIN = 5.0
"""Seconds between two starts of a worker that ends by itself."""

PAUSE = 0.1
"""Seconds until connections are taken again when no file is left."""


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most() -> int:
    """Number of workers: one for each processor, if there is memory."""
    if not POSSIBLE:
        return 1
    return max(1, min(processors(), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // EACH))


@dataclass(eq=False, slots=True)
class Worker:
    """A server, as the front sees it."""

    channel: socket.socket
    connections: int = 0


@dataclass(slots=True)
class Front:
    """Starts and restarts the workers, and shares connections out among them.

    Attributes:
        command: starts a worker; the number of its channel is appended.
        tell: called once, when all are ready.
    """

    command: Sequence[str]
    count: int
    tell: Callable[[], None]
    _ready: list[Worker] = field(default_factory=list)
    _all_ready: asyncio.Event = field(default_factory=asyncio.Event)
    _of: dict[bytes, Worker] = field(default_factory=dict)
    _handing: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, listener: socket.socket) -> None:
        """Serves until the process is asked to end.

        Raises:
            CancelledError: it was asked to.
            ExceptionGroup: of a RuntimeError: a worker ended before it was ready.
        """
        loop, me = asyncio.get_running_loop(), asyncio.current_task()
        assert me is not None
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, me.cancel)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._share_out(listener))
            for _ in range(self.count):
                group.create_task(self._keep())

    async def _keep(self) -> None:
        was_ready = False
        while True:
            began = time.monotonic()
            was_ready = await self._live() or was_ready
            if not was_ready:
                raise RuntimeError("A worker has ended before it could answer.")
            print("A worker has ended; it is started again.", file=sys.stderr, flush=True)
            await asyncio.sleep(began + AGAIN - time.monotonic())

    async def _live(self) -> bool:
        """A worker's life. Returns whether it was ever ready."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                inherited = theirs.fileno()
                process = subprocess.Popen(
                    [*self.command, str(inherited)],
                    pass_fds=(inherited,),
                    start_new_session=True,  # Ctrl-C is for the front, which asks all to end
                )
            ours.setblocking(False)
            worker, was_ready = Worker(ours), False
            try:
                with suppress(ConnectionError):
                    while heard := await asyncio.get_running_loop().sock_recv(ours, HEAD):
                        if not was_ready:
                            was_ready, heard = True, heard[1:]
                            self._ready.append(worker)
                            if len(self._ready) == self.count:
                                self._all_ready.set()
                        worker.connections -= len(heard)
            finally:
                if was_ready:
                    self._ready.remove(worker)
                await _end(process)
        return was_ready

    async def _share_out(self, listener: socket.socket) -> None:
        await self._all_ready.wait()
        self.tell()
        listener.setblocking(False)
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:
                await asyncio.sleep(PAUSE)
                continue
            task = loop.create_task(self._hand_on(connection))
            self._handing.add(task)
            task.add_done_callback(self._handing.discard)

    async def _hand_on(self, connection: socket.socket) -> None:
        """Waits for the first bytes; a connection without any, or without a worker, is closed."""
        with connection, suppress(OSError):  # a TimeoutError is one
            async with asyncio.timeout(capacity.IDLE):
                head = await _first_bytes(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            found = READER.search(head)
            own = self._of.pop(found[1], None) if found else None
            for worker in sorted(self._ready, key=lambda one: (one is not own, one.connections)) if head else ():
                with suppress(OSError):  # it has just ended, or takes none
                    socket.send_fds(worker.channel, [b"+"], [connection.fileno()])
                    worker.connections += 1
                    if found:
                        self._remember(found[1], worker)
                    break

    def _remember(self, reader: bytes, worker: Worker) -> None:
        self._of[reader] = worker  # who came last stands last
        if len(self._of) > REMEMBERED:
            del self._of[next(iter(self._of))]


async def _first_bytes(connection: socket.socket) -> bytes:
    """The bytes so far, which stay there for the worker."""
    loop, came = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(connection)
    return connection.recv(HEAD, socket.MSG_PEEK)


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Asks a process to end, then makes it."""
    process.terminate()
    try:
        await asyncio.to_thread(process.wait, PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Handed(uvicorn.Server):
    """A server whose connections come from the front, with which it ends."""

    def __init__(self, config: uvicorn.Config, channel: socket.socket) -> None:
        super().__init__(config)
        self._channel = channel
        self._taken = self._told = 0
        self._coming: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        self._channel.setblocking(False)
        asyncio.get_running_loop().add_reader(self._channel, self._take)
        self._channel.send(b"!")

    async def on_tick(self, counter: int) -> bool:
        ended = self._taken - len(self._coming) - len(self.server_state.connections)
        with suppress(OSError):
            self._told += self._channel.send(b"-" * (ended - self._told))
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().remove_reader(self._channel)
        self._channel.close()
        await super().shutdown(sockets)

    def _take(self) -> None:
        """Takes a connection, which lacks its file if this process has no more."""
        try:
            message, files, *_ = socket.recv_fds(self._channel, 1, 1)
        except BlockingIOError:
            return
        except OSError:
            message, files = b"", []
        if not message:
            self.should_exit = True
            asyncio.get_running_loop().remove_reader(self._channel)
            return
        self._taken += 1
        for file in files:
            task = asyncio.get_running_loop().create_task(self._begin(socket.socket(fileno=file)))
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def _begin(self, connection: socket.socket) -> None:
        def protocol() -> asyncio.Protocol:
            kind = self.config.http_protocol_class
            return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)  # type: ignore

        with suppress(OSError):
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)
