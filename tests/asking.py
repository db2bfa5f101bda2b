"""Requests as no browser sends them: any bytes for an address, any host and origin."""

import socket
from http.client import HTTPResponse

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
