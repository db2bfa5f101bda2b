"""Who is turned away: who asks for nothing, who finds no open file left, and an address with too many connections."""

import asyncio
import json
import os
import socket
import threading
from collections.abc import Awaitable
from dataclasses import dataclass, field

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from websockets import Subprotocol
from websockets.sync.client import connect

from tests.asking import asked
from tests.browser import free_port
from tests.cases import each
from tests.classroom.crowd import together
from tfmviz import capacity
from tfmviz.capacity import BEFORE_A_SESSION, FROM_ONE_ADDRESS, PROBE, Places

CLASS = 300
"""Readers behind one address, each with a tab and another one, or one that they have just left."""

SESSION, KEYS = "/_stcore/stream", "/live"


async def yes(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that says yes to every request, and listens to a websocket until it is closed."""
    if scope["type"] == "http":
        return await PlainTextResponse("yes")(scope, receive, send)
    await WebSocket(scope, receive, send).accept("streamlit")
    while (await receive())["type"] != "websocket.disconnect":
        pass


@dataclass
class Guest:
    """One connection: what it sends is put into `says`, and what it gets is in `got`."""

    path: str = SESSION
    address: str = "10.0.0.1"
    says: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)
    got: list[Message] = field(default_factory=list)

    async def come(self, places: Places) -> asyncio.Task[None]:
        """Comes in, or is turned away."""
        scope = {"type": "websocket", "path": self.path, "client": (self.address, 1), "subprotocols": ["streamlit"]}
        self.says.put_nowait({"type": "websocket.connect"})

        async def get(message: Message) -> None:
            self.got.append(message)

        task = asyncio.create_task(_as_task(places(scope, self.says.get, get)))
        while not self.got:
            await asyncio.sleep(0)
        return task

    def ask(self) -> None:
        self.says.put_nowait({"type": "websocket.receive", "bytes": b"a page"})

    def leave(self) -> None:
        self.says.put_nowait({"type": "websocket.disconnect", "code": 1000})


async def _as_task(doing: Awaitable[None]) -> None:
    await doing


def answer(places: Places, path: str, address: str = "10.0.0.1") -> list[Message]:
    """To a request."""
    got: list[Message] = []

    async def get(message: Message) -> None:
        got.append(message)

    together(_as_task(places({"type": "http", "path": path, "client": (address, 1)}, asyncio.Queue().get, get)))
    return got


def status(places: Places, path: str, address: str = "10.0.0.1") -> int:
    return int(answer(places, path, address)[0]["status"])


def test_a_websocket_that_asks_for_nothing_is_closed_and_one_that_has_asked_stays() -> None:
    async def idle() -> None:
        places = Places(yes, idle=0.05)
        reader = Guest()
        reading = await reader.come(places)
        reader.ask()
        for silent in (Guest(), Guest(KEYS)):  # twice as long as the reader might be silent
            await (await silent.come(places))
            assert silent.got[-1] == {"type": "websocket.close", "code": 1008, "reason": capacity.ASKED_NOTHING}
        assert not reading.done()
        reader.leave()
        await reading
        assert [message["type"] for message in reader.got] == ["websocket.accept"]

    together(idle())


@each("path", [SESSION, KEYS])
def test_a_class_behind_one_address_comes_in_and_one_too_many_is_told_why(path: str) -> None:
    async def come() -> None:
        places = Places(yes)
        guests = [Guest(path) for _ in range(FROM_ONE_ADDRESS)]
        tasks = [await guest.come(places) for guest in guests]
        assert {guest.got[0]["type"] for guest in guests} == {"websocket.accept"}
        await (await (late := Guest(path)).come(places))
        assert [message["type"] for message in late.got] == ["websocket.accept", "websocket.close"]
        assert late.got[0]["subprotocol"] == "streamlit"
        assert (late.got[1]["code"], late.got[1]["reason"]) == (1013, capacity.TOO_MANY)
        for other in (Guest(path, "10.0.0.2"), Guest({SESSION: KEYS, KEYS: SESSION}[path])):
            guests.append(other)
            tasks.append(await other.come(places))
            assert other.got[-1]["type"] == "websocket.accept"
        guests[0].leave()
        await tasks[0]
        guests.append(again := Guest(path))
        tasks.append(await again.come(places))
        assert again.got[-1]["type"] == "websocket.accept"
        for guest in guests[1:]:
            guest.leave()
        await asyncio.gather(*tasks)
        assert not places._taken

    assert FROM_ONE_ADDRESS >= 2 * CLASS
    together(come())


def test_whoever_finds_no_place_is_told_so_before_a_session_and_others_are_not() -> None:
    places = Places(yes, most=1)
    places._taken["10.0.0.1", SESSION] = 1
    assert [status(places, BEFORE_A_SESSION, f"10.0.0.{n}") for n in (1, 2)] == [503, 200]
    assert [status(places, path) for path in ("/", PROBE, "/_stcore/health")] == [200] * 3
    assert json.loads(answer(places, BEFORE_A_SESSION)[1]["body"]) == capacity.TOO_MANY  # a browser shows JSON alone


def test_a_full_server_lives_and_takes_nobody_new() -> None:
    places, late = Places(yes, has_room=lambda: False), Guest()
    paths = (PROBE, BEFORE_A_SESSION, "/_stcore/health", "/", "/static/index.js")
    assert [status(places, path) for path in paths] == [503, 503, 200, 200, 200]

    async def come() -> None:
        await (await late.come(places))

    together(come())
    assert late.got[-1] == {"type": "websocket.close", "code": 1013, "reason": capacity.FULL}


def test_an_ipv6_reader_is_one_however_many_addresses_they_have() -> None:
    asked = ("2001:db8::1", "2001:db8::ffff:2", "2001:db9::1", "10.0.0.1", "10.0.0.2")
    one, same, *others = map(capacity.place_of, asked)
    assert one == same
    assert len({one, *others}) == 4
    assert capacity.place_of("a socket of the system") == "a socket of the system"


def test_a_loop_takes_no_files_before_it_runs_and_gives_them_back() -> None:
    def measured() -> list[int]:
        found = [len(os.listdir("/dev/fd"))]
        loop = capacity.Unopened()
        found.append(len(os.listdir("/dev/fd")))
        assert loop.run_until_complete(asyncio.wait_for(asyncio.to_thread(lambda: 7), 20)) == 7
        found.append(len(os.listdir("/dev/fd")))
        loop.close()
        capacity.Unopened().close()
        return [*found, len(os.listdir("/dev/fd"))]

    before, unopened, opened, closed = together(asyncio.to_thread(measured))
    assert before == unopened == closed < opened


def test_a_connection_that_asks_for_nothing_is_closed_and_a_websocket_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "IDLE", 0.2)
    port = free_port()
    config = uvicorn.Config(yes, port=port, http=capacity.Prompt, ws="websockets-sansio", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        for silent in (b"", b"GET / HTTP/1.1\r\nHost: a"):
            with _connected(port) as connection:
                connection.sendall(silent)
                assert connection.recv(1) == b""
        address, protocols = f"127.0.0.1:{port}", [Subprotocol("streamlit")]
        with connect(f"ws://{address}{SESSION}", subprotocols=protocols) as websocket, _connected(port) as connection:
            assert connection.recv(1) == b""  # by now the websocket would be closed, too
            websocket.ping().wait(20)
        assert asked(address, "/", {"Host": "a"})[0] == 200
    finally:
        server.should_exit = True
        thread.join()


def _connected(port: int) -> socket.socket:
    for _ in range(1000):  # until the server listens
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except ConnectionRefusedError:
            threading.Event().wait(0.02)
    raise AssertionError("the server does not listen")
