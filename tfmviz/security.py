"""Access to the server: the requests it accepts, and the headers of its answers.

A browser lets every open page send requests to its machine, with two headers that the page cannot choose: `Origin`, the
site it comes from, and `Host`, the name it asked for. A page of the app has the same in both. They also agree when a
site resolves its own name to this machine ("DNS rebinding"), so the name must be one we know.
"""

from __future__ import annotations

import logging
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address
from socket import gethostname
from urllib.parse import unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

LOG = logging.getLogger(__name__)

SETTING = "TFMVIZ_ALLOWED_HOSTS"
"""Environment variable equivalent to `--allowed-host`: names separated by spaces."""

NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.ASCII)
"""A host name in lower case. IPv4 addresses look like one."""

HOST = re.compile(rf"(?P<name>\[[0-9a-f:.]+\]|{NAME.pattern})\.?(:[0-9]{{0,5}})?", re.ASCII)

SESSIONS = ("/_stcore/stream", "/live")
"""Paths for websockets only."""

OWN = r"_stcore|/(auth|component|oauth2callback)(/|$)"
"""Streamlit's own paths, in lower case."""

OPEN = r"/_stcore/(health|host-config|stream)"
"""Those that browsers and probes need. The others reveal or control the server, or accept uploads, which would fill the
memory.
"""


HERE = 'window.__streamlit={BACKEND_BASE_URL:new URL("./",location.href).href}'
"""The script that `ui/document.py` writes into Streamlit's page."""


def policy(frames: str) -> str:
    """The Content-Security-Policy of every answer.

    Scripts are Streamlit's files and ours, the two lines written into its page, and blobs that fetch ours. Scripts set
    styles everywhere. Figures are saved as data and blobs.

    Args:
        frames: sites that may show the app in a frame, separated by spaces.
    """
    ours = b64encode(sha256(HERE.encode()).digest()).decode()
    lines = f"'sha256-THxz9J9+wf7rhwR2YkXJoSZ13UCmYyC+3lNDv2+8ugA=' 'sha256-{ours}'"
    return (
        f"default-src 'self'; script-src 'self' blob: 'wasm-unsafe-eval' {lines}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        + " ".join(["frame-ancestors 'self'", *frames.split()])
    )


def headers(frames: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": policy(frames),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",  # the address holds the reader's sentence
    }


def name_in(host: str) -> str | None:
    """The name or IP address in a `Host` header, in lower case, without port and final dot."""
    found = HOST.fullmatch(host.lower()) if len(host) < 300 else None
    if found is None or (found["name"].startswith("[") and not is_address(found["name"])):
        return None
    return found["name"]


def is_address(name: str) -> bool:
    """True for an IP address as browsers write it. Nobody else can make it resolve to this machine."""
    try:
        if name.startswith("["):
            IPv6Address(name[1:-1])
        else:
            IPv4Address(name)
    except ValueError:
        return False
    return True


def own_names() -> set[str]:
    """The names of this machine, which change with the network, without a lookup."""
    name = gethostname().lower()
    first = name.partition(".")[0]
    return {"localhost", name, first, f"{first}.local"}


@dataclass(frozen=True, slots=True)
class SecurityMiddleware:
    """ASGI middleware around all routes, files and sessions.

    Attributes:
        names: accepted besides this machine's own names and IP addresses.
        headers: of every answer; they replace the app's own.
    """

    app: ASGIApp
    names: frozenset[str]
    headers: Mapping[str, str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the app answer, or refuses."""
        refusal = None if scope["type"] == "lifespan" else self._refusal(scope)
        if scope["type"] == "http":
            await (refusal or self.app)(scope, receive, self._with_headers(send))
        elif refusal:  # browsers show no reason for a refused session, so the log does
            LOG.warning("A session is refused. %s", bytes(refusal.body).decode())
            await WebSocketClose()(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _with_headers(self, send: Send) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer_headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    answer_headers[name] = value
            await send(message)

        return answer

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        asked = Headers(scope=scope)
        hosts, origins = asked.getlist("host"), asked.getlist("origin")
        if hosts:  # probes may leave it out, browsers never do
            name = name_in(hosts[0]) if len(hosts) == 1 else None
            if name is None:
                return PlainTextResponse("The request does not say which server it is for.", 400)
            if not (is_address(name) or name in self.names or name in own_names()):
                return PlainTextResponse(
                    f"This server does not know that it is called {name}: whoever starts it can say so, with "
                    f"--allowed-host {name} or with {SETTING}={name} in the environment.",
                    403,
                )
        if not all(_is_of(origin, hosts) for origin in origins):
            return PlainTextResponse(
                "The request comes from another site's page, or a proxy has changed its header Host.", 403
            )
        is_session = scope["type"] == "websocket"
        if is_closed(scope["path"]) or is_session != (scope["path"] in SESSIONS):
            return PlainTextResponse("This address is not for readers.", 404)
        return None


def _is_of(origin: str, hosts: Iterable[str]) -> bool:
    """True for the origin of a page loaded from one of the hosts.

    Compared literally: Streamlit would ask an outside service for this machine's address if they differed.
    """
    return any(origin in (f"http://{host}", f"https://{host}") for host in hosts)


def is_closed(path: str) -> bool:
    """True for Streamlit's own paths other than `OPEN`, even percent-encoded.

    Control characters are refused: routes ignore a trailing line feed.
    """
    if re.search(r"[\x00-\x1f\x7f]", path):
        return True
    return bool(re.search(OWN, unquote(path).lower())) and not re.fullmatch(OPEN, path)
