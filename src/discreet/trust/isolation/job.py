"""The job of a server of processes, and the words on its line."""

from __future__ import annotations

from dataclasses import dataclass

READY, START, END, DONE = b"ready", b"s", b"e", b"d"
MOST_LINES = 64  # on each of which one block is computed at a time


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
