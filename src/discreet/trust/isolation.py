"""A stranger's function in a process of its own: what it does, or how long it takes, touches nothing else."""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

import numpy as np

from discreet.core.grid import Array


def isolated(of: Callable[[Array], Array], blocks: Sequence[Array], size: int, seconds: float) -> list[Array | None]:
    """What a function makes of each block; None where it gives anything but so many numbers, in its time.

    Each block has a slot of the clock, of equal length, and a fresh process, which is killed when the slot is over: no
    block can tell another anything, hold it up, or be held up. The whole takes all of its time, always. What the
    function prints is not shown. This is no prison: a function that writes to files or to the network does so.

    Parameters
    ----------
    of : callable
        A block in, numbers out.
    blocks : sequence of arrays
        The blocks.
    size : int
        Public. How many numbers are expected.
    seconds : float
        Public. How long the whole takes.
    """
    start, slot = time.monotonic(), seconds / max(len(blocks), 1)
    results = [_run(of, block, size, start + (place + 1) * slot) for place, block in enumerate(blocks)]
    _wait_until(start + seconds)
    return results


def _run(of: Callable[[Array], Array], block: Array, size: int, deadline: float) -> Array | None:
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else None)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(of, block, size, sender), daemon=True)
    with receiver, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads: the child starts none
        process.start()
        sender.close()
        data = _received(receiver, deadline)
        _wait_until(deadline)
        process.kill()
        process.join()
        process.close()
    return None if data is None or len(data) != 8 * size else np.frombuffer(data, dtype=np.float64)


def _received(receiver: Connection, deadline: float) -> bytes | None:
    try:
        return receiver.recv_bytes() if receiver.poll(max(0.0, deadline - time.monotonic())) else None
    except (EOFError, OSError):
        return None


def _work(of: Callable[[Array], Array], block: Array, size: int, sender: Connection) -> None:
    """In the child: silent, whatever happens."""
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    try:
        found = np.asarray(of(block), dtype=np.float64).ravel()
        if found.size == size:
            sender.send_bytes(found.tobytes())
    finally:
        os._exit(0)


def _wait_until(deadline: float) -> None:
    while (left := deadline - time.monotonic()) > 0:
        time.sleep(left)
