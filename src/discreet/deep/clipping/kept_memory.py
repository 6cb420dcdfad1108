"""Memory that a processor's steps have freed, kept for the next ones."""

from __future__ import annotations

import ctypes
import os
from functools import cache

TRIM, LARGE = -1, -3  # the names that glibc has for its thresholds
KEPT, MAPPED = 2**30, 2**25


@cache
def keep_memory() -> bool:
    """Leave up to a gigabyte of freed memory with this process, so that every step does not get the same pages anew.

    A private step holds what went into and came out of all layers until lengths are known: some hundred megabytes. The
    allocator of glibc gives what is free above 64 of them back to the system, and each page that comes again costs a
    fault and is filled with zeros: a third of the private step of a residual network. Nothing is changed where the
    environment has settings of its own, nor where there is another allocator. Gives whether anything was.
    """
    named = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_")
    chosen = any(name in os.environ for name in named) or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "")
    library = ctypes.CDLL(None) if os.name == "posix" else None
    if chosen or library is None or not hasattr(library, "gnu_get_libc_version"):
        return False
    # Who sets one threshold ends that the other adapts itself: it stays where it would have come to.
    return bool(library.mallopt(LARGE, MAPPED) and library.mallopt(TRIM, KEPT))
