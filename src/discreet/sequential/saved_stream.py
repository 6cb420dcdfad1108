"""The state of a stream in a file that is read once, so that nothing is spent twice."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discreet.core.errors import NotPermitted
from discreet.sequential.counters.counter import State

ASKED = "resume a stream"
NOTHING = "Nothing was released."


class Resumable(Protocol):
    """What can be saved once, and resumed once: a counter, a filter, a series, an online statistic."""

    closed: bool

    @property
    def terms(self) -> str:
        """All public parameters, in words."""

    def state(self) -> State:
        """All that the next releases depend on."""

    def restore(self, state: State) -> None:
        """Go on from a state."""


def save_stream(stream: Resumable, path: str | os.PathLike[str]) -> None:
    """Write the state of a counter, a filter or another stream to a new file, and close it.

    The file holds exact sums and noise: keep it as safe as the records.

    Parameters
    ----------
    stream : Counter, FilterStream, KalmanStream, FAST, OnlineMoments or another
        It takes no further update.
    path : path
        Of a file that does not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.mechanisms import Gaussian
    >>> from discreet.sequential.counters.tree_counter import TreeCounter
    >>> counter = TreeCounter(100, Gaussian(1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_stream(counter, f"{folder}/state")
    >>> counter.closed
    True
    """
    if stream.closed:
        raise NotPermitted("save a stream", "its state was saved already", "Resume it from that file.", NOTHING)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        stream.closed = True
        arrays: dict[str, Any] = {"terms": np.array(stream.terms), **stream.state()}
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())


def resume_stream(stream: Resumable, path: str | os.PathLike[str]) -> None:
    """Let a new stream go on from a saved state, and delete the file: two that went on from it would spend twice.

    The file is renamed before it is read, so that only one process gets it.

    Parameters
    ----------
    stream : Counter, FilterStream, KalmanStream, FAST, OnlineMoments or another
        A new one, with the parameters of the one that was saved.
    path : path
        What `save_stream` wrote.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.mechanisms import Gaussian
    >>> from discreet.sequential.counters.tree_counter import TreeCounter
    >>> first, second = (TreeCounter(100, Gaussian(1e-6)) for _ in range(2))
    >>> _ = first.update(1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_stream(first, f"{folder}/state")
    ...     resume_stream(second, f"{folder}/state")
    >>> round(float(second.update(1.0)))
    2
    """
    path = Path(path)
    claimed = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.rename(claimed)
    except FileNotFoundError as why:
        remedy = "Each state is resumed once: save the stream that went on from it."
        raise NotPermitted(ASKED, f"there is no {path}", remedy, NOTHING) from why
    with np.load(claimed, allow_pickle=False) as found:
        state = {name: found[name] for name in found.files}
    terms = str(state.pop("terms"))
    if terms != stream.terms:
        claimed.rename(path)
        raise NotPermitted(ASKED, f"it was {terms}; this is {stream.terms}", "Make it with the same ones.", NOTHING)
    claimed.unlink()
    stream.restore(state)
