"""Many sessions at once, and the server they ask."""

import asyncio
import subprocess
from collections.abc import Awaitable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import urlencode

from websockets.exceptions import WebSocketException

from tests.browser import Server, free_port, serve
from tests.classroom.session import Answer, Session, opened

Result = TypeVar("Result")

TRACEBACK = b"Traceback"
"""How an exception in a server's log begins; what follows is in colours."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a request: its answer or, if none came, the reason."""

    answer: Answer | None
    problems: tuple[str, ...]


@contextmanager
def running(script: Path, *, log: int | IO[bytes] = subprocess.DEVNULL, workers: int = 1) -> Iterator[Server]:
    """A server of its own, which ends with the block."""
    more = [f"--workers={workers}"] if workers > 1 else []
    server = serve(script, free_port(), *more, log=log)
    try:
        yield server
    finally:
        server.process.terminate()
        try:
            server.process.wait(timeout=300)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


def together(doing: Coroutine[Any, Any, Result]) -> Result:
    """What comes of a coroutine. It runs in a thread of its own: Playwright's browser keeps a loop in the test's."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, doing).result()


async def arrive(
    addresses: Sequence[str], page: str, students: int | Sequence[str]
) -> tuple[list[Session], list[Outcome]]:
    """Lets sessions go to a page at once, spread over the addresses; those that got in, and all outcomes.

    Args:
        students: how many, or the sentences in their addresses.
    """
    texts = [""] * students if isinstance(students, int) else students
    sessions: list[Session] = []

    async def visit(address: str, text: str) -> Answer:
        session, answer = await opened(address, page, urlencode({"text": text} if text else {}))
        sessions.append(session)
        return replace(answer, expected=text) if text and answer.explored is not None else answer

    visits = (visit(addresses[n % len(addresses)], text) for n, text in enumerate(texts))
    return sessions, await asyncio.gather(*map(outcome, visits))


async def enter_at_once(sessions: Sequence[Session], texts: Sequence[str]) -> list[Outcome]:
    return await asyncio.gather(*(outcome(session.enter(text)) for session, text in zip(sessions, texts, strict=True)))


async def leave(sessions: Sequence[Session]) -> None:
    await asyncio.gather(*(session.close() for session in sessions))


async def outcome(asked: Awaitable[Answer]) -> Outcome:
    """Waits for an answer; a connection that fails is an outcome, too."""
    try:
        answer = await asked
    except (OSError, TimeoutError, WebSocketException, RuntimeError) as error:
        return Outcome(None, (repr(error),))
    return Outcome(answer, tuple(answer.problems))
