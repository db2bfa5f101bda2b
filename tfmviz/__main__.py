"""The command `tfmviz`: starts the app.

tfmviz                     # on this machine only
tfmviz --host 0.0.0.0      # for everyone in the network: a class; on all processors
tfmviz --convert FOLDER    # with the menu of models converting those in a folder, or on the Hub
tfmviz show attention.json # no app: a page with the attention of a file
python -m tfmviz           # the same, from a checkout
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import gc
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

from starlette.types import ASGIApp

from tfmviz import capacity, security, workers
from tfmviz.memory import give_back
from tfmviz.paths import PROJECT

EVERYWHERE = ("0.0.0.0", "::")
"""Addresses that mean every network of this machine."""

ALONE = ("127.0.0.1", "::1", "localhost")
"""Addresses that mean: this machine only."""

LOOP = "asyncio" if sys.platform == "win32" else "uvloop"
"""The event loop. A page sends fifty messages one by one; uvloop takes all that are there, and lets small ones leave
immediately.
"""

BACKLOG = 2048
"""Connections that may wait until they are taken."""

PICTURE = 2
"""Seconds from torch's import to the first picture, on a slow machine."""

TIDY = 60
"""Seconds between two returns of unused memory to the system."""

FAREWELL = 3
"""Seconds that readers have to take their last messages when the server stops."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the app until it is stopped, or writes a page: see `serve` and `external.command`.

    Raises: SystemExit, with a sentence, if an argument is wrong, or nothing can listen there.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] == "show":
        from tfmviz.external import command

        command.main(arguments[1:])
    else:
        serve(arguments)


def serve(arguments: Sequence[str]) -> None:
    """Runs the app until it is stopped, in one process or in several (`workers.py`).

    Beyond `streamlit run app.py`, this keeps other sites' pages out (`security.py`), has room for a class
    (`capacity.py`), imports slow packages early, gives numpy one thread, serves the views' scripts as files
    (`ui/scripts.py`), and stops even if a reader's machine sleeps.

    Raises: SystemExit, with a sentence, if an argument is wrong, or nothing can listen there.
    """
    about = "Starts the app. `tfmviz show FILE` writes a page with the attention of a file instead."
    parser = argparse.ArgumentParser(prog="tfmviz", description=about)
    parser.add_argument(
        "--convert",
        type=folder,
        metavar="FOLDER",
        help="let the menu of models convert those in a folder, or on the Hub, for who types the token printed here",
    )
    parser.add_argument(
        "--workers",
        type=workers_number,
        metavar="N",
        help="processes: one on this machine only, else one for each processor and gigabyte",
    )
    parser.add_argument("--channel", type=int, help=argparse.SUPPRESS)  # a worker's
    args = parsed(parser, arguments)
    if args.convert and (args.workers or 1) > 1:
        parser.error("--convert has one worker, whose token is printed.")
    if args.channel is None:
        if trouble := trouble_at(args.host, args.port):
            sys.exit(trouble)
        count = args.workers or (1 if args.convert or args.host in ALONE else workers.most())
        if count > 1 and workers.POSSIBLE:
            return _share(arguments, args.host, args.port, count)
        if count > 1:
            print("This system does not hand connections on: there is one worker.", file=sys.stderr, flush=True)
        print(where(args.host, args.port), flush=True)
    import uvicorn
    from threadpoolctl import threadpool_limits

    from tfmviz.ui import messages, models

    # One thread for numpy: products of small matrices then take a sixth of the time. This walks the libraries that are
    # loaded, and stands still forever with another thread that loads one meanwhile. So it comes before all threads.
    threadpool_limits(1)
    Thread(target=models.import_torch).start()  # what the first page waits for longest begins first
    app = _app()
    capacity.make_room()
    if args.convert:
        from tfmviz.ui import own

        own.open_desk(args.convert)
    guarded = security.SecurityMiddleware(
        app, frozenset(args.allowed_host), security.headers(os.environ.get("TFMVIZ_EMBED", ""))
    )
    options: dict[str, Any] = {
        "loop": LOOP,
        "http": capacity.Prompt,
        "ws": messages.Sockets,  # with the next two: nearly as Streamlit starts it
        "ws_ping_interval": 30,
        "ws_ping_timeout": 30,
        "access_log": False,
        "log_level": "warning",
        "timeout_graceful_shutdown": FAREWELL,
    }
    if args.channel is None:
        uvicorn.run(guarded, host=args.host, port=args.port, **options)
    else:
        workers.Handed(uvicorn.Config(guarded, **options), socket.socket(fileno=args.channel)).run()


def _share(arguments: Sequence[str], host: str, port: int, count: int) -> None:
    """Runs so many workers, which know one another's readers."""
    os.environ[workers.KEY] = os.environ.get(workers.KEY) or secrets.token_hex(32)
    os.environ[workers.COUNT] = str(count)
    capacity.allow_files()
    command = [sys.executable, "-m", "tfmviz", *arguments, "--workers=1", "--channel"]
    try:
        with socket.create_server((host, port), family=family(host), backlog=BACKLOG) as listener:
            front = workers.Front(command, count, lambda: print(f"{where(host, port)} ({count} workers)", flush=True))
            asyncio.run(front.serve(listener))
    except* asyncio.CancelledError:  # it was asked to end
        pass
    except* (OSError, RuntimeError) as errors:
        sys.exit(str(errors.exceptions[0]))


