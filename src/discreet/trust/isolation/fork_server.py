"""The process that others are started from, one for each block: it has loaded what a function needs, and no record.

It is a fresh interpreter, which receives on its first line what to load, and then serves each of its lines in a process
of its own. A child gets a page with one block. Only children read pages, and only a child, once it is locked in,
unpickles the function: whatever that does, no other child is affected.

A child has so much processor time, and always takes all of it: when its function has returned or failed, it goes on
doing nothing until it is killed; and if it dies before, its line takes the rest in its place. So how long a line needs
depends on how busy the machine is, and not on the block.
"""

from __future__ import annotations

import gc
import importlib
import io
import mmap
import os
import pickle
import select
import signal
import socket
import sys
import time
import warnings
from contextlib import suppress
from typing import NoReturn

import numpy as np

from discreet.trust.isolation.job import DONE, READY, START, Job, fill
from discreet.trust.isolation.rehearsed import told
from discreet.trust.isolation.walls import (
    filter_program,
    hide_files,
    loaded,
    lock_in,
    move_out,
    prefer_as_victim,
    take_short_turns,
)

DRAWS = "numpy.random"
PROCESSOR = 2  # the clock of a process' processor time, as in <linux/posix-timers.h>
LEAST = 1e-4  # seconds between two looks at it
LOOPS = 1000
LAZY = (DRAWS, "numpy.linalg", "numpy.ma", "numpy.fft", "numpy.polynomial")  # numpy loads them when they are needed


class NullOutput(io.TextIOBase):
    """Discards what a function prints."""

    def write(self, text: str) -> int:
        return len(text)


def main(*descriptors: int) -> None:
    """Serve the lines that this process is started with, until they are closed."""
    prefer_as_victim()
    first, *others = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    try:
        length = int.from_bytes(first.recv(8, socket.MSG_WAITALL), "little")
        job: Job = pickle.loads(first.recv(length, socket.MSG_WAITALL))
        before = _prepared(job)
    except Exception as why:
        first.sendall(str(why).encode())
        return
    first.sendall(READY)
    mine = first
    for line in others:
        if not os.fork():
            mine = line
            break
    for line in (first, *others):
        if line is not mine:
            line.close()
    _serve(mine, job, before)


def _prepared(job: Job) -> int:
    """Load what is needed, leave the rest behind, and try the walls; the memory that this process then has."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.stdin = sys.stdout = sys.stderr = NullOutput()
    for name in (*LAZY, *job.modules):
        with suppress(Exception):
            importlib.import_module(name)
    if job.full:
        filter_program()  # made here, once
    gc.freeze()  # pages that are not looked at are not copied
    before = loaded()
    if move_out():
        if first := os.fork():
            os.waitpid(first, 0)
            os._exit(0)
        hide_files()
    if not (child := os.fork()):
        _tried(before, job)
    _, status = os.waitpid(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise OSError(f"the system has no filter of system calls for it ({os.strerror(code) if code > 0 else code})")
    return before


def _tried(before: int, job: Job) -> NoReturn:
    try:
        lock_in(before, 0, job.seconds, job.full)
    except BaseException as why:
        os._exit(getattr(why, "errno", None) or 1)
    os._exit(0)


def _serve(line: socket.socket, job: Job, before: int) -> None:
    """Answer blocks until the line is closed."""
    take_short_turns()  # to end children in time
    ends, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    while True:
        message, pages, *_ = socket.recv_fds(line, 1, 1)
        if not message:
            return
        if message == START:
            _attend(line, ends, pages[0], job, before)
            line.sendall(DONE)


def _attend(line: socket.socket, ends: int, page: int, job: Job, before: int) -> None:
    """Start a child, and see to it that all of its processor time is taken: by itself, or in its place."""
    used, child = 0.0, 0
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:  # those that were killed
            pass
    with suppress(OSError):  # a machine that is full: this block has no answer
        child = os.fork()
        if not child:
            _work(page, job, before)
    os.close(page)
    while child and used < job.seconds:
        ready = select.select([line.fileno(), ends], [], [], max(job.seconds - used, LEAST))[0]
        if line.fileno() in ready:  # the end, or nobody is there any more
            break
        if ends in ready:
            os.read(ends, 64)
        gone, _, usage = os.wait4(child, os.WNOHANG)
        used = usage.ru_utime + usage.ru_stime if gone else _taken(child, used, job.seconds)
        if gone:
            _kill(child)  # others of its session
            child = 0
    if child:
        _kill(child)
    elif not job.rehearsal:
        _take(line, job.seconds - used)


def _taken(child: int, before: float, seconds: float) -> float:
    """The processor time of a child so far; where the system does not tell, as if it had never had to wait."""
    if sys.platform != "linux":
        return seconds
    _bring_up_to_date(child)
    try:
        return max(time.clock_gettime((~child << 3) | PROCESSOR), before)
    except OSError:
        return before  # it has just ended, and is waited for next


def _bring_up_to_date(child: int) -> None:
    """Have the system count the processor time of a child now, as another process sees it.

    Of a process on another processor it counts whole ticks, of up to ten milliseconds, unless that process asks for
    its own time: by asking or not a function could choose when it is ended, and so how long the whole takes. Whoever
    changes between two ways of sharing processors is counted at once; for what never waits the two are alike.
    """
    for policy in (os.SCHED_BATCH, os.SCHED_OTHER):
        with suppress(OSError):
            os.sched_setscheduler(child, policy, os.sched_param(0))


def _take(line: socket.socket, seconds: float) -> None:
    """Take processor time in place of a child, unless the line says that this is the end."""
    end = time.process_time() + seconds
    while time.process_time() < end and not select.select([line], [], [], 0)[0]:
        for _ in range(LOOPS):
            pass


def _kill(child: int) -> None:
    """Kill a child, with its whole session where it has one."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _work(page: int, job: Job, before: int) -> NoReturn:
    """In the child: whatever happens, it ends here, and takes its time."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        memory = mmap.mmap(page, 0)
        lock_in(before, len(memory), job.seconds, job.full)
        sys.modules[DRAWS].seed((time.time_ns() + os.getpid()) % 2**32)  # a function that draws: not alike in all
        fill(memory, job.size, lambda: told(job.function) if job.rehearsal else pickle.loads(job.function))
    except BaseException:
        pass
    finally:
        while not job.rehearsal:
            pass
        os._exit(0)
