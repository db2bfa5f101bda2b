"""Breaks the code in small ways and counts how often the tests notice: `python -m scripts.mutate`.

A mutant is one change within two lines: another comparison or operator, least for most, a condition negated, a number
one more, a minus or a keyword argument left out. They are drawn with a fixed seed, in turn from every room of the
package, and every folder of `ui` and `views` counts as a room. Sizes on the screen have no right or wrong, so they are
left alone. With `--seen` all of them lie in words, ARIA or pointers that reach the reader.

Of a mutant in Python those tests are asked that run its statement, as coverage finds at the beginning; of one in a view
the scripts' tests, and those in Chromium that are nearest.

Everything happens in a copy, so the working tree stays as it is even if the script is killed.

Survivors are listed. A test that also fails without its mutants kills none of them.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from coverage import CoverageData

from scripts.quick import PYTHON, ROOT, git, in_turn

SWAPS = {"<": "<=", ">": ">=", "==": "!=", "is": "is not", "in": "not in", "and": "or", "+": "-", "*": "/", "**": "*"}
SWAPS |= {new: old for old, new in SWAPS.items() if old != "**"} | {"//": "*", "%": "*", "|": "&", "&": "|"}

SIGNS = r"is not|not in|\b(?:is|in|and|or)\b|\*\*|//|[=!<>]=|[-+*/%<>|&]"

LOOKS = {"height", "width", "row_height", "dot", "icon", "help", "spacing", "gap", "ttl", "strict", "encoding", "slots"}
"""Arguments that need no test: sizes, hints, guards and optimisations."""

TEXTUAL: list[tuple[str, str | Callable[[re.Match[bytes]], str]]] = [
    *((rf"(?<= ){re.escape(a)}(?= )", b) for a, b in (("===", "!=="), ("!==", "==="), ("&&", "||"), ("||", "&&"))),
    *((rf"(?<= ){re.escape(a)}(?= )", SWAPS[a]) for a in ("<", ">", "<=", ">=", "+", "-", "*", "/", "and", "or")),
    *((rf"\b{a}\b", b) for a, b in (("true", "false"), ("false", "true"))),
    *((rf"(?:\b|(?<=arg)|(?<=nan)){a}(?=\()", b) for a, b in (("max", "min"), ("min", "max"))),
    (r"\bif \((?=\w)", "if (!"),
    (r"(?<=[\[( ])\d+(?=[\]) ,;])", lambda found: str(int(found[0]) + 1)),
    (r"(?<=[\[(])-(?=\w)", ""),
]
"""Changes where there is no syntax tree: in scripts, and between the braces of Python's strings."""

SAID = {"about", "alt", "answer", "caption", "label", "notes", "said", "title"}
"""Arguments that a reader sees or hears as words."""

SEEN = (
    r"\b(?:aria|tabIndex|(?:is)?[hH]idden|[pP]ointer|on(?:click|change|input|key|focus|blur|pointer)|onClick|addEvent"
)
SEEN += r"|title(?=: | =|=)|said|say|sentence|alt\b)"
"""Lines of scripts that decide what a screen reader says, where Tab goes, and what a pointer does."""

TELL = tuple(f"tfmviz/{room}/" for room in ("ui", "plots", "words", "views"))
"""Rooms of Python that write what a reader sees."""

BROWSER = {"explorer": "test_explorer", "steps": "test_masks", "walk": "test_lecture_keys", "doors": "test_home"}
BROWSER |= {"frame": "test_menu", "offers": "test_writing", "shared": "test_cells", "pieces": "test_choices"}
BROWSER |= {"models": "test_choices", "question": "test_guess", "keys": "test_lecture_keys", "bars": "test_figures"}
BROWSER |= {"presenter": "test_lecture_keys"}
BROWSER |= dict.fromkeys(
    ("beams", "counts", "feed_forward", "heads", "lens", "parts", "picture", "translating", "turning"), "test_pages"
)
"""Tests in Chromium of the views whose name does not lead to them."""


class Change(NamedTuple):
    """`new` in place of the bytes from `start` to `end`."""

    path: str
    start: int
    end: int
    new: bytes

    def apply(self, code: bytes) -> bytes:
        return code[: self.start] + self.new + code[self.end :]


Mutants = Callable[[str, bytes], list[Change]]
"""Some of the mutants of a file, by its path and its text."""


def changes(path: str, code: bytes) -> list[Change]:
    """Every mutant of a file."""
    code_alone = r"(?m)^(?!\s*(?:\*|/\*|//|import))(?:(?! //).)+"
    found = _in_python(code) if path.endswith(".py") else _in_text(code, code_alone)
    made = [Change(path, start, end, new) for start, end, new in sorted(set(found))]
    return [one for one in made if code[one.start : one.end].count(b"\n") < 2]


def told(path: str, code: bytes) -> list[Change]:
    """Those mutants of a file that reach a reader in words, ARIA or pointers."""
    if path.endswith(".py"):
        span = _spans(code)
        parts = [span(node) for node in ast.walk(ast.parse(code)) if _speaks(node)]
    else:
        parts = [line.span() for line in re.finditer(rf"(?m)^.*{SEEN}.*$".encode(), code)]
    return [one for one in changes(path, code) if any(start <= one.start < end for start, end in parts)]


