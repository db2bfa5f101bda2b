"""A Firefox that is asked over WebDriver BiDi, which it speaks itself: nothing else has to be installed."""

import json
import re
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

PATIENCE = 120
"""Seconds: a busy machine is slow, not wrong."""

PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1",
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
}
"""Everything but this machine is asked for through a proxy that is not there."""


def program() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One tab. Closes with `end`."""

    def __init__(self, executable: str, profile: Path) -> None:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [executable, "--headless", "--remote-debugging-port", "0", "--profile", str(profile), "--no-remote"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr
        address = ""
        for line in self._process.stderr:
            if found := re.search(r"ws://127\.0\.0\.1:\d+", line):
                address = found[0]
                break
        assert address, "Firefox did not say where it listens."
        self._ends = ExitStack()
        self._socket = self._ends.enter_context(connect(f"{address}/session", max_size=None, open_timeout=PATIENCE))
        self._n = 0
        self.asked: list[str] = []
        """Addresses that the tab has asked for."""
        self.complaints: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded"])
        self._tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        """Raises: RuntimeError, with what Firefox complains about."""
        self._n += 1
        self._socket.send(json.dumps({"id": self._n, "method": method, "params": parameters}))
        while True:
            said = json.loads(self._socket.recv(timeout=PATIENCE))
            if said.get("id") == self._n:
                if said["type"] == "error":
                    raise RuntimeError(f"{method}: {said['message']}")
                return said["result"]
            self._hear(said)

    def _hear(self, said: dict[str, Any]) -> None:
        if said.get("method") == "network.beforeRequestSent":
            self.asked.append(said["params"]["request"]["url"])
        elif said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
            self.complaints.append(str(said["params"]["text"]))

    def open(self, address: str) -> None:
        self.ask("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def value(self, expression: str) -> Any:
        given = {"expression": f"JSON.stringify({expression})", "target": {"context": self._tab}, "awaitPromise": True}
        found = self.ask("script.evaluate", **given)
        assert found["type"] == "success", found.get("exceptionDetails", {}).get("text")
        return json.loads(found["result"]["value"]) if "value" in found["result"] else None

    def wait(self, expression: str) -> Any:
        """Until an expression is true or full; gives its value."""
        end = time.monotonic() + PATIENCE
        while not (found := self.value(expression)):
            assert time.monotonic() < end, f"{expression} is {found!r}"
            time.sleep(0.05)
        return found

    def type(self, text: str) -> None:
        """Presses keys where the focus is."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": keys}
        self.ask("input.performActions", context=self._tab, actions=[source])

    def end(self) -> None:
        self._ends.close()
        self._process.terminate()
        self._process.wait()
