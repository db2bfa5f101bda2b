"""A disk without room."""

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def full(*, overwriting: bool = True) -> Iterator[None]:
    """Inside, no file can be made or made longer.

    Args:
        overwriting: whether there is room for other bytes in the place of old ones. Some file systems never write
            there, and a read-only one writes nowhere.
    """
    refused = set("wxa") if overwriting else set("wxa+")
    opened = io.open

    def refuse(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & refused and not isinstance(file, int):  # a number is a pipe
            raise OSError(errno.ENOSPC, "No space left on device", str(file))
        return opened(file, mode, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", refuse)
        yield
