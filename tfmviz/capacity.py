"""How many readers a server has room for.

To the system a connection is an open file, and a process may have only so many: 256 on a Mac, often 1,024 elsewhere,
unless it asks for more. Streamlit also gives each session an event loop, which nobody runs and which takes three files,
from the first moment until a while after `disconnectedSessionTTL`. Ours take none before they run, so a session is one.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http import auto

try:
    import resource
except ImportError:  # on Windows, which has no such limit
    resource = None  # type: ignore[assignment]

PROBE = "/room"
"""Answers 200 while new readers can come in, 503 when the server is full. `/_stcore/health` says whether it lives."""

BEFORE_A_SESSION = "/_stcore/host-config"
"""What a browser asks for before it opens a session. If this fails it says so, and tries again less and less often."""

ENOUGH = 65_536
"""Open files: more than any server has time for."""

IDLE = 10.0
"""Seconds in which a connection has to ask for something. A browser does so at once."""

FROM_ONE_ADDRESS = 600
"""Websockets of each kind (sessions; keys) from one address. A class of 300 may sit behind one, and each of them may
have two tabs, or a tab and the connection that their reload has just left."""

KEPT = 64
"""Files that are kept for all else: probes, pictures, training runs. Of a high limit it is an eighth."""

TRY_AGAIN = 1013
"""How a websocket says that it is closed because there is no room."""

SILENT = 1008

FULL = "This server is full. Try again in a few minutes."
TOO_MANY = "Too many tabs are open at your address. Close some, or try again in a few minutes."
ASKED_NOTHING = "Nothing was asked for."


def make_room() -> None:
    """Lets this process have as many open files as it may, and sessions take fewer."""
    if resource is None:
        return
    allow_files()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.14 announces another way
        asyncio.set_event_loop_policy(_policy())


def allow_files() -> None:
    """Lets this process have as many open files as the system allows, `ENOUGH` at most.

    Where the system refuses, or has no such limit, all stays as it is.
    """
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # macOS may allow fewer than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _policy() -> asyncio.AbstractEventLoopPolicy:
    """Whoever asks for a new event loop gets an `Unopened`. The server's own is made by uvicorn."""

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            return Unopened()

    return Policy()


class Unopened(asyncio.SelectorEventLoop):
    """An event loop that takes no open files before somebody runs it."""

    _ssock = _csock = None
    """The pipe by which other threads wake it."""

    def __init__(self) -> None:
        super().__init__(getattr(selectors, "PollSelector", selectors.SelectSelector)())  # neither is a file

    def run_forever(self) -> None:
        if self._ssock is None:
            super()._make_self_pipe()  # type: ignore[misc]
        super().run_forever()

    def _make_self_pipe(self) -> None:
        """Not yet."""

    def _close_self_pipe(self) -> None:
        if self._ssock is not None:
            super()._close_self_pipe()


def has_room() -> bool:
    """Whether there are open files left for another reader."""
    if resource is None:
        return True
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return True
    try:
        opened = len(os.listdir("/dev/fd"))
    except OSError:  # not even one for the list
        return False
    return opened < limit - max(KEPT, limit // 8)


def place_of(address: str) -> str:
    """Whom an address counts for. Whoever has an IPv6 address has 2^64, which begin alike."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else str(found.packed[:8].hex())


class Prompt(auto.AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's side of a connection; one that asks for nothing is closed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(IDLE, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:
            self.transport.close()


@dataclass(frozen=True, slots=True)
class Places:
    """An ASGI application around another: turns away who finds no room, and closes websockets that ask for nothing.

    Attributes:
        idle: seconds in which a websocket has to ask for something.
        most: websockets of each kind from one address.
        has_room: whether another reader fits in.
    """

    app: ASGIApp
    idle: float = IDLE
    most: int = FROM_ONE_ADDRESS
    has_room: Callable[[], bool] = has_room
    _taken: Counter[tuple[str, str]] = field(default_factory=Counter)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == PROBE:
            said = PlainTextResponse("There is room.") if self.has_room() else PlainTextResponse(FULL, 503)
            await said(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == BEFORE_A_SESSION and (reason := self._no_place(scope)):
            await JSONResponse(reason, 503)(scope, receive, send)  # Streamlit shows a reader what is JSON
        else:
            await self.app(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if reason := self._no_place(scope):
            await receive()
            offered = scope.get("subprotocols") or [None]
            await send({"type": "websocket.accept", "subprotocol": offered[0]})  # a browser learns no reason before
            await send({"type": "websocket.close", "code": TRY_AGAIN, "reason": reason})
            return
        with self._counted(scope):
            await self.app(scope, self._prompt(receive, send), send)

    def _no_place(self, scope: Scope) -> str:
        """Why there is no place for this reader; empty if there is one."""
        if not self.has_room():
            return FULL
        return TOO_MANY if self._taken[_kind(scope)] >= self.most else ""

    @contextmanager
    def _counted(self, scope: Scope) -> Iterator[None]:
        kind = _kind(scope)
        self._taken[kind] += 1
        try:
            yield
        finally:
            self._taken[kind] -= 1
            if not self._taken[kind]:
                del self._taken[kind]

    def _prompt(self, receive: Receive, send: Send) -> Receive:
        """What a websocket says; if it says nothing at first, it is closed."""
        has_asked = False

        async def heard() -> Message:
            nonlocal has_asked
            try:
                async with asyncio.timeout(None if has_asked else self.idle):
                    message = await receive()
            except TimeoutError:
                await send({"type": "websocket.close", "code": SILENT, "reason": ASKED_NOTHING})
                return {"type": "websocket.disconnect", "code": SILENT}
            has_asked = message["type"] == "websocket.receive" or has_asked
            return message

        return heard


def _kind(scope: Scope) -> tuple[str, str]:
    """Address of a websocket and what it is for; what is asked before a session counts for it."""
    client = scope.get("client")
    path = "/_stcore/stream" if scope["path"] == BEFORE_A_SESSION else scope["path"]
    return place_of(client[0]) if client else "", path
