"""The process that others are started from, one for each block: it has loaded what a function needs, and no record.

It is a fresh interpreter, which receives on its first line what to load, and then serves each of its lines in a process
of its own: so the children of one slot start at once. A child gets a page with one block. Only children read pages, and
only a child, once it is locked in, unpickles the function: whatever that does, no other child is affected.
"""

from __future__ import annotations

import gc
import importlib
import io
import mmap
import os
import pickle
import signal
import socket
import sys
import time
import warnings
from contextlib import suppress
from typing import NoReturn

import numpy as np

from discreet.trust.isolation.job import MOST_PAGES, READY, START, Job
from discreet.trust.isolation.page import fill
from discreet.trust.isolation.rehearsal import told
from discreet.trust.isolation.system_calls import filter_program
from discreet.trust.isolation.walls import hide_files, loaded, lock_in, move_out, prefer_as_victim

DRAWS = "numpy.random"
LAZY = (DRAWS, "numpy.linalg", "numpy.ma", "numpy.fft", "numpy.polynomial")  # numpy loads them when they are needed


class Nowhere(io.TextIOBase):
    """Where a function's prints go."""

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
    sys.stdin = sys.stdout = sys.stderr = Nowhere()
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
    running: list[int] = []
    ended: list[int] = []
    while True:
        message, pages, *_ = socket.recv_fds(line, 1, MOST_PAGES)
        for page in pages:
            with suppress(OSError):  # a machine that is full: this block has no answer
                running.append(os.fork())
                if not running[-1]:
                    _work(page, job, before)
            os.close(page)
        if message != START:
            for child in running:
                _kill(child)
            ended, running = ended + running, []
        if not message:
            return
        ended = [child for child in ended if os.waitpid(child, os.WNOHANG) == (0, 0)]


def _kill(child: int) -> None:
    """With all of its session, if it has got so far as to have one."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            kill(child, signal.SIGKILL)


def _work(page: int, job: Job, before: int) -> NoReturn:
    """In the child: whatever happens, it ends here."""
    try:
        os.setsid()
        memory = mmap.mmap(page, 0)
        lock_in(before, len(memory), job.seconds, job.full)
        sys.modules[DRAWS].seed((time.time_ns() + os.getpid()) % 2**32)  # a function that draws: not alike in all
        fill(memory, job.size, lambda: told(job.function) if job.rehearsal else pickle.loads(job.function))
    finally:
        os._exit(0)
