"""A class at work: the server under many simultaneous readers, a cold start and a long lesson.

    python -m bench.classroom [new same link stream cold cpu memory] [--students 50] [--workers 2] …

Sessions speak Streamlit's protocol over websockets, without a browser. The benchmark starts its own servers on this
machine (or asks those named by `--at`, on this machine too), and ends by itself. In the same minutes it asks an echo
page: a text box and a line of text in a process without torch, under the app's own settings and with frozen garbage
collection. This is what Streamlit itself costs. Every answer is checked: the run must have reached the end of the
script without an exception or error on the screen, and the explorer must have got the attention of the sentence that
was sent. All else counts as an error.

    new     N students each press Enter on a different sentence, simultaneously: on every page, its first tab open
    same    N students press Enter on the same new sentence simultaneously
    link    N students together open a link to a page, each with a different sentence; for comparison, Enter;
            the echo page too, which is what new sessions cost Streamlit itself
    stream  M students each press Enter every ten seconds; an answer's time counts from when Enter was due
    cold    N students together open a page on a server that has just started
    cpu     processor time of a rerun for one student, with and without the model's forward pass (measured alone),
            and of the answer to a link, in turns with reruns
    memory  growth of the server over many reruns with new sentences, and the size of one more idle session

Times are in milliseconds. The clients share the processors with the server. Linux only (`cpu` and `memory` read /proc).
"""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from bench.sentences import IN_FRENCH, new_sentence
from tests.browser import ROOT, Server
from tests.classroom.crowd import TRACEBACK, Outcome, arrive, enter_at_once, leave, outcome, running
from tests.classroom.session import Session

APP = ROOT / "app.py"
ECHO = """
import gc
import streamlit as st

@st.cache_resource
def settle():
    gc.collect()
    gc.freeze()

settle()
st.text(st.text_area("Your sentence"))
"""

PAGES = ("explorer", *sorted({path.stem for path in (ROOT / "pages").glob("*.py")} - {"explorer", "home"}))
"""The app's pages by the names of their files."""

EVERY = 10.0
"""Seconds between two sentences of a student in `stream`."""

RERUNS = 40
"""Reruns of a page that `cpu` measures. Its clock ticks every 10 ms, so the mean is right to 0.25 ms."""

ROUNDS = 4
"""Turns of typing and opening links: a machine may be slower one moment than the next."""

FIRST = 5
"""Reruns at the beginning that do not count."""

PAUSE = 0.2
"""Seconds between two looks at a server's processor time, which show whether it is idle."""


