"""`python -m tests.package.two_workers`: a front whose two workers answer at once, by their process's number.

It prints its port when both are ready. With the argument "no" they end before they are.
"""

import asyncio
import os
import socket
import sys

import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router

from tfmviz import capacity, workers

SILENT = 0.2
"""Seconds after which a connection that says nothing is closed."""


async def who(_: Request) -> PlainTextResponse:
    return PlainTextResponse(str(os.getpid()))


def front(argument: str) -> None:
    capacity.IDLE, workers.AGAIN = SILENT, 0.1
    command = [sys.executable, "-m", "tests.package.two_workers", argument]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        asyncio.run(workers.Front(command, 2, lambda: print(port, flush=True)).serve(listener))


def worker(channel: int) -> None:
    config = uvicorn.Config(Router([Route("/", who)]), lifespan="off", log_level="warning", timeout_keep_alive=300)
    workers.Handed(config, socket.socket(fileno=channel)).run()


if __name__ == "__main__":
    if sys.argv[1:] in ([], ["yes"], ["no"]):
        front(sys.argv[1] if sys.argv[1:] else "yes")
    elif sys.argv[1] == "yes":
        worker(int(sys.argv[2]))
