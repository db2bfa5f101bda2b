"""A browser gets its secret once, before its first session, and no page and no address shows it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tfmviz.ui import readers

SECRET = "0123456789abcdef" * 2


async def yes(_: Request) -> PlainTextResponse:
    return PlainTextResponse("yes")


@pytest.fixture
def browser() -> TestClient:
    return TestClient(Starlette(routes=[Route("/{rest:path}", yes)], middleware=[Middleware(readers.Known)]))


def test_a_browser_gets_a_secret_of_its_own_and_keeps_it(browser: TestClient) -> None:
    first = browser.get(readers.BEFORE_A_SESSION)
    assert readers.SECRET.fullmatch(first.cookies[readers.COOKIE])
    assert {part.strip() for part in first.headers["set-cookie"].split(";")[1:]} == {
        "Path=/",
        "HttpOnly",
        "SameSite=Lax",
    }
    assert "set-cookie" not in browser.get(readers.BEFORE_A_SESSION).headers
    browser.cookies.clear()
    other = browser.get(readers.BEFORE_A_SESSION).cookies[readers.COOKIE]
    assert other != first.cookies[readers.COOKIE]


@pytest.mark.parametrize("path", ["/", "/training", "/static/index.js", "/views/a.js", "/_stcore/health"])
def test_what_a_proxy_may_keep_for_all_carries_no_secret(path: str, browser: TestClient) -> None:
    assert "set-cookie" not in browser.get(path).headers


@pytest.mark.parametrize("cookie", ["", "0" * 31, "0" * 33, "G" * 32, "<script>"])
def test_what_is_no_secret_is_replaced(cookie: str, browser: TestClient) -> None:
    answer = browser.get(readers.BEFORE_A_SESSION, headers={"Cookie": f"{readers.COOKIE}={cookie}; other={SECRET}"})
    assert readers.SECRET.fullmatch(answer.cookies[readers.COOKIE])


def reader_of(cookies: Mapping[str, str], state: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(type(st.context), "cookies", cookies)
    monkeypatch.setattr(st, "session_state", state)
    return readers.this_one()


def test_all_sessions_of_a_browser_are_one_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    one, again = (reader_of({readers.COOKIE: SECRET}, {}, monkeypatch) for _ in range(2))
    assert one == again != reader_of({readers.COOKIE: SECRET[::-1]}, {}, monkeypatch)
    assert SECRET not in one


@pytest.mark.parametrize("cookies", [{}, {readers.COOKIE: "known to all"}])
def test_a_browser_without_a_secret_is_a_reader_until_it_is_reloaded(
    cookies: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, str] = {}
    one, again = (reader_of(cookies, state, monkeypatch) for _ in range(2))
    assert one == again != reader_of(cookies, {}, monkeypatch)
