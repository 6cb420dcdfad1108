"""The file of a ledger: its tables, connections and lock. SQLite with a write-ahead log, synced at every commit.

For local disks: the write-ahead log needs memory shared among the processes, which network file systems lack.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing
from discreet.core.held import unheld
from discreet.ledger.chain import ChainEntry
from discreet.ledger.file_lock import locked

APPLICATION = 0x64697363  # "disc"
VERSION = 1
TABLES = (
    f"pragma application_id = {APPLICATION}",
    f"pragma user_version = {VERSION}",
    "create table entry(number integer primary key, kind text not null, key text not null, body text not null,"
    " hash text not null unique, unique (kind, key))",
    "create table result(number integer primary key references entry(number), bytes blob not null)",
)
WHOLE_OR_NOT = "Nothing was handed out; a charge is recorded whole or not at all."

_open_files: weakref.WeakSet[LedgerFile] = weakref.WeakSet()
_held_for_fork: list[LedgerFile] = []


@unheld("own turns")
class LedgerFile:
    """One process's access to a ledger's file. Opens it when needed, never creates it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()
        self._mutex = threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        self._identity, self._read_only = (0, 0, 0), False
        self._finalizer = weakref.finalize(self, _close, self._connections)
        _open_files.add(self)

    def beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent view, beside whoever writes."""
        with self._mutex, self.told():
            try:
                with transaction(self._connection(reading=True), "deferred") as db:
                    yield db
            finally:
                if self._read_only:  # what was copied may change
                    _close(self._connections)

    @contextmanager
    def locked(self) -> Iterator[sqlite3.Connection]:
        """Hold the lock among all processes, for a `transaction` and what must follow it before another one."""
        self._present()
        with self._mutex, self.told(), locked(self.beside(".lock")):
            yield self._connection()

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._mutex:
            _close(self._connections)

    def create(self, first: ChainEntry) -> None:
        """Make a ledger with one entry where there is no file."""
        with self.told():
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            try:
                with _closing(self._connected(self.path, new=True)) as db, transaction(db):
                    for statement in TABLES:
                        db.execute(statement)
                    insert(db, first)
            except BaseException:
                self.path.unlink()
                raise

    def _connection(self, reading: bool = False) -> sqlite3.Connection:
        if not self._connections:
            self._identity, self._read_only = self._present(), False
            self._connections.append(self._readable() if reading else self._connected(self.path))
        if self._identity != self._present():
            if self._identity[0] == os.getpid():  # a connection of another process must not even be closed
                _close(self._connections)
            raise LedgerBroken(
                f"ledger {self.path}",
                "the file was replaced, or this process was forked without Python's knowledge, since it was opened",
                "Open the ledger again; after a restore, compare its head with one kept elsewhere.",
            )
        return self._connections[0]

    def _present(self) -> tuple[int, int, int]:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            raise missing(self.path) from None
        return os.getpid(), status.st_dev, status.st_ino

    def _readable(self) -> sqlite3.Connection:
        """The file to read from; where it may not be written, as it is, or else a copy of it and of its log.

        SQLite needs to write beside a file with a write-ahead log in order to read it, if nobody else has it open.
        """
        try:
            return self._connected(self.path)
        except sqlite3.OperationalError as why:
            if why.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
        self._read_only = True
        with suppress(sqlite3.OperationalError):
            return self._connected(self.path, "ro")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy"
            for suffix in ("", "-wal"):
                if self.beside(suffix).exists():
                    shutil.copyfile(self.beside(suffix), f"{copy}{suffix}")
            with _closing(self._connected(copy)) as whole:
                db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                whole.backup(db)
        return db

    def _connected(self, path: Path, mode: str = "rw", new: bool = False) -> sqlite3.Connection:
        where = f"{path.as_uri()}?mode={mode}"
        db = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False, timeout=60)
        try:
            if not new:
                self._recognise(db)
            (mode,) = db.execute("pragma journal_mode = wal").fetchone()
            if mode != "wal":
                raise self._unable(OSError(f"this file system only allows journal mode {mode}"))
            for setting in ("synchronous = full", "fullfsync = on", "checkpoint_fullfsync = on"):
                db.execute(f"pragma {setting}")
        except BaseException:
            db.close()
            raise
        return db

    def _recognise(self, db: sqlite3.Connection) -> None:
        with open(self.path, "rb") as file:
            header = file.read(20)
        if not set(header[18:20]) <= {1, 2}:  # else SQLite would take the file for one that it may not write
            raise self._broken("its header is damaged")
        (application,) = db.execute("pragma application_id").fetchone()
        (version,) = db.execute("pragma user_version").fetchone()
        if application != APPLICATION:
            raise LedgerBroken(
                f"ledger {self.path}",
                "the file is not a ledger, or its creation was interrupted before anything was charged",
                "Give the path of a ledger; remove the file only if nothing was ever released under it.",
            )
        if version != VERSION:
            raise LedgerBroken(
                f"ledger {self.path}",
                f"it is in format {version}; this version reads format {VERSION}",
                "Use the release of discreet that wrote it.",
                version=version,
            )

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say in the ledger's words what SQLite or the system could not do, and start afresh next time."""
        try:
            yield
        except sqlite3.Error as why:
            _close(self._connections)
            code = getattr(why, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
                raise self._broken(str(why)) from why
            raise self._unable(why) from why
        except UnicodeDecodeError as why:
            _close(self._connections)
            raise self._broken("a text in it is none") from why
        except TimeoutError as why:
            remedy = "Let that process go on, or end it; then retry with the same key."
            raise LedgerError(f"ledger {self.path}", f"it is locked ({why})", remedy, WHOLE_OR_NOT) from why
        except OSError as why:
            _close(self._connections)
            raise self._unable(why) from why

    def _broken(self, why: str) -> LedgerBroken:
        return LedgerBroken(
            f"ledger {self.path}",
            f"the file is not a whole ledger ({why})",
            "Restore the newest copy and compare its head with one kept elsewhere.",
            WHOLE_OR_NOT,
        )

    def _unable(self, why: Exception) -> LedgerError:
        remedy = "Make room or mend the disk, then retry with the same key."
        return LedgerError(f"ledger {self.path}", f"it cannot be written ({why})", remedy, WHOLE_OR_NOT)


def links(db: sqlite3.Connection, since: int) -> Iterator[ChainEntry]:
    """The entries from this number on."""
    rows = db.execute("select number, kind, key, body, hash from entry where number >= ? order by number", (since,))
    return (ChainEntry(*row) for row in rows)


def found(db: sqlite3.Connection, kind: str, key: str) -> ChainEntry | None:
    """The entry of this kind and key."""
    row = db.execute(
        "select number, kind, key, body, hash from entry where kind = ? and key = ?", (kind, key)
    ).fetchone()
    return ChainEntry(*row) if row else None


def insert(db: sqlite3.Connection, link: ChainEntry) -> None:
    """Append an entry."""
    values = (link.number, link.kind, link.key, link.body, link.hash)
    db.execute("insert into entry(number, kind, key, body, hash) values (?, ?, ?, ?, ?)", values)


def missing(path: Path) -> LedgerMissing:
    """The error for a ledger that is not where it should be."""
    return LedgerMissing(
        f"ledger {path}",
        "there is no such file, and a lost account is not a fresh budget",
        "Restore it, or call SqliteLedger.create for data of which nothing was released.",
        path=str(path),
    )


@contextmanager
def transaction(db: sqlite3.Connection, kind: str = "immediate") -> Iterator[sqlite3.Connection]:
    """All or nothing, and durable when it ends."""
    db.execute(f"begin {kind}")
    try:
        yield db
        db.execute("commit")
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise


@contextmanager
def _closing(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    try:
        yield db
    finally:
        db.close()


def _close(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()


def _before_fork() -> None:
    """SQLite must not be carried into a child: its idea of which locks it holds would be wrong there."""
    for file in list(_open_files):
        file._mutex.acquire()
        _held_for_fork.append(file)
        _close(file._connections)


def _after_fork() -> None:
    while _held_for_fork:
        _held_for_fork.pop()._mutex.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
