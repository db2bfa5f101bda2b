"""A setting of the C library's allocator that large tensors profit from."""

from __future__ import annotations

import ctypes
import platform


def keep_memory() -> None:
    """Tells glibc to reuse large blocks instead of returning them to the system and fetching them anew.

    For programs that own their process: training, where it made a step half as fast again, and the app, where it takes
    a fifth off a trace of 256 tokens. Elsewhere than on glibc this does nothing.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        m_trim_threshold, m_mmap_threshold = -1, -3  # from malloc.h
        libc.mallopt(m_mmap_threshold, 1 << 30)
        libc.mallopt(m_trim_threshold, (1 << 31) - 1)
