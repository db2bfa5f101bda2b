"""A reader is a browser, identified by a secret from the server that is in no address.

A link therefore shows others what its sender sees, but only the sender's browser may control it, in every tab and after
every reload. Readers take turns by browser, so the server signs the secret: otherwise one could invent many. They can
still request many; `capacity` bounds these.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tfmviz import capacity, workers

COOKIE = workers.COOKIE

KEY = os.environ.get(workers.KEY, "").encode() or secrets.token_bytes(32)
"""The key that several servers sign with; a server alone makes one up."""

GIVEN = re.compile(r"(?P<secret>[0-9a-f]{32})(\.(?P<signature>[0-9a-f]{32}))?", re.ASCII)
"""A cookie: a secret, and the signature without which it only serves to control the browser's own runs."""

ADDRESS = "at "
"""Prefix of a reader who is identified by the address alone."""

BEFORE_A_SESSION = capacity.BEFORE_A_SESSION
"""The request whose answer sets it: no proxy keeps that answer, so each browser gets a different one."""


def this_one() -> str:
    """The reader of this session, by 32 digits from which the secret cannot be derived.

    Without a cookie (`streamlit run`, another site's frame) the session is the reader, until it is reloaded.
    """
    secret, _ = _read(st.context.cookies)
    return _digits(secret or st.session_state.setdefault("reader", secrets.token_hex(16)))


def who(cookies: Mapping[str, str], address: str | None) -> str:
    """The reader who takes turns: a browser by the cookie that we have signed, all others by their address."""
    secret, is_ours = _read(cookies)
    at = "" if address in ("127.0.0.1", "::1") else address or ""  # in Streamlit's form
    return _digits(secret) if is_ours else f"{ADDRESS}{at}"


def waits_here() -> str:
    return who(st.context.cookies, st.context.ip_address)


def place() -> str:
    """Digits from which the address cannot be derived."""
    return _signature(capacity.place_of(f"{st.context.ip_address}"))


def share(reader: str, most: int) -> int:
    """The most that a reader may have at the same time: a browser one; an address, possibly shared by many, `most`."""
    return most if reader.startswith(ADDRESS) else 1


def _read(cookies: Mapping[str, str]) -> tuple[str, bool]:
    """The secret in a browser's cookie, empty if there is none, and whether we have signed it."""
    found = GIVEN.fullmatch(str(cookies.get(COOKIE, "")))  # Streamlit's AppTest has a mock for it
    if found is None:
        return "", False
    return found["secret"], hmac.compare_digest(found["signature"] or "", _signature(found["secret"]))


def signed(secret: str) -> str:
    """The cookie's value."""
    return f"{secret}.{_signature(secret)}"


def _signature(secret: str) -> str:
    return hmac.digest(KEY, secret.encode(), "sha256").hex()[:32]


def _digits(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class SessionCookie:
    """An ASGI application around another that gives a signed secret to every browser without one."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == BEFORE_A_SESSION:
            secret, is_ours = _read(HTTPConnection(scope).cookies)
            if not is_ours:  # one from before a restart is signed again: its reader still controls their runs
                send = _giving(secret or secrets.token_hex(16), send, safely=scope.get("scheme") == "https")
        await self.app(scope, receive, send)


def _giving(secret: str, send: Send, *, safely: bool) -> Send:
    cookie = f"{COOKIE}={signed(secret)}; Path=/; HttpOnly; SameSite=Lax" + ("; Secure" if safely else "")

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("Set-Cookie", cookie)
        await send(message)

    return answer
