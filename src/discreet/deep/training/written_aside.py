"""Released files that are whole or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_aside(path: str | Path) -> Iterator[Path]:
    """A path beside this one to write to, which gets its name when all is written: until then the old file is there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_aside(folder + "/card") as part:
    ...         _ = part.write_text("whole")
    ...     Path(folder, "card").read_text(), len(list(Path(folder).iterdir()))
    ('whole', 1)
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
