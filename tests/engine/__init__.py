"""The engine in node, as a reader's browser runs it, to be compared with Python."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tests.browser import ROOT
from tests.node import program
from tfmviz.record.edits import Edit
from tfmviz.record.trace import Array

MODELS = ROOT / "assets" / "models"


class Engine:
    """A node with engines, each by the name of its model.

    Args:
        folder: for the arrays on their way from there.
    """

    def __init__(self, folder: Path) -> None:
        command = [program(), str(Path(__file__).parent / "driver.mjs")]
        self._node = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._out = folder / "arrays"

    def ask(self, task: str, **given: Any) -> Any:
        """Raises: ValueError, with what the engine complains about."""
        assert self._node.stdin
        assert self._node.stdout
        self._node.stdin.write(json.dumps({"task": task, **given}) + "\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline())
        if "complaint" in answer:
            raise ValueError(answer["complaint"]) from RuntimeError(answer["stack"])
        return answer["value"]

    def load(self, name: str, folder: Path, config: Mapping[str, Any] | None = None) -> None:
        config = config or json.loads((folder / "config.json").read_text())
        files = {"weights": str(folder / "model.safetensors"), "tokenizer": str(folder / "tokenizer.json")}
        self.ask("load", name=name, config=config, **files)

    def trace(
        self, name: str, text: str, edits: Sequence[Edit] = (), sites: Sequence[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, Array]]:
        """Facts, and the arrays by their sites."""
        answer = self.ask("trace", name=name, text=text, wishes=wishes(edits, sites), out=str(self._out))
        data, at, arrays = self._out.read_bytes(), 0, {}
        for site, shape, size in answer["sites"]:
            count = int(np.prod(shape))
            arrays[site] = np.frombuffer(data, "<f4" if size == 4 else "u1", count, at).reshape(shape)
            at += size * count
        return answer["facts"], arrays

    def type(self, name: str, passes: Sequence[tuple[str, Sequence[Edit], Sequence[str]]]) -> None:
        """Several traces whose arrays nobody asks for."""
        given = [{"text": text, "wishes": wishes(edits, sites)} for text, edits, sites in passes]
        self.ask("type", name=name, passes=given)

    def end(self) -> None:
        self._node.communicate()


def wishes(edits: Sequence[Edit], sites: Sequence[str] | None) -> dict[str, Any]:
    """What a trace is to change and to keep, as the engine takes it."""
    return {"edits": [{"kind": type(edit).__name__, **asdict(edit)} for edit in edits], "sites": sites}