def _speaks(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(returns=ast.expr() as returns):
            return ast.unparse(returns) in ("str", "list[str]", "str | None")
        case ast.keyword(arg=name):
            return name in SAID
    return isinstance(node, ast.JoinedStr)


def draw(files: dict[str, bytes], n: int, seed: int, of: Mutants = changes) -> list[Change]:
    """`n` of the mutants of these files, in turn from every room."""
    rooms: dict[str, list[Change]] = {}
    for path, code in sorted(files.items()):
        depth = 3 if path.startswith(("tfmviz/ui/", "tfmviz/views/")) else 2
        rooms.setdefault("/".join(Path(path).parent.parts[:depth]), []).extend(of(path, code))
    chance = random.Random(seed)
    shuffled = [chance.sample(room, len(room)) for _, room in sorted(rooms.items()) if room]
    chance.shuffle(shuffled)
    turns = (room.pop() for _ in range(max(map(len, shuffled))) for room in shuffled if room)
    return list(islice((one for one in turns if _compiles(one.path, one.apply(files[one.path]))), n))


def draw_both(files: dict[str, bytes], n: int, n_scripts: int | None, seed: int, *, seen: bool) -> list[Change]:
    """`n` of the mutants of these files, the last `n_scripts` of them in TypeScript, a fifth if that is None."""
    n_scripts = n // 5 if n_scripts is None else n_scripts
    rooms = TELL if seen else ""
    python = {path: code for path, code in files.items() if path.endswith(".py") and path.startswith(rooms)}
    scripts = {path: code for path, code in files.items() if not path.endswith(".py")}
    of = told if seen else changes
    return draw(python, n - n_scripts, seed, of) + draw(scripts, n_scripts, seed, of)


def _spans(code: bytes) -> Callable[[Any], tuple[int, int]]:
    """From a node of the syntax tree to its bytes: where they start, and where they end."""
    starts = [0]
    for line in code.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return lambda node: (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)


def _in_python(code: bytes) -> Iterator[tuple[int, int, bytes]]:
    span = _spans(code)
    todo: list[ast.AST] = [ast.parse(code)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.JoinedStr):  # before Python 3.12 what is inside does not know where it stands
            start, end = span(node)
            yield from ((start + a, start + b, new) for a, b, new in _in_text(code[start:end], r"\{[^{}\"]*\}"))
            continue
        unsaid = {"annotation", "returns", "decorator_list"}
        for name, value in ast.iter_fields(node):
            if name not in unsaid:
                todo += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, ast.AST)]
        match node:
            case ast.keyword(arg=str(name), value=value) if name in LOOKS:
                todo.remove(value)
            case ast.keyword(arg=str()):
                start, end = span(node)
                after = re.match(rb",\s*", code[end:])
                yield start, end + (after.end() if after else 0), b""
            case ast.Call(func=called):
                end = span(called)[1]
                if found := re.search(rb"(?:\b|arg|nan)(max|min)$", code[max(0, end - 9) : end]):
                    yield end - 3, end, b"min" if found[1] == b"max" else b"max"
            case ast.Compare(left=left, comparators=[right]) | ast.BinOp(left=left, right=right):
                yield from _swapped(code, span(left)[1], span(right)[0])
            case ast.BoolOp(values=[left, right, *_]):
                yield from _swapped(code, span(left)[1], span(right)[0])
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                start, end = span(test)
                yield start, end, b"(not (" + code[start:end] + b"))"
            case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
                yield span(node)[0], span(operand)[0], b""
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                yield *span(node), str(number + 1).encode()


