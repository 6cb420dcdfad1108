"""The page that a block and its answer are written on: of fixed length, and for one process only."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.core.grid import Array

HEAD = 3  # numbers that come first: whether there is an answer, how many rows, how many columns


class Page:
    """Memory with a block, and with room for `size` numbers; whoever has it can neither lengthen nor shorten it."""

    def __init__(self, block: Array, size: int) -> None:
        self.descriptor, self._size = _blank(), size
        self._close = weakref.finalize(self, os.close, self.descriptor)
        os.ftruncate(self.descriptor, 8 * (HEAD + size + block.size))
        with open(self.descriptor, "r+b", closefd=False) as file:
            file.write(np.array([0, *block.shape], dtype=np.int64).tobytes() + bytes(8 * size))
            file.write(np.ascontiguousarray(block, dtype=np.float64).data)
        _seal(self.descriptor)

    def answer(self) -> Array | None:
        """What was answered, if anything; the page is gone then."""
        found = os.pread(self.descriptor, 8 * (HEAD + self._size), 0)
        self._close()
        return np.frombuffer(found)[HEAD:] if np.frombuffer(found, np.int64)[0] == 1 else None


def fill(page: Any, size: int, function: Callable[[], Callable[[Array], Any]]) -> None:
    """Write on a page, as it is seen in the process that it is for, what a function returns for its block."""
    head, numbers = np.frombuffer(page, np.int64, HEAD), np.frombuffer(page, np.float64)[HEAD:]
    block = numbers[size:].reshape(head[1], head[2]).copy()
    found = np.asarray(function()(block), dtype=np.float64).ravel()
    if found.size == size:
        numbers[:size] = found
        head[0] = 1


def _blank() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("block", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _seal(descriptor: int) -> None:
    if hasattr(os, "memfd_create"):
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
