"""A rolling restart of servers that do not come back, without processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from deploy import serve


@dataclass
class Stub:
    """A server that notes what is done with it."""

    name: str
    is_healthy: bool = True
    done: list[str] = field(default_factory=list)

    def stop(self) -> None:
        self.done.append("stop")

    def start(self) -> None:
        self.done.append("start")

    def wait_until_healthy(self) -> None:
        if not self.is_healthy:
            raise RuntimeError(f"{self.name} does not answer.")

    def send_readers_to(self, replica: Stub, *, ready: bool) -> None:
        replica.done.append("ready" if ready else "maint")


def test_after_a_server_that_does_not_come_back_no_other_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    one, two, three = Stub("one"), Stub("two", is_healthy=False), Stub("three")
    serve.restart_in_turn(cast("Any", [one, two, three]), cast("Any", one))
    assert one.done == two.done == ["maint", "stop", "start", "ready"]
    assert three.done == []
    assert "two does not answer. The others go on" in capsys.readouterr().err
