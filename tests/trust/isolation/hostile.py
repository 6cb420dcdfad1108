"""Functions that try to get out, and to be heard: each gives the names of the ways that worked."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.grid import Array

MARK = 0.123456789  # the records of all blocks but the first are near this


def errors_of(calls: list[tuple[int, ...]]) -> list[int]:
    """The error of each of these system calls, made past all of Python; 0 where there is none."""
    libc, found = ctypes.CDLL(None, use_errno=True), []
    for call in calls:
        failed = libc.syscall(*map(ctypes.c_long, call)) == -1
        found.append(ctypes.get_errno() if failed else 0)
    return found


def marked(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and thing.dtype == float and bool((np.abs(thing - MARK) < 1e-6).any())


def sees_in_frames() -> bool:
    frame: Any = sys._getframe()
    while frame is not None:
        values = [*frame.f_locals.values(), *frame.f_globals.values()]
        lists = [part for value in values if isinstance(value, list | tuple) for part in value]
        if any(marked(value) for value in [*values, *lists]):
            return True
        frame = frame.f_back
    return False


def sees_in_memory() -> bool:
    return any(marked(thing) for thing in gc.get_objects())


def reads(path: str) -> bool:
    return bool(Path(path).read_bytes())


def writes(path: str) -> bool:
    return Path(path).write_text("record") > 0


def starts_a_thread() -> bool:
    thread = threading.Thread(target=int)
    thread.start()
    return True


def runs_a_program() -> bool:
    return subprocess.run(["/bin/true"], check=False).returncode == 0


def leaves_a_grandchild() -> bool:
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    return True


def connects(family: int, address: Any) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as line:
        line.bind(address)
    return True


def signals(process: int) -> bool:
    os.kill(process, 0)
    return True


def outlives_its_limits() -> bool:
    resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))
    return True


def clock_of_another() -> bool:
    return time.clock_gettime(~1 << 3 | 2) > 0


WAYS: dict[str, Callable[[], bool]] = {
    "frames": sees_in_frames,
    "memory": sees_in_memory,
    "own memory as a file": lambda: reads("/proc/self/maps"),
    "memory of the server": lambda: reads(f"/proc/{os.getppid()}/maps"),
    "list of processes": lambda: bool(os.listdir("/proc")),
    "file of the user": lambda: reads(__file__),
    "file of the system": lambda: reads("/etc/passwd"),
    "shared memory": lambda: writes("/dev/shm/told"),
    "temporary file": lambda: writes(f"{tempfile.gettempdir()}/told"),
    "work directory": lambda: bool(os.listdir(".")),
    "internet": lambda: connects(socket.AF_INET, ("127.0.0.1", 0)),
    "abstract socket": lambda: connects(socket.AF_UNIX, "\0told"),
    "thread": starts_a_thread,
    "program": runs_a_program,
    "exec": lambda: bool(os.execv("/bin/true", ["true"])),
    "grandchild": leaves_a_grandchild,
    "signal to the first process": lambda: signals(1),
    "signal to the server": lambda: signals(os.getppid()),
    "signal to all": lambda: signals(-1),
    "signal to the group": lambda: signals(0),
    "higher limits": outlives_its_limits,
    "clock of another process": clock_of_another,
    "affinity of another process": lambda: bool(os.sched_getaffinity(1)),
    "two gigabytes": lambda: np.empty(2**28).size > 0,
    "pipe": lambda: bool(os.pipe()),
    "memory file": lambda: os.memfd_create("told") >= 0,
}


def worked(way: Callable[[], bool]) -> bool:
    try:
        return way()
    except BaseException:
        return False


def tries_all_ways(block: Array) -> list[float]:
    return [float(worked(way)) for way in WAYS.values()]


def computes(block: Array) -> Any:
    return 1.0


def loops(block: Array) -> Any:
    while True:
        pass


def sleeps_on_a_lock(block: Array) -> Any:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def sleeps(block: Array) -> Any:
    time.sleep(0.01)
    return 1.0


def yields_its_processor(block: Array) -> Any:
    return os.sched_yield()


def fills_its_memory(block: Array) -> Any:
    return len([np.ones(2**24) for _ in range(10**4)])


def fills_its_block(block: Array) -> Any:
    return np.resize(block, 10**6)


def crashes(block: Array) -> Any:
    return ctypes.string_at(0)


def raises_its_record(block: Array) -> Any:
    raise ValueError(f"a record: {block}")


def scribbles_on_its_page(block: Array) -> Any:
    frame: Any = sys._getframe().f_back
    frame.f_locals["head"][0] = 2**62
    os._exit(0)


def counts_on_its_page(block: Array) -> Any:
    frame: Any = sys._getframe().f_back
    while True:
        frame.f_locals["numbers"][0] += 1.0


def prints_without_end(block: Array) -> Any:
    while True:
        print(block, file=sys.stderr)
        os.write(1, b"record")


def spoils_numpy(block: Array) -> Any:
    np.asarray = np.frombuffer = None  # type: ignore[assignment]
    sys.modules["pickle"].loads = None  # type: ignore[attr-defined]
    return "text"


class StallsAsArray:
    def __array__(self, *_: Any, **__: Any) -> Array:
        return np.array(loops(np.zeros(1)))


class StallsAsItIsLoaded:
    """Runs where it is unpickled."""

    def __call__(self, block: Array) -> float:
        return 1.0

    def __reduce__(self) -> Any:
        return loops, (None,)


FAILS: dict[str, Callable[[Array], Any]] = {
    "loop": loops,
    "lock": sleeps_on_a_lock,
    "sleep": sleeps,
    "yield": yields_its_processor,
    "memory": fills_its_memory,
    "too much": fills_its_block,
    "nothing": lambda block: [],
    "text": lambda block: "text",
    "crash": crashes,
    "error": raises_its_record,
    "page": scribbles_on_its_page,
    "prints": prints_without_end,
    "exit": lambda block: sys.exit(3),
    "end": lambda block: os._exit(0),
    "suicide": lambda block: os.kill(os.getpid(), signal.SIGKILL),
    "array": lambda block: StallsAsArray(),
    "numpy": spoils_numpy,
}


def misbehaves(block: Array) -> Any:
    """As the block says; block 0 behaves."""
    return [computes, *FAILS.values()][int(block[0, 0])](block)
