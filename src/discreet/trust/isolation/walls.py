"""What isolates an untrusted function from everything else: limits, name spaces of its own, few system calls."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from contextlib import suppress

from discreet.trust.isolation.system_calls import DIE_WITH_PARENT, LIBC, confine, control

MEMORY = 2**30  # bytes that a function may take, beyond what is loaded and a few copies of its block
COPIES = 4
EVERYTHING = 0x20000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
# mounts, host name, shared memory, users, processes, network: as in <linux/sched.h>
READ_ONLY, PRIVATE = 0x1, 0x44000  # mounts; private, with all that are below


def move_out() -> bool:
    """Leave the machine's network, users, processes and shared memory, where the system lets anybody do so.

    The next process to be started is the first of its own name space: when it ends, so do all that are in it.
    """
    return sys.platform == "linux" and LIBC.unshare(EVERYTHING) == 0


def hide_files() -> None:
    """An empty root for a process that has moved out; what is loaded stays so."""
    here = os.fsencode(sys.base_prefix)
    LIBC.mount(b"none", b"/", None, ctypes.c_ulong(PRIVATE), None)
    if LIBC.mount(b"none", here, b"tmpfs", ctypes.c_ulong(READ_ONLY), None) == 0:
        os.chroot(here)
        os.chdir("/")


def loaded() -> int:
    """The memory of this process, in bytes, as far as the system reports it.

    Raises OSError if a library shares some of it with the processes that are started from here.
    """
    if not os.path.exists("/proc/self/smaps"):
        return 0
    with open("/proc/self/smaps") as lines:
        if any(line.startswith("VmFlags") and "sh" in line.split() for line in lines):
            raise OSError("a library that the function needs shares memory between processes")
    with open("/proc/self/statm") as line:
        return int(line.read().split()[0]) * resource.getpagesize()


def prefer_as_victim() -> None:
    """Where memory runs out, the system ends this process and those that it starts before others."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def lock_in(before: int, block: int, seconds: float, full: bool) -> None:
    """A session of its own, no open file, limits, and few system calls."""
    if sys.platform == "linux":
        control(DIE_WITH_PARENT, 9)
    os.closerange(0, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    limits = {
        resource.RLIMIT_CPU: int(seconds) + 2,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
    }
    if before:
        limits[resource.RLIMIT_AS] = before + COPIES * block + MEMORY
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
    if full:
        confine()
