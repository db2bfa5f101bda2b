"""Put first on a Python process's path as `sitecustomize.py`: writes down what the process does with sockets.

Audit events come from the interpreter itself, so no library that opens a socket is missed. One line an event, its
name and its address. It also writes down when the loaded libraries are listed while there are other threads. The file
stays open until the process ends.
"""

import os
import sys
import threading

LISTS_LIBRARIES = "dl_iterate_phdr"
"""Holds the linker's lock while Python goes on; a thread that loads a library has Python's and wants the linker's."""

EVENTS = ("socket.bind", "socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")
RECORD = open(os.environ["TFMVIZ_SPY"], "a", buffering=1, encoding="utf-8")  # noqa: SIM115


def listen(event: str, arguments: tuple[object, ...]) -> None:
    if event in EVENTS:
        # bind, connect, sendto: (socket, address); the others: (host, …).
        asked = arguments[0] if isinstance(arguments[0], str | bytes | None) else arguments[1]
        print(event, asked, file=RECORD)

    if event == "ctypes.dlsym" and arguments[1] == LISTS_LIBRARIES and threading.active_count() > 1:
        print(LISTS_LIBRARIES, file=RECORD)


sys.addaudithook(listen)
