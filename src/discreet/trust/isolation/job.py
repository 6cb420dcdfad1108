"""What is sent to a server of processes: a function as bytes, its job, and pages for blocks and their answers."""

from __future__ import annotations

import os
import pickletools
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import cloudpickle
import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.identity import OWN, installed

READY, START, END, DONE = b"ready", b"s", b"e", b"d"
MOST_LINES = 64  # on each of which one block is computed at a time
HEAD = 3  # numbers that come first: whether there is an answer, how many rows, how many columns
_LOCK = threading.Lock()  # cloudpickle has one list for all threads


@dataclass(frozen=True)
class Job:
    """What all children of a server have in common. All of it public.

    Parameters
    ----------
    function : bytes
        Pickled.
    modules : tuple of str
        What is loaded for it.
    size : int
        How many numbers it gives.
    seconds : float
        Of processor time, that each child takes: no less, and no more.
    full : bool
        Whether system calls are filtered.
    rehearsal : bool
        Whether the records are made up: failures are reported, and a child that is done is not waited for.
    """

    function: bytes
    modules: tuple[str, ...]
    size: int
    seconds: float
    full: bool
    rehearsal: bool = False


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


@dataclass(frozen=True)
class Shipment:
    """A pickled function, and the modules that are loaded before it is."""

    function: bytes
    modules: tuple[str, ...]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Shipment:
        """Everything except installed libraries is sent by value: where it arrives, there are no files.

        Libraries are loaded as far as they are here: those that the pickle mentions, with all their loaded parts. Of
        this one the files that it mentions are enough, if it does not mention the whole.
        """
        try:
            with _by_value():
                pickled = cloudpickle.dumps(function)
        except Exception as why:
            raise ParameterError(
                "function",
                f"it cannot be sent to a process of its own ({type(why).__name__}: {why})",
                "Leave out what cannot be pickled.",
            ) from why
        words = {word for _, word, _ in pickletools.genops(pickled) if isinstance(word, str)}
        packages = (
            {"numpy"} | {word.partition(".")[0] for word in words if word.partition(".")[0] != OWN} | {OWN} & words
        )
        known = [name for name in list(sys.modules) if name in words or name.partition(".")[0] in packages]
        return cls(pickled, tuple(name for name in known if installed(sys.modules.get(name))))


@contextmanager
def _by_value() -> Iterator[None]:
    with _LOCK:
        before = cloudpickle.list_registry_pickle_by_value()
        modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
        own = [one for one in modules if one.__name__ in sys.modules and not installed(one)]
        added = [one for one in own if one.__name__ not in {"__main__", *before}]
        for module in added:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in added:
                cloudpickle.unregister_pickle_by_value(module)
