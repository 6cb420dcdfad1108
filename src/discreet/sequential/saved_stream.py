"""The state of a stream in a file that is read once, so that nothing is spent twice."""

from __future__ import annotations

import os
import stat
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.receipt import Receipt
from discreet.sequential.continual_release import NOTHING, RESUME, ContinualRelease, OpenStream
from discreet.sequential.stream_account import checked_bits
from discreet.trust.grant import Grant
from discreet.trust.permit import Openable

FORM = 2  # of the file: the first form had neither a number nor all parameters
Parts = dict[str, NDArray[Any]]
Opened = TypeVar("Opened")


def save_stream(stream: OpenStream[ContinualRelease], path: str | os.PathLike[str]) -> None:
    """Write the state of a counter, a filter or another open stream to a new file, and close it.

    The file holds exact sums and noise: keep it as safe as the records, and do not copy it. Who goes on from a copy as
    well spends twice, and nothing here can tell. Where it cannot be written, the stream stays open.

    Parameters
    ----------
    stream : OpenStream
        What a permit opened, or a file; it takes no further update.
    path : path
        Of a file that does not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Laplace
    >>> from discreet.sequential.counters.tree_counter import TreeCounter
    >>> counter = TreeCounter(100, Laplace(1.0)).open(Budget(1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_stream(counter, f"{folder}/state")
    >>> counter.closed
    True
    """
    if not isinstance(stream, OpenStream):
        raise ParameterError(
            "save a stream", f"{stream!r:.80} is not open", "Give what `open` or `resume_stream` gave."
        )
    stream.check_process()
    with stream._lock:
        if stream.closed:
            raise NotPermitted("save a stream", "its state was saved already", "Resume it from that file.", NOTHING)
        parts = _parts(stream)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        stream._closed = True
        try:
            with open(descriptor, "wb") as file:
                np.savez(file, **parts)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            os.unlink(path)
            stream._closed = False
            raise


def resume_stream(description: Openable[Opened], path: str | os.PathLike[str], *, bits: Bits | None = None) -> Opened:
    """Go on from a saved state, without another charge, and delete the file: two would spend twice.

    The file is renamed before it is read, so that only one process gets it. Where it cannot be resumed, it is kept.

    Parameters
    ----------
    description : ContinualRelease
        With the parameters of the one that was saved.
    path : path
        What `save_stream` wrote.
    bits : Bits, optional
        Where noise comes from; secret bits of this process by default, and always for a stream whose noise was secret.

    Returns
    -------
    OpenStream
        The object that takes updates.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Laplace
    >>> from discreet.sequential.counters.tree_counter import TreeCounter
    >>> visits = TreeCounter(100, Laplace(0.001))
    >>> counter = visits.open(Budget(1000.0))
    >>> _ = counter.update(1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_stream(counter, f"{folder}/state")
    ...     counter = resume_stream(visits, f"{folder}/state")
    >>> round(float(counter.update(1.0)))
    2
    """
    if not isinstance(description, ContinualRelease):
        raise ParameterError(RESUME, f"{description!r:.80} describes none", "Give the description that was opened.")
    own: Any = description.copied()
    bits = checked_bits(RESUME, bits)
    with _claimed(Path(os.path.realpath(path))) as file:
        parts = _read(file, own)
        receipt = Receipt.read(str(parts["receipt"])) if "receipt" in parts else None
        if not bits.secret and (receipt is None or receipt.secret):
            obstacle = "its noise was secret, and these bits are not"
            raise NotPermitted(RESUME, obstacle, "Leave out the bits.", NOTHING)
        opened: Any = own.opened(Grant(own, bits, receipt))
        opened._restore({name[6:]: array for name, array in parts.items() if name.startswith("state ")})
    found: Opened = opened
    return found


@contextmanager
def _claimed(path: Path) -> Iterator[Path]:
    """A file under a name that nobody else knows; deleted in the end, or named as before where something is wrong."""
    claimed = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.rename(claimed)
    except FileNotFoundError as why:
        remedy = "Each state is resumed once: save the stream that went on from it."
        raise NotPermitted(RESUME, f"there is no {path}", remedy, NOTHING) from why
    try:
        yield claimed
        claimed.unlink()
    except BaseException:
        if not path.exists():  # else somebody has saved another there, and this one keeps its new name
            claimed.rename(path)
        raise


def _parts(stream: OpenStream[ContinualRelease]) -> Parts:
    """What a file holds: whose state it is, what it cost, and the state."""
    own, receipt = stream.description, stream.receipt
    about = {"form": FORM, "terms": own.terms, "identity": own.identity}
    about |= {} if receipt is None else {"receipt": receipt.to_json()}
    state = {f"state {name}": array for name, array in stream._state().items()}
    return {**{name: np.array(value) for name, value in about.items()}, **state}


def _read(path: Path, own: ContinualRelease) -> Parts:
    """What is in a file, if it is of a stream with the same parameters and has one name alone."""
    about = os.lstat(path)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
        raise NotPermitted(RESUME, "the file has another name, under which it would stay", "Leave one name.", NOTHING)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            parts = {name: found[name] for name in found.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as why:
        raise NotPermitted(RESUME, "it is no saved stream, or not all of one", "Give the whole file.", NOTHING) from why
    form = int(parts.get("form", 1))
    if form != FORM:
        obstacle = f"the file has form {form}, of another version of discreet; this one reads form {FORM}"
        remedy = "Go on with the version that saved it until the stream has ended, or open a new one."
        raise NotPermitted(RESUME, obstacle, remedy, NOTHING, form=form)
    if str(parts["identity"]) != own.identity:
        obstacle = f"it was {parts['terms']}; this is {own.terms}"
        raise NotPermitted(RESUME, obstacle, "Make it with the same ones.", NOTHING)
    return parts
