"""Two servers behind HAProxy, as real processes: what readers notice when one is killed, restarted or slowed down."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import pytest
from playwright.sync_api import Page, expect

from deploy import serve
from deploy.serve import Replica
from tests.asking import wait_until
from tests.browser import READY, Visit
from tests.classroom.crowd import together
from tests.deploy.serving import Reader, Serving, reading, silence

PAGE = "/residual_stream?text=The+queen+gave+the+king+a+ring.&model=twins-rope&layer=2&head=1"


def ask(address: str) -> int:
    with urllib.request.urlopen(address, timeout=300) as answer:
        status: int = answer.status
        return status


def kill(replica: Replica) -> None:
    """Ends a server at once and waits until it is gone: it lets go of its connections earlier, and still runs then."""
    assert replica.process
    replica.process.kill()
    replica.process.wait()


def comes_back(served: Serving, hit: Replica) -> None:
    with served.watched():
        wait_until(lambda: hit.running, "a new start of the killed server")
        hit.wait_until_healthy()


def answered(reader: Reader, times: int) -> bool:
    return len(reader.answers) >= times


def everyone_is_answered(readers: Sequence[Reader], page: Page | None = None) -> None:
    """Waits until each has one answer more."""
    seen = [len(reader.answers) for reader in readers]
    pairs = [*zip(readers, seen, strict=True)]
    wait_until(lambda: all(len(reader.answers) > n for reader, n in pairs), "an answer for everyone", page=page)


def what_is_chosen(page: Page) -> dict[str, str]:
    """Title, sentence, model, and what the address holds."""
    return {
        "title": page.locator("h1").first.inner_text(),
        "sentence": page.get_by_label("Your sentence").input_value(),
        "model": page.locator(".st-key-models button").first.inner_text(),
        "query": page.evaluate("location.search"),
    }


def test_who_is_slow_slows_nobody(served: Serving) -> None:
    port = int(served.address.rsplit(":", 1)[1])

    async def beside_the_slow() -> list[Reader]:
        unfinished = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
        for connection in unfinished:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: lo")
        silent = [await silence(served.address) for _ in range(4)]
        readers = [Reader(served.address, number) for number in range(2)]
        await asyncio.gather(*(reader.read(partial(answered, reader, 3)) for reader in readers))
        for connection in unfinished:
            connection.close()
        for one in silent:
            one.transport.close()
        return readers

    readers = together(beside_the_slow())
    assert [(reader.mistakes, reader.interruptions) for reader in readers] == [([], 0)] * 2


def test_a_rolling_restart_loses_no_request(served: Serving) -> None:
    before = served.process_ids()
    statuses: list[int | str] = []
    enough = threading.Event()

    def ask_again_and_again() -> None:
        while not enough.is_set():
            try:
                statuses.append(ask(served.address))
            except OSError as error:
                statuses.append(str(error))

    with served.watched(), reading(served.address, 2) as readers:
        everyone_is_answered(readers)
        asking = [threading.Thread(target=ask_again_and_again) for _ in range(2)]
        for thread in asking:
            thread.start()
        served.asked.restart = True
        wait_until(lambda: not set(before) & set(served.process_ids()), "a restart of all servers")
        everyone_is_answered(readers)
        enough.set()
        for thread in asking:
            thread.join()
    assert set(statuses) == {200}
    assert [reader.mistakes for reader in readers] == [[]] * 2


def test_a_request_in_the_hands_of_a_killed_server_is_answered_by_another(served: Serving) -> None:
    hit = served.replicas[0]
    assert hit.process
    hit.process.send_signal(signal.SIGSTOP)  # it takes requests and answers none
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(ask, served.address) for _ in range(8)]
        wait_until(lambda: any(one.done() for one in asked), "an answer of the other server")
        assert not all(one.done() for one in asked)
        kill(hit)
        assert {one.result() for one in asked} == {200}
    comes_back(served, hit)


@pytest.mark.browser
def test_who_was_on_a_killed_server_goes_on_on_another(served: Serving, visit: Visit) -> None:
    page = visit.open(PAGE, drawn=".st-key-header h1")
    before = what_is_chosen(page)
    hit, other = sorted(served.replicas, key=served.sessions_on, reverse=True)
    assert [served.sessions_on(hit), served.sessions_on(other)] == [1, 0]
    with reading(served.address, 3) as readers:
        everyone_is_answered(readers, page)
        theirs = served.sessions_on(hit) - 1
        kill(hit)
        wait_until(lambda: sum(reader.interruptions for reader in readers) >= theirs, "the loss", page=page)
        wait_until(lambda: served.sessions_on(other) == 4, "everyone's return", page=page)
        page.wait_for_selector(READY)
        assert what_is_chosen(page) == before
        expect(page.get_by_test_id("stMain")).not_to_contain_text("“A”")
        visit.enter("A dog ran home.")
        expect(page.get_by_test_id("stMain")).to_contain_text("“A”")  # a sentence about the first token
        page.wait_for_selector(READY)
        everyone_is_answered(readers, page)
    after = what_is_chosen(page)
    assert (after["title"], after["model"]) == (before["title"], before["model"])
    assert [reader.mistakes for reader in readers] == [[]] * 3
    assert sum(reader.interruptions for reader in readers) == theirs
    comes_back(served, hit)


@dataclass
class Stub:
    """A server that notes what is done with it, or HAProxy."""

    name: str
    fails_to: str = ""
    done: list[str] = field(default_factory=list)
    began: float = -serve.AGAIN
    running: bool = False
    asked: serve.Asked = field(default_factory=serve.Asked)

    def stop(self) -> None:
        self.done.append("stop")

    def start(self) -> None:
        self.done.append("start")
        self.asked.stop = True
        self._try("start")

    def wait_until_healthy(self) -> None:
        self._try("answer")

    def send_readers_to(self, replica: Stub, *, ready: bool) -> None:
        replica.done.append("ready" if ready else "maint")

    def _try(self, to: str) -> None:
        if self.fails_to == to:
            raise RuntimeError(f"{self.name} does not {to}.")


def test_after_a_server_that_stays_away_no_other_is_stopped_or_ended(capsys: pytest.CaptureFixture[str]) -> None:
    for to in ("start", "answer"):
        one, two, three = Stub("one"), Stub("two", fails_to=to), Stub("three")
        serve.restart_in_turn(cast("Any", [one, two, three]), cast("Any", one))
        assert one.done == two.done == ["maint", "stop", "start", "ready"]
        assert three.done == []
        assert f"two does not {to}. The others go on" in capsys.readouterr().err
    asked = serve.Asked()
    lost, other = Stub("lost", fails_to="start", asked=asked), Stub("other", asked=asked)
    with subprocess.Popen(["sleep", "60"]) as front:
        try:
            serve.watch(cast("Any", [lost, other]), cast("Any", serve.Proxy(front, cast("Any", None))), asked)
        finally:
            front.kill()
    assert lost.done == other.done == ["start"]
    assert "lost does not start. The others go on" in capsys.readouterr().err
