"""Two busy servers behind HAProxy, one killed again and again: no answer is wrong, and memory stays flat."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from urllib.parse import urlencode

import pytest
from websockets.exceptions import WebSocketException

from tests.classroom.session import Answer, Session, opened
from tests.deploy.serving import Serving, has_haproxy, serving
from tests.soak import random_readers
from tests.soak.conftest import MINUTES
from tests.soak.costs import resident
from tfmviz.ui import router

pytestmark = pytest.mark.soak

READERS = 4

CACHE = 256
"""Megabytes of results that a server keeps here, so that its cache is full long before the end."""

EVERY = 60
"""Seconds between two kills."""

FLAT = 100
"""Megabytes by which the server that is not killed may grow from the third quarter to the last, by their least values:
an answer that is being computed may take 200 for a moment."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    if not has_haproxy():
        pytest.skip("No HAProxy found.")
    monkeypatch.setenv("TFMVIZ_CACHE_MB", str(CACHE))
    with serving(2) as running, running.watched():
        yield running


def test_memory_is_flat_and_kills_cost_nothing_but_a_pause(served: Serving) -> None:
    enough, problems, answers = threading.Event(), list[str](), list[int]()
    lasting, dying = served.replicas
    readers = [threading.Thread(target=_read, args=(served, n, enough, problems, answers)) for n in range(READERS)]
    for reader in readers:
        reader.start()
    memory, began, kills = list[float](), time.monotonic(), 0
    while (passed := time.monotonic() - began) < 60 * MINUTES:
        if passed > EVERY * (kills + 1) and dying.process:
            dying.process.kill()
            kills += 1
        assert lasting.process
        memory.append(resident(process=lasting.process.pid))
        time.sleep(1)  # between two looks
    enough.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert len(answers) > 60 * MINUTES / 10
    quarter = len(memory) // 4
    print(f"{len(answers)} answers, {kills} kills, MB by tenths:", [f"{m:.0f}" for m in memory[:: len(memory) // 10]])
    if MINUTES >= 10:  # before that, models and kernels are still being fetched for the first time
        assert min(memory[3 * quarter :]) - min(memory[2 * quarter : 3 * quarter]) < FLAT


def _read(served: Serving, number: int, enough: threading.Event, problems: list[str], answers: list[int]) -> None:
    """Opens one random tab after the other and types a few texts there, until there is enough."""

    async def read() -> None:
        random = Random(number)
        while not enough.is_set():
            page = random.choice([page.name for page in router.PAGES if page.group])
            query = urlencode(random_readers.tab(random, page))
            try:
                session, answer = await opened(served.address, page, query)
                found = [answer, *[await _type(session, random) for _ in range(5)]]
                await session.close()
            except (OSError, WebSocketException, TimeoutError):
                await asyncio.sleep(0.2)  # its server was killed: another one is asked
                continue
            answers.extend([1] * len(found))
            problems.extend(f"{page}?{query}: {problem}" for answer in found for problem in answer.problems)

    asyncio.run(read())


async def _type(session: Session, random: Random) -> Answer:
    """Types a text; the explorer shows what the model reads of it, which may be less."""
    return replace(await session.enter(random_readers.text(random)), expected=None)
