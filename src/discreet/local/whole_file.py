"""A file that is written whole or not at all, and stays."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | Path, data: bytes) -> None:
    """Replace a file; after a crash it holds the old bytes or the new ones.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(folder + "/file", b"bytes")
    ...     Path(folder, "file").read_bytes()
    b'bytes'
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
