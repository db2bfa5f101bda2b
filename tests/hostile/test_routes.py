"""All that the command serves, asked as no page asks: an answer that refuses it, and no traceback in the log."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.asking import SESSION, asked, handshake
from tests.browser import ROOT
from tests.classroom.crowd import TRACEBACK, running, together
from tests.classroom.session import opened
from tests.hostile.addresses import NUMBERS, WORDS
from tfmviz import security
from tfmviz.ui import weights

CLOSE = {"Host": "localhost", "Connection": "close"}

MODEL = "induction"

NAMED = f"/weights/{MODEL}-{weights._package(MODEL)[1][:20]}"

ROUTES = ("/views/{}", "/weights/{}", "/weights/{}/0", NAMED + "/{}")
"""The routes of ours that have a part for a reader to spell; the last with a name that there is."""

LONG = ("9" * 5000, "-" + "9" * 5000, "٣" * 5000, "0" * 5000, "x" * 10_000, "/" * 5000, "../" * 2000)

RAW = (
    *("", "..", "../..", ".", "%2e%2e", "%2e%2e%2f0", "..%5c0", "%00", "%0", "%", "%zz", "%ff", "%25%30", "0/", "/0"),
    *("-0", "+0", "00", "0;a=b", "0%20", "%200", "0%0a", "%d9%a0", "%c2%b2", "0.0", "0x0", "\\", "'", '"', "<b>"),
    *("é", "\x7f"),
)
"""Spelled as they are sent."""

OTHER_METHODS = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")

FRAMES = ("", "text", "{}", "\x00", "é" * 5000, b"", b"\xff" * 100, b"\x00", b"x" * 5000, b"[" * 200)
"""What is no message of Streamlit."""

LIST_ROUTES = """
import streamlit, uvicorn
from tfmviz.__main__ import main
def list_routes(around, **_):
    app = around.app
    app._runtime = app._create_runtime()
    for route in app._build_starlette_app().routes:
        print(type(route).__name__, getattr(route, "path", None) or "/")
uvicorn.run = list_routes
main([])
"""
"""Prints what the command serves."""

NEEDED = {
    "Route /views/{name:path}": "the scripts of our views",
    "Route /find.json": "the index of the search",
    "Route /weights/{name:path}": "the models that a browser computes",
    "WebSocketRoute /live": "keys on their way to us",
    "WebSocketRoute /_stcore/stream": "a session",
    "Route /_stcore/health": "probes, and a browser before it opens a session again",
    "Route /_stcore/host-config": "a browser before it opens a session; it gets its secret there",
    "Route /media/{file_id:path}": "files to download",
    "Mount /": "Streamlit's page, at the address of every page of ours, and its files",
}
"""Why a route is open."""


@dataclass(frozen=True)
class Logged:
    """A server, and what it has written."""

    address: str
    file: Path

    def assert_no_traceback(self) -> None:
        log = self.file.read_bytes()
        assert TRACEBACK not in log, log.decode()[-3000:]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    path = tmp_path_factory.mktemp("server") / "log"
    with path.open("wb") as file, running(ROOT / "app.py", log=file) as server:
        yield Logged(server.address.removeprefix("http://"), path)


def spellings() -> list[str]:
    return [*RAW, *(quote(value, safe="") for value in (*NUMBERS, *WORDS, *LONG) if value != "0")]


def test_a_route_answers_what_there_is_in_one_method_and_refuses_all_else(logged: Logged) -> None:
    assert asked(logged.address, f"{NAMED}/0", CLOSE, method="HEAD")[0] == 200
    targets = {route.format(spelled) for route in ROUTES for spelled in spellings()}
    got = {target: asked(logged.address, target, CLOSE)[0] for target in sorted(targets)}
    assert {target[:80]: status for target, status in got.items() if not 400 <= status < 500} == {}
    logged.assert_no_traceback()
    plain = ("/find.json", "/live", f"{NAMED}/0", *(route.format("0") for route in ROUTES), "/", "/masks")
    told = {(how, to): asked(logged.address, to, CLOSE, method=how)[0] for how in OTHER_METHODS for to in plain}
    closed = (*security.SESSIONS, "/auth/login?provider=a.b.c", "/oauth2callback?error=a%0ab")
    told |= {("GET", target): asked(logged.address, target, CLOSE)[0] for target in closed}
    assert {asked: status for asked, status in told.items() if not 400 <= status < 500} == {}
    logged.assert_no_traceback()


def test_a_session_is_opened_at_no_other_address(logged: Logged) -> None:
    targets = {f"/live{spelled}" for spelled in spellings() if spelled} | {"/", "/masks", "/find.json", f"{NAMED}/0"}
    targets |= {route.format(spelled) for route in ROUTES for spelled in RAW}
    got = {one: handshake(logged.address, host="localhost", origin=None, target=one) for one in sorted(targets)}
    long = SESSION | {"X": "y" * 9000}, SESSION | {f"X{n}": "y" for n in range(200)}
    got |= {f"header {n}": asked(logged.address, "/live", CLOSE | said)[0] for n, said in enumerate(long)}
    assert {target[:80]: status for target, status in got.items() if not 400 <= status < 500} == {}
    assert [handshake(logged.address, host="localhost", origin=None, target=one) for one in security.SESSIONS] == [
        101
    ] * 2
    logged.assert_no_traceback()


def test_a_session_goes_on_after_what_is_no_message_of_a_page(logged: Logged) -> None:
    async def say_what_no_page_says() -> list[str]:
        session, _ = await opened(f"http://{logged.address}")
        for frame in FRAMES:
            await session._socket.send(frame)
        steering = BackMsg(clear_cache=True), BackMsg(load_git_info=True), BackMsg(debug_shutdown_runtime=True)
        for message in (*steering, BackMsg(debug_disconnect_websocket=True)):
            await session._socket.send(message.SerializeToString())
        answer = await session.enter("A dog ran home.")
        await session.close()
        return answer.problems

    assert together(say_what_no_page_says()) == []
    logged.assert_no_traceback()


def test_every_open_route_has_a_reason() -> None:
    command = [sys.executable, "-c", LIST_ROUTES]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=300).stdout
    routes = {line for line in printed.splitlines() if re.match("(WebSocket)?Route |Mount ", line)}
    path = {route: re.sub(r"{.*?}", "1f", route.partition(" ")[2]) for route in routes}
    assert {route for route in routes if not security.is_closed(path[route])} == set(NEEDED)
