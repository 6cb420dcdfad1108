"""An SQLite file of its owner's alone, in which a transaction is on disk before it is over."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from discreet.core.errors import UNTOUCHED
from discreet.core.held import Held
from discreet.ledger.own_file import check_own, create_own


class OwnDatabase(Held):
    """Keeps what must survive a crash at any moment. Threads share it; each process opens the file itself.

    Parameters
    ----------
    path : path
        On a local disk; made where there is none.
    tables : str
        The statements that make its tables, where they are missing.
    asked, consequence : str
        For the error where the file is not its owner's alone.

    Raises
    ------
    sqlite3.Error, OSError
        It is no such file, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = OwnDatabase(folder + "/kept", "CREATE TABLE IF NOT EXISTS words (word TEXT)", "keep words")
    ...     with kept.transaction() as db:
    ...         _ = db.execute("INSERT INTO words VALUES ('all or nothing')")
    ...     kept.close()
    """

    def __init__(self, path: str | Path, tables: str, asked: str, consequence: str = UNTOUCHED) -> None:
        self.path = Path(path)
        if not self.path.exists():
            with contextlib.suppress(FileExistsError):
                create_own(self.path, b"")
        check_own(self.path, asked, self.path, consequence)
        self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.executescript(tables)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is done in the block, or nothing; on disk when the block is left."""
        self.check_process()
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()
