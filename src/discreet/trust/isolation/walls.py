"""What isolates an untrusted function from everything else: limits, name spaces of its own, few system calls."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

LIBC = ctypes.CDLL(None, use_errno=True)
LOAD, EQUALS, GREATER, HAS, RETURN = (
    0x20,
    0x15,
    0x25,
    0x45,
    0x06,
)  # instructions of the filter, as in <linux/bpf_common.h>
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # where a call has these
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 + 38, 0x80000000  # refused: as if there were no such call
NO_NEW_PRIVILEGES, SECCOMP, FILTER, DIE_WITH_PARENT = 38, 22, 2, 1  # of prctl
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
MEMORY = 2**30  # bytes that a function may take, beyond what is loaded and a few copies of its block
COPIES = 4
EVERYTHING = 0x20000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
# mounts, host name, shared memory, users, processes, network: as in <linux/sched.h>
READ_ONLY, PRIVATE = 0x1, 0x44000  # mounts; private, with all that are below
SET_TURNS = {"x86_64": 314, "aarch64": 274}  # the call sched_setattr
TURN, NOT_FOR_CHILDREN = 10**5, 1  # nanoseconds, the shortest that there is; a flag, as in <linux/sched.h>


@dataclass(frozen=True)
class SystemCall:
    """A system call that is allowed, by its numbers on x86-64 and 64-bit Arm; perhaps for one kind of argument only."""

    name: str  # for the reader
    numbers: tuple[int, int]  # on either machine
    argument: int | None = None  # which argument is looked at
    test: int = EQUALS  # `EQUALS`, `HAS` (one of these bits) or `GREATER`
    value: int = 0  # what it is compared with
    passes: bool = True  # whether the call is allowed where the test holds, or where it does not

    def instructions(self, machine: int) -> list[tuple[int, int, int, int]]:
        """Return if this is the call, else go on."""
        if self.argument is None:
            return [(EQUALS, 0, 1, self.numbers[machine]), (RETURN, 0, 0, ALLOW)]
        skips = (0, 1) if self.passes else (1, 0)
        return [
            (EQUALS, 0, 4, self.numbers[machine]),
            (LOAD, 0, 0, ARGUMENTS + 8 * self.argument),
            (self.test, *skips, self.value),
            (RETURN, 0, 0, ALLOW),
            (LOAD, 0, 0, NUMBER),
        ]


# Each of them concerns the process alone. Others could be reached by clocks and affinities of theirs, by futexes on
# pages of a library that all have mapped, by merging equal pages, and by emptying a store that all share: so not those.
CALLS = (
    SystemCall("mmap", (9, 222), 3, HAS, 0x40000, False),  # huge pages of the system's store
    SystemCall("munmap", (11, 215)),
    SystemCall("mprotect", (10, 226)),
    SystemCall("mremap", (25, 216)),
    SystemCall("brk", (12, 214)),
    SystemCall("madvise", (28, 233), 2, EQUALS, 4),  # not needed
    SystemCall("madvise", (28, 233), 2, EQUALS, 8),  # free
    SystemCall("madvise", (28, 233), 2, EQUALS, 14),  # huge pages
    SystemCall("futex", (202, 98), 1, EQUALS, 129),  # wake, private; there is nobody to wait for
    SystemCall("clock_gettime", (228, 113), 0, GREATER, 11, False),
    SystemCall("clock_getres", (229, 114), 0, GREATER, 11, False),
    SystemCall("gettimeofday", (96, 169)),
    SystemCall("sched_getaffinity", (204, 123), 0, EQUALS, 0),
    SystemCall("getrandom", (318, 278)),
    SystemCall("getpid", (39, 172)),
    SystemCall("gettid", (186, 178)),
    SystemCall("getrusage", (98, 165)),
    SystemCall("times", (100, 153)),
    SystemCall("rt_sigaction", (13, 134)),
    SystemCall("rt_sigprocmask", (14, 135)),
    SystemCall("rt_sigreturn", (15, 139)),
    SystemCall("sigaltstack", (131, 132)),
    SystemCall("restart_syscall", (219, 128)),
    SystemCall("exit", (60, 93)),
    SystemCall("exit_group", (231, 94)),
)


@cache
def filter_program() -> tuple[int, ctypes.Array[ctypes.c_char]]:
    """How many instructions the filter has, and the instructions."""
    if platform.machine() not in MACHINES:
        raise OSError(errno.ENOSYS, f"no filter is known for {platform.machine()}")
    which, architecture = MACHINES[platform.machine()]
    program = [(LOAD, 0, 0, ARCHITECTURE), (EQUALS, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    program += [instruction for call in CALLS for instruction in call.instructions(which)]
    program += [(RETURN, 0, 0, REFUSE)]
    return len(program), ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))


def confine() -> None:
    """Give up all system calls except those listed, irrevocably.

    No file can be opened, no socket, no process or thread started, none signalled or looked at, no memory shared.
    Raises OSError where the system has no such filter.
    """
    length, program = filter_program()
    control(NO_NEW_PRIVILEGES, 1)
    control(SECCOMP, FILTER, struct.pack("HP", length, ctypes.addressof(program)))


def control(option: int, value: int, data: bytes | None = None) -> None:
    """A call of prctl."""
    zero = ctypes.c_ulong(0)
    if LIBC.prctl(option, ctypes.c_ulong(value), ctypes.c_char_p(data), zero, zero):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


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


def take_short_turns() -> None:
    """Let this process, when it wakes, run at once beside others that use up their turns; not those that it starts.

    From Linux 6.12, whoever asks for shorter turns of the processor waits less for them, and gets no more of it in all.
    """
    if sys.platform == "linux" and platform.machine() in SET_TURNS:
        asked = struct.pack("=IIQiIQQQ", 48, 0, NOT_FOR_CHILDREN, 0, 0, TURN, 0, 0)
        LIBC.syscall(SET_TURNS[platform.machine()], 0, asked, 0)  # a wish: where it is not heard, all works as well


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
