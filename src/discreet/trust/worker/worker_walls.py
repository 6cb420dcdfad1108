"""What a worker gives up once its records are open: the network, and other programs."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

from discreet.trust.isolation.walls import (
    ALLOW,
    ARCHITECTURE,
    EQUALS,
    FILTER,
    KILL,
    LOAD,
    MACHINES,
    NO_NEW_PRIVILEGES,
    NUMBER,
    RETURN,
    SECCOMP,
    control,
)

DENIED = 0x00050000 + errno.EPERM
FORBIDDEN = {  # by their numbers on x86-64 and 64-bit Arm
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kill": (62, 129),
    "pidfd_open": (434, 434),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
}
X32 = 0x40000000  # numbers of another set of calls on x86-64
AT_LEAST = 0x35  # an instruction of the filter, as in <linux/bpf_common.h>


def raise_walls() -> str:
    """Give up connections and other programs, as far as the system has such walls.

    What the worker answers with is its line, which is open; it can open no other. Says which walls stand: "full", or
    "process" where the system has no filter of calls.
    """
    if sys.platform != "linux":
        return "process"
    if platform.machine() not in MACHINES:
        return "process"
    program = _program(*MACHINES[platform.machine()])
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))
    try:
        control(NO_NEW_PRIVILEGES, 1)
        control(SECCOMP, FILTER, struct.pack("HP", len(program), ctypes.addressof(code)))
    except OSError:
        return "process"
    return "full"


def _program(machine: int, architecture: int) -> list[tuple[int, int, int, int]]:
    """Refuse what is listed, let all else pass; kill whoever changes to another set of calls."""
    program = [(LOAD, 0, 0, ARCHITECTURE), (EQUALS, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    program += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    for numbers in FORBIDDEN.values():
        program += [(EQUALS, 0, 1, numbers[machine]), (RETURN, 0, 0, DENIED)]
    return [*program, (RETURN, 0, 0, ALLOW)]
