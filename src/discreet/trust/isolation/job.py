"""The job of a server of processes, and the words on its line."""

from __future__ import annotations

from dataclasses import dataclass

READY, START, END = b"ready", b"s", b"e"
MOST_PAGES = 64  # that are handed over at a time


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
        How long it may take.
    full : bool
        Whether system calls are filtered.
    rehearsal : bool
        Whether the records are made up, and failures are reported.
    """

    function: bytes
    modules: tuple[str, ...]
    size: int
    seconds: float
    full: bool
    rehearsal: bool = False
