"""The state of a stream in a file that is read once, so that nothing is spent twice."""

from __future__ import annotations

import os
import stat
import uuid
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import NotPermitted
from discreet.sequential.resumable import ASKED, NOTHING, Resumable, State

FORM = 2  # of the file: the first form had neither a number nor all parameters


def save_stream(stream: Resumable, path: str | os.PathLike[str]) -> None:
    """Write the state of a counter, a filter or another stream to a new file, and close it.

    The file holds exact sums and noise: keep it as safe as the records, and do not copy it. Who goes on from a copy as
    well spends twice, and nothing here can tell. Where it cannot be written, the stream stays open.

    Parameters
    ----------
    stream : Counter, FilterStream, KalmanStream, FAST, OnlineMoments, RunningSums or another
        It takes no further update, unless it is resumed.
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
    stream.check_process()
    with stream._lock:
        if stream.closed:
            raise NotPermitted("save a stream", "its state was saved already", "Resume it from that file.", NOTHING)
        parts = _parts(stream)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        stream.closed = True
        try:
            with open(descriptor, "wb") as file:
                np.savez(file, **parts)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            os.unlink(path)
            stream.closed = False
            raise


def resume_stream(stream: Resumable, path: str | os.PathLike[str]) -> None:
    """Let a new stream go on from a saved state, and delete the file: two that went on from it would spend twice.

    The file is renamed before it is read, so that only one process gets it. Where it cannot be resumed, it is kept.

    Parameters
    ----------
    stream : Counter, FilterStream, KalmanStream, FAST, OnlineMoments, RunningSums or another
        A new one, with the parameters of the one that was saved; or that one itself.
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
    stream.check_process()
    with stream._lock:
        if stream.begun and not stream.closed:
            obstacle = "it has made updates of its own, which would be lost"
            raise NotPermitted(ASKED, obstacle, "Make a new stream with the same parameters.", NOTHING)
        path = Path(os.path.realpath(path))
        claimed = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            path.rename(claimed)
        except FileNotFoundError as why:
            remedy = "Each state is resumed once: save the stream that went on from it."
            raise NotPermitted(ASKED, f"there is no {path}", remedy, NOTHING) from why
        try:
            state = _read(claimed, stream)
            stream.closed = True
            stream.restore(state)
        except BaseException:
            if not path.exists():  # else somebody has saved another there, and this one keeps its new name
                claimed.rename(path)
            raise
        claimed.unlink()
        stream.closed, stream.begun = False, True


def _parts(stream: Resumable) -> dict[str, Any]:
    """What a file holds: whose state it is, and the state."""
    about = {"form": FORM, "terms": stream.terms, "identity": stream.identity}
    state = {f"state {name}": array for name, array in stream.state().items()}
    return {**{name: np.array(value) for name, value in about.items()}, **state}


def _read(path: Path, stream: Resumable) -> State:
    """The state in a file, if it is of a stream with the same parameters and has one name alone."""
    about = os.lstat(path)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
        raise NotPermitted(ASKED, "the file has another name, under which it would stay", "Leave one name.", NOTHING)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            parts = {name: found[name] for name in found.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as why:
        raise NotPermitted(ASKED, "it is no saved stream, or not all of one", "Give the whole file.", NOTHING) from why
    form = int(parts.get("form", 1))
    if form != FORM:
        obstacle = f"the file has form {form}, of another version of discreet; this one reads form {FORM}"
        remedy = "Go on with the version that saved it until the stream has ended, or open a new one."
        raise NotPermitted(ASKED, obstacle, remedy, NOTHING, form=form)
    if str(parts["identity"]) != stream.identity:
        obstacle = f"it was {parts['terms']}; this is {stream.terms}"
        raise NotPermitted(ASKED, obstacle, "Make it with the same ones.", NOTHING)
    return {name.removeprefix("state "): array for name, array in parts.items() if name.startswith("state ")}
