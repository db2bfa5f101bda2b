"""The way on which keys come and pictures go, without the pages around it."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect

from tests.browser import free_port
from tests.classroom.crowd import together
from tfmviz import doors
from tfmviz.ui import live

Talk = Callable[[Callable[[ClientConnection], Coroutine[Any, Any, Any]]], Any]
"""Opens a connection, does something with it, and gives what came of that."""


@pytest.fixture(scope="session")
def host() -> Iterator[str]:
    """The server's name and port."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "_served", False)  # pages in this process go on as without a server
        app = Starlette(routes=[live.route()])
    port = free_port()
    config = uvicorn.Config(doors.Doors(app, frozenset(), {}), port=port, ws="websockets-sansio", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield f"127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def talk(host: str) -> Talk:
    def do(doing: Callable[[ClientConnection], Coroutine[Any, Any, Any]]) -> Any:
        async def opened() -> Any:
            for _ in range(100):  # until the server listens
                try:
                    socket = await connect(f"ws://{host}/live", origin=f"http://{host}", max_size=None)  # type: ignore[arg-type]
                    break
                except ConnectionRefusedError:
                    await asyncio.sleep(0.05)
            async with socket:
                return await doing(socket)

        return together(opened())

    return do


def question(text: str | None = "The cat sat.", **other: Any) -> str:
    """What a browser asks."""
    page = {"model": "tiny-english", "layer": "decoder.4.self_attn", "head": 3, "zoom": "", "token": None}
    page |= {key: other.pop(key) for key in page & other.keys()}
    return json.dumps({"n": 1, "text": text, "views": "explorer", "page": page} | other)


def parts(answer: str | bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """An answer taken apart: its header, and the data of each view. One in JSON has no data."""
    if isinstance(answer, str):
        return json.loads(answer), {}
    end = 4 + int.from_bytes(answer[:4], "little")
    header, found = json.loads(answer[4:end]), {}
    for name, length in header["views"].items():
        found[name] = answer[end : end + length]
        end += length
    assert end == len(answer)
    return header, found
