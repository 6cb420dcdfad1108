"""DuckDB, with bounded memory and nothing shared."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core.errors import MissingExtra

MEMORY = "1GB"
THREADS = min(os.cpu_count() or 1, 8)  # each needs some 50 MB to sort what does not fit


def check_engine() -> None:
    """Refuse what DuckDB must do, where it is not installed."""
    try:
        import duckdb  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as why:
        raise MissingExtra(
            "read records", "DuckDB and PyArrow are not installed", "Run: pip install 'discreet[duckdb]'."
        ) from why


def engine() -> Any:
    """A DuckDB connection of its own; beyond `MEMORY` it spills to a directory that goes when the connection goes."""
    check_engine()
    import duckdb

    spill = tempfile.mkdtemp(prefix="discreet-")
    settings: dict[str, Any] = {
        "memory_limit": MEMORY,
        "threads": THREADS,
        "temp_directory": spill,
        "preserve_insertion_order": False,
    }
    connection = duckdb.connect(config=settings)
    connection.execute("SET enable_progress_bar = false")  # it would show how long records take
    weakref.finalize(connection, shutil.rmtree, spill, ignore_errors=True)
    return connection


@contextmanager
def counting(connection: Any, range_bits: int) -> Iterator[None]:
    """Let DuckDB count what whole numbers of so small a range occur in an array, where it would hash them.

    Each thread has an array. A setting of this connection, for statements that keep nothing but counts: of others a
    long array would not fit.
    """
    connection.execute(f"SET perfect_ht_threshold = {range_bits}")
    try:
        yield
    finally:
        connection.execute("RESET perfect_ht_threshold")


def name(text: str) -> str:
    """A column's name in SQL."""
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """The path of one file in SQL, whatever its name."""
    return literal(glob.escape(str(path)))
