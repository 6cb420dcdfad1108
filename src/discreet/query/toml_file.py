"""A small TOML file that somebody wrote by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from discreet.core.errors import SchemaError

MOST = 2**20  # bytes


def read_toml(where: str, path: str | Path) -> dict[str, Any]:
    """What a TOML file says; `SchemaError` where it cannot be read, with the line that is wrong.

    Parameters
    ----------
    where : str
        Public. What is read, for errors.
    path : path
        Public. Of the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "roles.toml").write_text('age = "quasi-identifier"')
    ...     read_toml("roles", Path(folder, "roles.toml"))
    {'age': 'quasi-identifier'}
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise SchemaError(where, f"it has more than {MOST:,} bytes", "Give a TOML file that names columns.")
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as why:
        raise SchemaError(where, f"it cannot be read ({why})", "Give the path of a TOML file.") from why
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as why:
        raise SchemaError(where, f"it is not TOML: {why}", "Correct that line.") from why
