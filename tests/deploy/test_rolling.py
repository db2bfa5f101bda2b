"""Servers that do not come back, without processes: the others go on."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from deploy import serve


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


def test_after_a_server_that_stays_away_no_other_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    for to in ("start", "answer"):
        one, two, three = Stub("one"), Stub("two", fails_to=to), Stub("three")
        serve.restart_in_turn(cast("Any", [one, two, three]), cast("Any", one))
        assert one.done == two.done == ["maint", "stop", "start", "ready"]
        assert three.done == []
        assert f"two does not {to}. The others go on" in capsys.readouterr().err


def test_a_server_that_cannot_be_started_again_ends_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    asked = serve.Asked()
    lost, other = Stub("lost", fails_to="start", asked=asked), Stub("other", asked=asked)
    with subprocess.Popen(["sleep", "60"]) as front:
        try:
            serve.watch(cast("Any", [lost, other]), cast("Any", serve.Proxy(front, cast("Any", None))), asked)
        finally:
            front.kill()
    assert lost.done == other.done == ["start"]
    assert "lost does not start. The others go on" in capsys.readouterr().err