def _swapped(code: bytes, start: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    for found in re.finditer(SIGNS.encode(), code[start:end]):
        if (sign := found[0].decode()) in SWAPS:
            yield start + found.start(), start + found.end(), SWAPS[sign].encode()


def _in_text(code: bytes, where: str) -> Iterator[tuple[int, int, bytes]]:
    for part in re.finditer(where.encode(), code):
        plain = re.sub(rb'"[^"]*"', lambda string: b'"' * len(string[0]), part[0])
        for pattern, new in TEXTUAL:
            for found in re.finditer(pattern.encode(), plain):
                made = new if isinstance(new, str) else new(found)
                yield part.start() + found.start(), part.start() + found.end(), made.encode()


def _compiles(path: str, code: bytes) -> bool:
    try:
        return not path.endswith(".py") or bool(ast.parse(code))
    except SyntaxError:
        return False


BUILD = ["node", "scripts/build_views.mjs"]
PYTEST = [*PYTHON, "pytest", "-x", "-m", "not soak", "-p", "no:cacheprovider"]
ALONE = os.environ | {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "OMP_NUM_THREADS": "1",
}


def ran(copy: Path) -> Callable[[Change, bytes], list[list[str]]]:
    """Asks all tests without a browser once; leads from a mutant to those that ran its statement, the quickest first.

    Of what runs at import, it leads to those that ran anything else of the file; of what none has run, to the nearest.
    """
    measured = ["--cov=tfmviz", "--cov-context=test", "--cov-report=", "--junitxml=ran.xml"]
    parallel = ["--numprocesses=auto", "--dist=loadfile"]
    subprocess.run(
        [*PYTHON, "pytest", "-m", "not soak and not browser", *parallel, *measured],
        cwd=copy,
        env=ALONE,
        stdout=subprocess.DEVNULL,
        check=False,  # those that fail are not asked
    )
    seconds = {
        f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}": float(case.get("time", 0))
        for case in ElementTree.parse(copy / "ran.xml").iter("testcase")
        if not len(case)
    }
    data = CoverageData(copy / ".coverage")
    data.read()

    def found(mutant: Change, code: bytes) -> list[list[str]]:
        line = code.count(b"\n", 0, mutant.start) + 1
        around = [one for one in ast.walk(ast.parse(code)) if isinstance(one, ast.stmt) and one.lineno <= line]
        first = max(one.lineno for one in around if line <= (one.end_lineno or 0))
        by_line = data.contexts_by_lineno(str(copy.resolve() / mutant.path))
        names = {name for n in range(first, line + 1) for name in by_line.get(n, ())}
        if names == {""}:  # at import
            names = set(chain.from_iterable(by_line.values()))
        tests = {name.partition("|")[0] for name in names}
        asked = sorted(tests & seconds.keys(), key=seconds.__getitem__)
        asked = asked or in_turn([mutant.path])  # constants alone, or what another process or a browser runs
        return [[*PYTEST, *asked]] if asked else []

    return found


def commands(path: str) -> list[list[str]]:
    """The tests of a script: in node, then of the views as Python draws them, and Chromium last."""
    view = path.split("/")[2]
    own = [str(one.relative_to(ROOT)) for one in ROOT.glob(f"tests/{view}/test_{Path(path).stem}.py")]
    near, seen = in_turn([path]), [f"tests/browser/{BROWSER.get(view, f'test_{view}')}.py"]
    if view == "site":  # its tests, those in Chromium too, lie in one folder
        near, seen = [], ["tests/site"]
    scripts = ["node", "--import", "./tests/js/tsx.mjs", "--test", "tests/js/*.test.js"]
    pages = [[*PYTEST, *tests] for tests in (own, near, seen) if tests and (ROOT / tests[0]).exists()]
    return [scripts, BUILD, *pages]


def killer(copy: Path, asked: Sequence[Sequence[str]], seconds: float) -> list[str]:
    """The command that fails in this copy, for pytest with the one test that does; empty if all pass or time is up."""
    end = time.monotonic() + seconds
    for command in asked:
        with subprocess.Popen(
            command,
            cwd=copy,
            env=ALONE,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as running:
            try:
                said, _ = running.communicate(timeout=max(1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)
                print("out of time:", command[-1], flush=True)
                return []
        if running.returncode not in (0, 5):
            test = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.MULTILINE)
            if test:
                return [*command[: command.index("no:cacheprovider") + 1], test[1]]
            return [*command, "--collect-only"] if "pytest" in command else list(command)  # nothing could be imported
    return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--scripts", type=int, help="how many of them are in TypeScript; if not given, a fifth")
    parser.add_argument("--seen", action="store_true", help="only what words, ARIA or pointers tell the reader")
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--seconds", type=float, default=300, help="the longest that tests look for a mutant")
    parser.add_argument("--only", type=int, nargs="+", help="of those drawn, by their number")
    args = parser.parse_args()
    every = {
        path: (ROOT / path).read_bytes() for path in git("ls-files", "tfmviz") if path.endswith((".py", ".ts", ".tsx"))
    }
    drawn = draw_both(every, args.number, args.scripts, args.seed, seen=args.seen)
    killed, counted = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        for name in git("ls-files"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        (copy / "node_modules").symlink_to(ROOT / "node_modules")
        chosen = [(n, one) for n, one in enumerate(drawn) if not args.only or n in args.only]
        is_python = any(one.path.endswith(".py") for _, one in chosen)
        of_python = ran(copy) if is_python else lambda *_: []
        for number, one in chosen:
            whole, kind = every[one.path], Path(one.path).suffix
            (copy / one.path).write_bytes(one.apply(whole))
            asked = of_python(one, whole) if kind == ".py" else commands(one.path)
            found = killer(copy, asked, args.seconds)
            (copy / one.path).write_bytes(whole)
            if found and killer(copy, [found] if kind == ".py" else [BUILD, found], args.seconds):
                print(number, found[-1], "fails without a mutant, too", flush=True)
                found = []
            counted[kind] += 1
            killed[kind] += bool(found)
            print(number, "killed by" if found else "SURVIVED", *found[-1:], flush=True)
            before, after = (code.decode().splitlines() for code in (whole, one.apply(whole)))
            print(*difflib.unified_diff(before, after, one.path, n=0, lineterm=""), sep="\n", flush=True)
    for kind, n in counted.items():
        print(f"{kind}: {killed[kind]} of {n} killed")


if __name__ == "__main__":
    main()
