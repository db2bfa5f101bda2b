"""Restricts what a browser may send to Streamlit to the messages of this app's pages.

Otherwise any session could clear the caches of all readers, or query the repository; and malformed messages would put
a traceback into the log.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from uvicorn.protocols.websockets import websockets_sansio_impl

STREAM = "/_stcore/stream"
"""The address of Streamlit's sessions."""

OF_PAGES = {"rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request"}
"""Kinds of messages. None of them reaches beyond its session."""


@dataclass(frozen=True, slots=True)
class OfPages:
    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def hear() -> Message:
            while (message := await receive())["type"] == "websocket.receive" and not is_of_a_page(message):
                pass
            return message

        is_session = scope["type"] == "websocket" and scope["path"] == STREAM
        await self.app(scope, hear if is_session else receive, send)


def is_of_a_page(message: Message) -> bool:
    """A websocket's frame is one of `OF_PAGES`, which are bytes."""
    try:
        return BackMsg.FromString(message.get("bytes") or b"").WhichOneof("type") in OF_PAGES
    except Exception:  # protobuf's own, which we do not depend on but through Streamlit
        return False


class Sockets(websockets_sansio_impl.WebSocketsSansIOProtocol):
    """uvicorn's would keep a connection forever whose handshake has a line of more than 8,192 bytes."""

    def data_received(self, data: bytes) -> None:
        """The first data are the whole handshake."""
        super().data_received(data)
        if not self.handshake_initiated:
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()
