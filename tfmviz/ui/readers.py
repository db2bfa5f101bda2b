"""Who a reader is: a browser, by a secret that the server gives it and that stands in no address.

So a link shows others what its sender sees, and only the sender's browser may steer it, in every tab and after every
reload, until it is closed.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "tfmviz_reader"

SECRET = re.compile(r"[0-9a-f]{32}", re.ASCII)

BEFORE_A_SESSION = "/_stcore/host-config"
"""What a browser asks for before it opens a session. No proxy keeps the answer, so each gets its own."""


def this_one() -> str:
    """The reader of this session, by 32 digits from which nobody learns the secret.

    Without a cookie (`streamlit run`, another site's frame) the session itself is the reader, until it is reloaded.
    """
    secret = st.context.cookies.get(COOKIE, "")
    if not SECRET.fullmatch(secret):
        secret = st.session_state.setdefault("reader", secrets.token_hex(16))
    return sha256(secret.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Known:
    """An ASGI application around another, which gives a secret to every browser that has none."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_new = scope["type"] == "http" and scope["path"] == BEFORE_A_SESSION and not _has_secret(scope)
        await self.app(scope, receive, _with_secret(send) if is_new else send)


def _has_secret(scope: Scope) -> bool:
    return SECRET.fullmatch(HTTPConnection(scope).cookies.get(COOKIE, "")) is not None


def _with_secret(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            cookie = f"{COOKIE}={secrets.token_hex(16)}; Path=/; HttpOnly; SameSite=Lax"
            MutableHeaders(scope=message).append("Set-Cookie", cookie)
        await send(message)

    return answer
