"""The slowdown that one reader who presses Enter without a pause causes another.

    python -m bench.flood [--page bottleneck] [--tabs 4] [--answers 40]

The other presses Enter in the explorer a given number of times. Meanwhile the first presses Enter on a costly page as
soon as there is an answer: in one tab; in several, each in a separate browser, which are as many readers (first come,
first served, as it was); and in several tabs of one browser, which are one reader. Times are in milliseconds, ratios to
those without the flood. The clients share the processors with the server.
"""

from __future__ import annotations

import argparse
import asyncio

from bench.classroom import APP, heading, quantiles, rest, row, up_to
from bench.sentences import new_sentence
from tests.classroom.crowd import Outcome, outcome, running
from tests.classroom.session import Session, cookie_from, opened


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", default="bottleneck", help="where Enter is pressed without a pause (%(default)s)")
    parser.add_argument("--tabs", type=up_to(100), default=4, help="how many there are (%(default)s)")
    parser.add_argument("--answers", type=up_to(1000), default=40, help="that the other waits for (%(default)s)")
    asyncio.run(measure(parser.parse_args()))


async def measure(args: argparse.Namespace) -> None:
    heading("who floods", "tabs", "p50", "p95", "p50 ratio", "p95 ratio")
    with running(APP) as server:
        student, _ = await opened(server.address)
        await asked(student, 5)  # what is slow for the first time
        quiet = quantiles(outcomes := await asked(student, args.answers), 0.5, 0.95)
        row("nobody", 0, *quiet, 1, 1, outcomes=outcomes)
        for tabs, name in ((1, "a reader"), (args.tabs, "as many readers"), (args.tabs, "a reader")):
            one = cookie_from(server.address)
            cookies = [None if name == "as many readers" else one] * tabs
            enough = asyncio.Event()
            flood = [asyncio.create_task(press(server.address, args.page, cookie, enough)) for cookie in cookies]
            p50, p95 = quantiles(outcomes := await asked(student, args.answers), 0.5, 0.95)
            enough.set()
            await asyncio.gather(*flood)
            row(name, tabs, p50, p95, p50 / quiet[0], p95 / quiet[1], outcomes=outcomes)
            await rest([server])
        await student.close()


async def asked(student: Session, count: int) -> list[Outcome]:
    """So many answers, one after the other."""
    return [await outcome(student.enter(new_sentence())) for _ in range(count)]


async def press(address: str, page: str, cookie: str | None, enough: asyncio.Event) -> None:
    """A tab in which Enter is pressed as soon as there is an answer."""
    session, _ = await opened(address, page, cookie=cookie)
    while not enough.is_set():
        await outcome(session.enter(new_sentence(page)))
    await session.close()


if __name__ == "__main__":
    main()
