"""A browser gets its secret once, signed, before its first session, and no page and no address shows it."""

import re
from collections.abc import Mapping

import pytest
import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Message

from tests.classroom.crowd import together
from tfmviz.ui import session_cookie

SECRET = "0123456789abcdef" * 2


def ask(path: str = session_cookie.BEFORE_A_SESSION, *, cookies: str = "", scheme: str = "http") -> list[str]:
    """The cookies that a browser is given which has these."""
    given: list[str] = []

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            given.extend(Headers(raw=message["headers"]).getlist("set-cookie"))

    scope = {"type": "http", "path": path, "scheme": scheme, "headers": [(b"cookie", cookies.encode())]}
    together(session_cookie.SessionCookie(PlainTextResponse("yes"))(scope, receive, send))
    return given


def test_a_browser_gets_a_secret_once_and_nothing_that_is_kept_for_all_carries_one() -> None:
    (first,), (second,) = ask(), ask()
    assert re.fullmatch(
        rf"{session_cookie.COOKIE}=[0-9a-f]{{32}}\.[0-9a-f]{{32}}; Path=/; HttpOnly; SameSite=Lax", first
    )
    assert first != second
    assert ask(cookies=f"other=1; {first.partition(';')[0]}") == []
    assert ask(scheme="https")[0].endswith("; HttpOnly; SameSite=Lax; Secure")
    for path in ("/", "/training", "/static/index.js", "/views/a.js", "/_stcore/health"):
        assert ask(path) == [], path
    for cookie in ("", "0" * 31, "0" * 33, "G" * 32, "<script>", f"{SECRET}.{SECRET}.{SECRET}", f"{SECRET}."):
        (given,) = ask(cookies=f"{session_cookie.COOKIE}={cookie}; other={SECRET}")
        assert SECRET not in given, cookie


def test_a_secret_that_is_not_signed_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that starts anew with another key still lets its readers steer their runs."""
    for cookie in (SECRET, f"{SECRET}.{SECRET}"):
        given = ask(cookies=f"{session_cookie.COOKIE}={cookie}")
        name, _, value = given[0].partition(";")[0].partition("=")
        assert value.startswith(f"{SECRET}.")
        assert session_cookie.who({name: value}, "10.0.0.1") == reader_of({name: cookie}, {}, monkeypatch)


def test_a_signed_cookie_is_a_reader_wherever_they_are_and_all_others_are_their_address() -> None:
    cookie = {session_cookie.COOKIE: session_cookie.signed(SECRET)}
    assert session_cookie.who(cookie, "10.0.0.1") == session_cookie.who(cookie, "10.0.0.2")
    assert session_cookie.share(session_cookie.who(cookie, "10.0.0.1"), 8) == 1
    forged = ("", SECRET, f"{SECRET}.{SECRET}", f"{SECRET[::-1]}{session_cookie.signed(SECRET)[32:]}")
    assert len({session_cookie.who({session_cookie.COOKIE: text}, "10.0.0.1") for text in forged}) == 1
    assert session_cookie.who({}, "10.0.0.1") != session_cookie.who({}, "10.0.0.2")
    assert session_cookie.share(session_cookie.who({}, "10.0.0.1"), 8) == 8  # a class may sit there


def test_another_servers_key_signs_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_cookie, "KEY", b"shared by all servers")
    cookie = {session_cookie.COOKIE: session_cookie.signed(SECRET)}
    mine = session_cookie.who(cookie, None)
    monkeypatch.setattr(session_cookie, "KEY", b"another")
    assert session_cookie.who(cookie, None) != mine
    monkeypatch.setattr(session_cookie, "KEY", b"shared by all servers")
    assert session_cookie.who(cookie, None) == mine


def reader_of(cookies: Mapping[str, str], state: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(type(st.context), "cookies", cookies)
    monkeypatch.setattr(st, "session_state", state)
    return session_cookie.this_one()


def test_all_sessions_of_a_browser_are_one_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    one, again = (reader_of({session_cookie.COOKIE: SECRET}, {}, monkeypatch) for _ in range(2))
    assert one == again != reader_of({session_cookie.COOKIE: SECRET[::-1]}, {}, monkeypatch)
    assert SECRET not in one
    cookies: Mapping[str, str]
    for cookies in ({}, {session_cookie.COOKIE: "known to all"}):
        state: dict[str, str] = {}
        one, again = (reader_of(cookies, state, monkeypatch) for _ in range(2))
        assert one == again != reader_of(cookies, {}, monkeypatch)
