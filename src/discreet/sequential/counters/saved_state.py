"""The state of a counter in a file that is read once, so that nothing is spent twice."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discreet.core.errors import NotPermitted
from discreet.sequential.counters.counter import State

ASKED = "resume a counter"
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


def save_counter(counter: Resumable, path: str | os.PathLike[str]) -> None:
    """Write the state of a counter to a new file, and close the counter.

    The file holds exact sums and noise: keep it as safe as the stream itself.

    Parameters
    ----------
    counter : Counter, SeriesStream or OnlineStatistic
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
    ...     save_counter(counter, f"{folder}/state")
    >>> counter.closed
    True
    """
    if counter.closed:
        raise NotPermitted("save a counter", "its state was saved already", "Resume it from that file.", NOTHING)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        counter.closed = True
        arrays: dict[str, Any] = {"terms": np.array(counter.terms), **counter.state()}
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())


def resume_counter(counter: Resumable, path: str | os.PathLike[str]) -> None:
    """Let a new counter go on from a saved state, and delete the file: two that went on from it would spend twice.

    The file is renamed before it is read, so that only one process gets it.

    Parameters
    ----------
    counter : Counter, SeriesStream or OnlineStatistic
        A new one, with the parameters of the one that was saved.
    path : path
        What `save_counter` wrote.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.mechanisms import Gaussian
    >>> from discreet.sequential.counters.tree_counter import TreeCounter
    >>> first, second = (TreeCounter(100, Gaussian(1e-6)) for _ in range(2))
    >>> _ = first.update(1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_counter(first, f"{folder}/state")
    ...     resume_counter(second, f"{folder}/state")
    >>> round(float(second.update(1.0)))
    2
    """
    path = Path(path)
    claimed = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.rename(claimed)
    except FileNotFoundError as why:
        remedy = "Each state is resumed once: save the counter that went on from it."
        raise NotPermitted(ASKED, f"there is no {path}", remedy, NOTHING) from why
    with np.load(claimed, allow_pickle=False) as found:
        state = {name: found[name] for name in found.files}
    terms = str(state.pop("terms"))
    if terms != counter.terms:
        claimed.rename(path)
        raise NotPermitted(ASKED, f"it was {terms}; this is {counter.terms}", "Make it with the same ones.", NOTHING)
    claimed.unlink()
    counter.restore(state)
