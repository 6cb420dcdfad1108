"""Files that are their owner's alone: keys, secrets, accounts. They are written whole, and checked when read."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from discreet.core.errors import UNTOUCHED, ParameterError


def create_own(path: str | Path, data: bytes) -> None:
    """Write a new file; whoever comes second, or finds a file, gets a FileExistsError and changes nothing.

    The bytes are written aside and synced before the file gets its name, so that nobody ever reads a part of a key.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_own(folder + "/key", bytes(32))
    ...     len(read_own(folder + "/key", "read a key", 32, 32))
    32
    """
    _written_aside(Path(path), data, os.link)


def replace_own(path: str | Path, data: bytes) -> None:
    """Replace a file, or make it; after a crash it holds the old bytes or the new ones."""
    _written_aside(Path(path), data, os.replace)


def read_own(path: str | Path, asked: str, least: int, most: int, consequence: str = UNTOUCHED) -> bytes:
    """The bytes of a file that nobody else can read, if their number is in this range.

    Raises
    ------
    ParameterError
        Others can read it, somebody else wrote it, or it is too short or too long.
    OSError
        It cannot be read.
    """
    with open(path, "rb") as file:
        check_own(file.fileno(), asked, path, consequence)
        data = file.read(most + 1)
    if not least <= len(data) <= most:
        long = f"more than {most}" if len(data) > most else str(len(data))
        remedy = "Restore the file that was written; a short one can be guessed."
        raise ParameterError(asked, f"it has {long} bytes", remedy, consequence, path=str(path))
    return data


def check_own(file: int | str | Path, asked: str, path: str | Path, consequence: str = UNTOUCHED) -> None:
    """Refuse an open file, or a path, that others can read or write, or that belongs to somebody else."""
    found = os.stat(file)
    if os.name != "posix":
        return
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        obstacle = f"others on this machine can read it (mode {mode:o})"
        remedy = f"Run: chmod 600 {path}. If anybody may have read a secret in it, draw a new one."
        raise ParameterError(asked, obstacle, remedy, consequence, path=str(path))
    if found.st_uid not in (0, os.geteuid()):
        obstacle, remedy = "it belongs to somebody else, who knows it", "Use a file of your own."
        raise ParameterError(asked, obstacle, remedy, consequence, path=str(path))


def _written_aside(path: Path, data: bytes, named: Callable[[str, Path], None]) -> None:
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        named(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a new name durable, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