def _app() -> ASGIApp:
    """The app with our own routes and middleware."""
    import streamlit
    from starlette.middleware import Middleware
    from streamlit.runtime.pages_manager import PagesManager

    from tfmviz.ui import document, host, live, messages, scripts, search, session_cookie, weights

    PagesManager.uses_pages_directory = False  # else the first run of a server is a page alone, see `ui/router.py`
    routes = [scripts.route(), search.route(), live.route(), weights.route()]
    kinds = (capacity.Places, session_cookie.SessionCookie, messages.OfPages, host.Nobody)
    around = [*(Middleware(kind) for kind in kinds), Middleware(document.Document, line=security.HERE)]
    return streamlit.App(PROJECT / "app.py", lifespan=_warm, routes=routes, middleware=around)


@asynccontextmanager
async def _warm(app: object) -> AsyncIterator[None]:
    """Prepares the server in a thread while it already answers."""
    stopping = Event()
    preparing = asyncio.create_task(asyncio.to_thread(_prepare, stopping))
    yield
    stopping.set()
    await preparing  # to end in the middle of an import could crash


def _prepare(stopping: Event) -> None:
    """Waits for torch; after a first reader's picture imports pandas and Altair, and compresses what browsers fetch.

    Then waiting training runs begin, and unused memory is returned again and again.
    """
    from tfmviz.ui import document, models

    models.import_torch()
    if not stopping.wait(PICTURE):
        import_module("pandas")
        import_module("altair")
        document.compress(stopping.is_set)
        from tfmviz.ui.training import desk

        desk.run_manager()
    while not stopping.wait(TIDY):
        gc.collect()  # what readers who have left no longer hold; it would wait until there are a quarter more objects
        give_back()


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of every server.

    `allowed_host` holds all names that readers may use: of `--allowed-host`, of the environment, and of `--host`.
    """
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen on; 0.0.0.0 opens the app to the network (default: %(default)s, this machine only)",
    )
    parser.add_argument("--port", type=port_number, default=8501, help="the port to listen on (default: %(default)s)")
    parser.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        default=[],
        type=host_name,
        help="another name by which readers reach this machine, such as attention.uni.example; may be repeated "
        f"({security.SETTING} in the environment says the same)",
    )
    said_before = [f"--allowed-host={name}" for name in os.environ.get(security.SETTING, "").split()]
    args = parser.parse_args([*said_before, *(sys.argv[1:] if arguments is None else arguments)])
    if security.NAME.fullmatch(args.host.lower()):
        args.allowed_host.append(args.host.lower())
    return args


def folder(text: str) -> Path:
    if not (path := Path(text).expanduser()).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}.")
    return path


def port_number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text}.")
    return int(text)


def workers_number(text: str) -> int:
    """An argparse type: a number of workers."""
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"workers are a number from 1 to 64, not {text}.")
    return int(text)


def host_name(text: str) -> str:
    if not security.NAME.fullmatch(name := text.lower()):
        raise argparse.ArgumentTypeError(f"an allowed host is a name alone, such as attention.uni.example, not {text}.")
    return name


def trouble_at(host: str, port: int) -> str | None:
    """Why no server can listen there, in a sentence."""
    try:
        with socket.socket(family(host)) as probe:
            if os.name == "posix":  # else a port counts as taken for a minute after its server has ended
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            other = port + 10 if port < 65000 else port - 10
            return f"Port {port} is taken: another program listens there; try --port {other}."
        if error.errno in (errno.EACCES, errno.EPERM):
            return f"Port {port} is not for this user: those below 1024 are the administrator's; try --port 8501."
        return f"This machine has no address {host}: --host takes one of its own, or 0.0.0.0 for every network."
    return None


def family(host: str) -> socket.AddressFamily:
    """The kind of an address."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def where(host: str, port: int) -> str:
    """The address to type into a browser, and who can reach it."""
    if host in EVERYWHERE:
        return (
            f"Open http://localhost:{port}. Others in this network: http://{socket.gethostname()}:{port}, "
            "or this machine's IP address in place of its name."
        )
    name = "localhost" if host == "127.0.0.1" else f"[{host}]" if ":" in host else host
    return f"Open http://{name}:{port}"


if __name__ == "__main__":
    main()
