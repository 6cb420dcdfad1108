"""A lock on a file: one writer at a time among all processes, each woken when it is next."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60.0  # seconds; the lock is usually held for milliseconds
LOOK = 0.004  # seconds between two things that are done while waiting

if sys.platform == "win32":
    import msvcrt

    PLACE = 2**20  # beyond what the file holds: nobody could read a byte that is locked

    def _try(descriptor: int) -> bool:
        try:
            os.lseek(descriptor, PLACE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait(descriptor: int) -> None:
        while not _try(descriptor):
            time.sleep(0.002)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path, meanwhile: Callable[[], None] | None = None) -> Iterator[None]:
    """Wait for the lock on this file and hold it; the kernel releases it when its holder dies.

    Parameters
    ----------
    path : Path
        Of the file; made where there is none.
    meanwhile : callable, optional
        What is done again and again while another process has the lock; where it raises, nobody waits any longer.

    Raises
    ------
    TimeoutError
        Another process has held the lock for `PATIENCE` seconds, and is probably stopped. The lock cannot be taken from
        it, since it may continue.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if not _try(descriptor) and not _Waiter(descriptor).granted(PATIENCE, meanwhile):
        raise TimeoutError(f"process {_holder(path)} has held it for {PATIENCE:g} seconds; it may be stopped")
    try:
        with contextlib.suppress(OSError):  # on a full disk the lock is held without a name
            os.pwrite(descriptor, b"%-20d\n" % os.getpid(), 0)
        yield
    finally:
        _unlock(descriptor)
        os.close(descriptor)


@contextmanager
def held(descriptor: int) -> Iterator[None]:
    """Hold the lock on an open file for a moment, in which nobody waits for anything else."""
    _wait(descriptor)
    try:
        yield
    finally:
        _unlock(descriptor)


class _Waiter:
    """A thread that queues for a lock, so that whoever needs it can stop waiting; it then gives the lock back."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._mutex = descriptor, threading.Lock()
        self._got, self._given_up = threading.Event(), False
        threading.Thread(target=self._queue, daemon=True, name="file lock").start()

    def granted(self, seconds: float, meanwhile: Callable[[], None] | None) -> bool:
        """Whether the lock was got in time; where waiting is interrupted, it is given back like one that comes late."""
        try:
            self._wait(seconds, meanwhile)
        except BaseException:
            self._give_up(got=True)
            raise
        return not self._give_up(got=False)

    def _wait(self, seconds: float, meanwhile: Callable[[], None] | None) -> None:
        end = time.monotonic() + seconds
        while meanwhile is not None and time.monotonic() + LOOK < end and not self._got.wait(LOOK):
            meanwhile()
        self._got.wait(end - time.monotonic())

    def _give_up(self, got: bool) -> bool:
        """Want the lock no longer unless it is here already, or even then; whether it is not wanted."""
        with self._mutex:
            here = self._got.is_set()
            self._given_up = got or not here
            if got and here:
                os.close(self._descriptor)
            return self._given_up

    def _queue(self) -> None:
        _wait(self._descriptor)
        with self._mutex:
            if self._given_up:
                os.close(self._descriptor)
            else:
                self._got.set()


def _holder(path: Path) -> str:
    try:
        return path.read_text("ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"