def main() -> None:
    args = arguments()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / ".streamlit", Path(folder) / ".streamlit")
        args.echo = Path(folder) / "echo.py"
        args.echo.write_text(ECHO)
        for part in args.parts or PARTS:
            print(f"\n{part} (load average {os.getloadavg()[0]:.1f})")
            asyncio.run(PARTS[part](args))
    print(f"\n{time.monotonic() - began:.0f} s, load average {os.getloadavg()[0]:.1f}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="which ones, in this order; all if none is named")
    parser.add_argument("--students", type=up_to(500), default=50, help="N of `new` and `same`, idle ones of `memory`")
    parser.add_argument("--rounds", type=up_to(50), default=1, help="how often they press Enter in `new` and `same`")
    parser.add_argument("--crowd", type=up_to(1000), default=200, help="M of `stream`")
    parser.add_argument("--seconds", type=up_to(900), default=30, help="how long `stream` lasts")
    parser.add_argument("--cold", type=up_to(500), default=20, help="N of `cold`")
    parser.add_argument("--reruns", type=up_to(10_000), default=300, help="of `memory`")
    parser.add_argument("--page", choices=PAGES, action="append", help="leave out all others; may be repeated")
    parser.add_argument("--workers", type=up_to(16), default=1, help="processes of each server")
    parser.add_argument("--replicas", type=up_to(16), default=1, help="servers that share `new`, `same` and `stream`")
    parser.add_argument("--at", type=local, action="append", help="a running server to ask in their place; repeatable")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    args.pages = args.page or PAGES
    return args


def up_to(most: int) -> Callable[[str], int]:
    """Reads a whole number from 1 to `most`."""

    def number(text: str) -> int:
        if not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be from 1 to {most}")
        return int(text)

    return number


def local(address: str) -> str:
    """Reads an address on this machine, such as http://127.0.0.1:8501."""
    host = urlsplit(address).hostname or ""
    if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
        raise argparse.ArgumentTypeError(f"{host} is not this machine")
    return address.rstrip("/")


@contextmanager
def servers(args: argparse.Namespace) -> Iterator[tuple[list[str], list[Server]]]:
    """The addresses of the servers that share the students, and the servers among them that are started here."""
    with ExitStack() as stack:
        started = (
            [] if args.at else [stack.enter_context(running(APP, workers=args.workers)) for _ in range(args.replicas)]
        )
        yield args.at or [server.address for server in started], started


async def new(args: argparse.Namespace) -> None:
    await at_once(args, args.pages, sentences)


async def same(args: argparse.Namespace) -> None:
    await at_once(args, ["explorer"], lambda _, count: [new_sentence()] * count)


async def link(args: argparse.Namespace) -> None:
    heading("page", "p50", "p95", "Enter p95", "ratio")
    with servers(args) as (addresses, started), running(args.echo) as blank:
        places = {"echo page": ("", [blank.address]), **{page: (page, addresses) for page in args.pages}}
        for name, (page, asked) in places.items():
            students, _ = await arrive(asked, page, 1)  # the page's modules are there
            has_box = students[0].has_box
            await leave(students)
            if not has_box:
                continue
            opening: list[Outcome] = []
            entering: list[Outcome] = []
            for _ in range(args.rounds):
                await rest([*started, blank])
                students, arrivals = await arrive(asked, page, sentences(page, args.students))
                opening += arrivals
                await rest([*started, blank])
                entering += await enter_at_once(students, sentences(page, len(students)))
                await leave(students)
            (p50, p95), (base,) = quantiles(opening, 0.5, 0.95), quantiles(entering, 0.95)
            row(name, p50, p95, base, p95 / base, outcomes=opening + entering)


def sentences(page: str, count: int) -> list[str]:
    return [new_sentence(page) for _ in range(count)]


async def at_once(args: argparse.Namespace, pages: Sequence[str], texts: Callable[[str, int], list[str]]) -> None:
    """Prints a line for each page: the times of its students, and of as many on the echo page just before.

    Args:
        texts: what this many students send to a page.
    """
    heading("page", "p50", "p95", "echo p95", "ratio")
    with servers(args) as (addresses, started), running(args.echo) as blank:
        echoing, _ = await arrive([blank.address], "", args.students)
        for page in pages:
            students, arrivals = await arrive(addresses, page, args.students)
            if not all(student.has_box for student in students):
                await leave(students)
                continue
            ours: list[Outcome] = []
            theirs: list[Outcome] = []
            for _ in range(args.rounds):
                for sessions, outcomes in ((echoing, theirs), (students, ours)):
                    await rest([*started, blank])
                    outcomes += await enter_at_once(sessions, texts(page, len(sessions)))
            await leave(students)
            (p50, p95), (base,) = quantiles(ours, 0.5, 0.95), quantiles(theirs, 0.95)
            row(page, p50, p95, base, p95 / base, outcomes=arrivals + ours + theirs)
        await leave(echoing)


async def stream(args: argparse.Namespace) -> None:
    heading("page", "p50", "p95", "slowest", "answers")
    with servers(args) as (addresses, _):
        await lesson("explorer", addresses, args)
    with running(args.echo) as blank:
        await lesson("echo page", [blank.address], args)


async def lesson(name: str, addresses: Sequence[str], args: argparse.Namespace) -> None:
    """Prints one line. The students' moments differ within every ten seconds."""
    students, arrivals = await arrive(addresses, "", args.crowd)
    begin = time.perf_counter() + 1

    async def student(session: Session, due: float) -> list[Outcome]:
        outcomes = []
        while due < begin + args.seconds:
            await asyncio.sleep(due - time.perf_counter())
            outcomes.append(await outcome(session.enter(new_sentence(), due=due)))
            due += EVERY
        return outcomes

    dues = (begin + EVERY * number / len(students) for number in range(len(students)))
    answers = list(chain(*await asyncio.gather(*map(student, students, dues))))
    await leave(students)
    row(name, *quantiles(answers, 0.5, 0.95, 1), len(answers), outcomes=arrivals + answers)


async def cold(args: argparse.Namespace) -> None:
    heading("page", "p50", "slowest", "tracebacks")
    for page in ("echo page", *args.pages):
        script, address = (args.echo, "") if page == "echo page" else (APP, page)
        with tempfile.TemporaryFile() as log:
            with running(script, log=log) as server:
                students, outcomes = await arrive([server.address], address, args.cold)
                await leave(students)
            log.seek(0)
            tracebacks = log.read().count(TRACEBACK)
        row(page, *quantiles(outcomes, 0.5, 1), tracebacks, outcomes=outcomes)


async def cpu(args: argparse.Namespace) -> None:
    heading("page", "a rerun", "forward", "beyond", "a link", "ratio")
    with running(args.echo) as blank:
        spent, link, outcomes = await cpu_of_a_rerun(blank, "")
        row("echo page", spent, 0, spent, link, link / spent, outcomes=outcomes)
    with running(APP) as server:
        for page in args.pages:
            spent, link, outcomes = await cpu_of_a_rerun(server, page)
            if spent:
                forward = milliseconds_of_a_forward(page)
                row(page, spent, forward, spent - forward, link, link / spent, outcomes=outcomes)


async def cpu_of_a_rerun(server: Server, page: str) -> tuple[float, float, list[Outcome]]:
    """Processor milliseconds of all server threads for a new sentence, typed and in a link; 0 where there is no box."""
    (student,), outcomes = await arrive([server.address], page, 1)
    if not student.has_box:
        await student.close()
        return 0.0, 0.0, outcomes
    outcomes += await enter_one_by_one(student, FIRST, page)
    typed = opened = 0.0
    for _ in range(ROUNDS):
        before = cpu_seconds(server)
        outcomes += await enter_one_by_one(student, RERUNS // ROUNDS, page)
        between = cpu_seconds(server)
        for text in sentences(page, RERUNS // ROUNDS):
            students, arrivals = await arrive([server.address], page, [text])
            outcomes += arrivals
            await leave(students)
        typed, opened = typed + between - before, opened + cpu_seconds(server) - between
    await student.close()
    return 1e3 * typed / RERUNS, 1e3 * opened / RERUNS, outcomes


def milliseconds_of_a_forward(page: str) -> float:
    """The time that the models of a page take for a new sentence, on one thread.

    It is a recorded forward pass of the model that the page opens with; translators write their translation first.
    """
    import torch

    from tfmviz import zoo

    torch.set_num_threads(1)
    model = zoo.load("french-english" if page in IN_FRENCH else "tiny-english")
    asks: list[Callable[[str], object]] = [zoo.with_copies(model).trace]
    if page == "bottleneck":
        asks += [zoo.with_copies(zoo.load(name, kind=zoo.RecurrentTranslator)).trace for name in zoo.translators()]
    for ask in FIRST * asks:
        ask(new_sentence(page))
    before = time.process_time()
    for _ in range(RERUNS):
        sentence = new_sentence(page)
        for ask in asks:
            ask(sentence)
    return 1e3 * (time.process_time() - before) / RERUNS


async def memory(args: argparse.Namespace) -> None:
    heading("explorer", "MB before", "MB after", "growth %", "MB each")
    with running(APP) as server:
        (student,), outcomes = await arrive([server.address], "", 1)
        outcomes += await enter_one_by_one(student, args.reruns // 4)
        before = resident(server)
        outcomes += await enter_one_by_one(student, args.reruns)
        after = resident(server)
        row(f"{args.reruns} reruns", before, after, 100 * (after / before - 1), outcomes=outcomes)
        idle, outcomes = await arrive([server.address], "", args.students)
        full = resident(server)
        each = (full - after) / args.students
        row(f"{len(idle)} sessions", after, full, 100 * (full / after - 1), each, outcomes=outcomes)
        await leave([student, *idle])


async def enter_one_by_one(student: Session, count: int, page: str = "") -> list[Outcome]:
    """Enters new sentences and gives the outcomes without their answers, which are large."""
    return [Outcome(None, (await outcome(student.enter(new_sentence(page)))).problems) for _ in range(count)]


async def rest(servers: Sequence[Server]) -> None:
    """Waits until the servers are idle, at most ten seconds: they may work on after the last answer."""
    for _ in range(round(10 / PAUSE)):
        before = sum(map(cpu_seconds, servers))
        await asyncio.sleep(PAUSE)
        if sum(map(cpu_seconds, servers)) - before < 0.1 * PAUSE:
            return


def cpu_seconds(server: Server) -> float:
    """Processor time of a server's process, and of its workers, so far, over all threads."""
    of = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    ticks = 0
    for process in (server.process.pid, *of):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident(server: Server) -> float:
    """Megabytes of memory a server's process holds."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def quantiles(outcomes: Sequence[Outcome], *shares: float) -> list[float]:
    """Milliseconds within which these shares of the good answers came."""
    times = [1e3 * outcome.answer.seconds for outcome in outcomes if outcome.answer and not outcome.problems]
    return np.quantile(times or [np.nan], shares).tolist()


def heading(*names: str) -> None:
    print(f"{names[0]:20}" + "".join(f"{name:>11}" for name in names[1:]) + f"{'errors':>8}")


def row(name: str, *values: float, outcomes: Sequence[Outcome]) -> None:
    """Prints a line of the table, and below it what went wrong, the most frequent first."""
    problems = Counter(outcome.problems[0] for outcome in outcomes if outcome.problems)
    numbers = "".join(f"{value:11.{0 if abs(value) >= 100 else 1}f}" for value in values)
    print(f"{name:20}{numbers}{problems.total():8}", flush=True)
    for problem, count in problems.most_common(3):
        print(f"  {count} × {problem[:110]}")


PARTS: dict[str, Callable[[argparse.Namespace], Coroutine[None, None, None]]] = {
    "new": new,
    "same": same,
    "link": link,
    "stream": stream,
    "cold": cold,
    "cpu": cpu,
    "memory": memory,
}

if __name__ == "__main__":
    main()
