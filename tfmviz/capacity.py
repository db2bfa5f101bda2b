"""The server's capacity, counted in open files.

A connection is an open file, and a process may have only so many: 256 on a Mac, often 1,024 elsewhere, unless it asks
for more. Streamlit also gives each session an unused event loop of three files. `Unopened` takes none before it runs,
so a session costs one file.
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
"""Answers 200 while there is room for new readers, 503 when the server is full."""

BEFORE_A_SESSION = "/_stcore/host-config"
"""Requested by browsers before they open a session; if it fails they retry with growing delays."""

ENOUGH = 65_536
"""Open files: more than any server has time for."""

IDLE = 10.0
"""Seconds before a connection without a request is closed."""

FROM_ONE_ADDRESS = 600
"""Websockets of each kind (sessions; keystrokes) from one address: a class of 300 with two tabs each."""

KEPT = 64
"""Files reserved for everything else. Under a high limit, an eighth of it."""

TRY_AGAIN = 1013
"""Close code of a websocket for which there is no room."""

SILENT = 1008

FULL = "This server is full. Try again in a few minutes."
TOO_MANY = "Too many tabs are open at your address. Close some, or try again in a few minutes."
ASKED_NOTHING = "Nothing was asked for."


def make_room() -> None:
    """Raises this process's limit of open files, and makes sessions take fewer."""
    if resource is None:
        return
    allow_files()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.14 deprecates policies
        asyncio.set_event_loop_policy(_policy())


def allow_files() -> None:
    """Raises this process's limit of open files up to `ENOUGH`; nothing changes if the system refuses."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # macOS may allow fewer than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _policy() -> asyncio.AbstractEventLoopPolicy:
    """A policy whose new event loops are `Unopened`; uvicorn makes the server's own."""

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            return Unopened()

    return Policy()


class Unopened(asyncio.SelectorEventLoop):
    """An event loop that opens no files before it runs."""

    _ssock = _csock = None
    """The pipe by which other threads wake it."""

    def __init__(self) -> None:
        super().__init__(getattr(selectors, "PollSelector", selectors.SelectSelector)())  # neither opens a file

    def run_forever(self) -> None:
        if self._ssock is None:
            super()._make_self_pipe()  # type: ignore[misc]
        super().run_forever()

    def _make_self_pipe(self) -> None:
        """Postponed to `run_forever`."""

    def _close_self_pipe(self) -> None:
        if self._ssock is not None:
            super()._close_self_pipe()


def has_room() -> bool:
    """True while files are left for another reader."""
    if resource is None:
        return True
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return True
    try:
        opened = len(os.listdir("/dev/fd"))
    except OSError:  # no file is left even for the listing
        return False
    return opened < limit - max(KEPT, limit // 8)


def place_of(address: str) -> str:
    """The key under which an address is counted: of IPv6 the first 64 bits."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else str(found.packed[:8].hex())


class Prompt(auto.AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's side of a connection, closed if no request comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(IDLE, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:
            self.transport.close()


@dataclass(frozen=True, slots=True)
class Places:
    """ASGI middleware that refuses readers when the server is full, and closes websockets silent for `idle` seconds."""

    app: ASGIApp
    idle: float = IDLE
    most: int = FROM_ONE_ADDRESS
    has_room: Callable[[], bool] = has_room
    _taken: Counter[tuple[str, str]] = field(default_factory=Counter)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == PROBE:
            response = PlainTextResponse("There is room.") if self.has_room() else PlainTextResponse(FULL, 503)
            await response(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == BEFORE_A_SESSION and (reason := self._no_place(scope)):
            await JSONResponse(reason, 503)(scope, receive, send)  # Streamlit shows readers a JSON reason
        else:
            await self.app(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if reason := self._no_place(scope):
            await receive()
            offered = scope.get("subprotocols") or [None]
            await send({"type": "websocket.accept", "subprotocol": offered[0]})  # before that a browser gets no reason
            await send({"type": "websocket.close", "code": TRY_AGAIN, "reason": reason})
            return
        with self._counted(scope):
            await self.app(scope, self._prompt(receive, send), send)

    def _no_place(self, scope: Scope) -> str:
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
        """`receive`, but a websocket whose first message is late is closed."""
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
    """Address and path of a websocket, or of the request before a session."""
    client = scope.get("client")
    path = "/_stcore/stream" if scope["path"] == BEFORE_A_SESSION else scope["path"]
    return place_of(client[0]) if client else "", path
