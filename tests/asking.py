"""Requests as no browser sends them: any bytes for an address, any host and origin; and waiting for what follows."""

import socket
import time
from collections.abc import Callable
from http.client import HTTPResponse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SESSION = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "streamlit",
}


def asked(
    server: str, target: str, headers: dict[str, str], *, version: str = "1.1", method: str = "GET"
) -> tuple[int, str]:
    """Status and text of the answer.

    Args:
        server: IP address and port.
        target: what is asked for, sent as it is.
    """
    host, port = server.rsplit(":", 1)
    lines = [f"{method} {target} HTTP/{version}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    with socket.create_connection((host, int(port)), timeout=300) as connection:
        connection.sendall("\r\n".join(lines).encode())
        with HTTPResponse(connection, method=method) as answer:
            answer.begin()
            return answer.status, "" if answer.status == 101 else answer.read().decode()


def handshake(server: str, *, host: str, origin: str | None, target: str = "/_stcore/stream") -> int:
    """The status with which a session is answered: 101 opens it."""
    said = {"Host": host} | ({} if origin is None else {"Origin": origin}) | SESSION
    return asked(server, target, said)[0]


def wait_until(holds: Callable[[], bool], what: str, *, page: "Page | None" = None) -> None:
    """Looks again and again; meanwhile a browser's page goes on, whose requests pass through this process."""
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline, f"{what} has not happened within five minutes"
        page.wait_for_timeout(50) if page else time.sleep(0.02)
