"""The file of a ledger: its tables, connections and lock. SQLite with a write-ahead log, synced at every commit.

For local disks: the write-ahead log needs memory shared among the processes, which network file systems lack.

A process that closes any descriptor of the file, even one that only read it, loses all locks that SQLite has on it:
another process could then remove the log under it. So nothing here opens the file beside SQLite while a connection of
this process has it open.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing
from discreet.core.held import unheld
from discreet.ledger.anchor import Anchor
from discreet.ledger.chain import ChainEntry
from discreet.ledger.entry_store import WHOLE_OR_NOT, StoredEntries, ignored
from discreet.ledger.file_lock import locked
from discreet.ledger.forked_store import ForkedStore
from discreet.ledger.own_file import read_own, replace_own

APPLICATION = 0x64697363  # "disc"
VERSION = 1
TABLES = (
    f"pragma application_id = {APPLICATION}",
    f"pragma user_version = {VERSION}",
    "create table entry(number integer primary key, kind text not null, key text not null, body text not null,"
    " hash text not null unique, unique (kind, key))",
    "create table result(number integer primary key references entry(number), bytes blob not null)",
)

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT}
MOST_ROWS = 32  # that one statement adds

_connected: Counter[tuple[int, int]] = Counter()
_connecting = threading.RLock()
"""How many connections of this process have each file open; whoever counts, or opens the file, holds the lock."""


@unheld("own turns")
class LedgerConnection(sqlite3.Connection):
    """A connection that is counted while it is open."""

    _lock = _connecting
    file: tuple[int, int] | None = None

    def counted(self, file: tuple[int, int]) -> None:
        """Count it, as one to this device and file."""
        with self._lock:
            self.file = file
            _connected[file] += 1

    def close(self) -> None:
        with self._lock:
            super().close()
            if self.file is not None:
                _connected[self.file] -= 1
                self.file = None


@unheld("own turns")
class LedgerFile(ForkedStore):
    """One process's access to a ledger's file. Opens it when needed, never creates it.

    Threads take turns with the connection that writes; another one only reads, and waits for nobody.
    """

    failures: tuple[type[Exception], ...] = (sqlite3.Error, OSError)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).resolve()
        self.anchor, self._lock = Anchor(self.beside(".head")), self.beside(".lock")
        self._mutex, self._reader_mutex = threading.Lock(), threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        self._readers: list[sqlite3.Connection] = []
        self._identity = self._reader_identity = (0, 0, 0)
        self._read_only = False
        self._finalizer = weakref.finalize(self, _close, self._connections, self._readers)
        super().__init__(self._mutex, self._reader_mutex)

    def __str__(self) -> str:
        return str(self.path)

    def beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    @contextmanager
    def reading(self) -> Iterator[FileEntries]:
        """A consistent view, beside other processes that write."""
        with self._mutex, self.told(self._connections):
            try:
                with transaction(self._connection(reading=True), "deferred") as db:
                    yield FileEntries(db)
            finally:
                if self._read_only:  # what was copied may change
                    _close(self._connections)

    @contextmanager
    def apart(self) -> Iterator[FileEntries]:
        """A consistent view, beside threads of this process that write, too."""
        with self._reader_mutex, self.told(self._readers):
            if not self._readers:
                self._reader_identity = self._present()
                self._readers.append(self._connected(self.path))
            self._check_same(self._reader_identity, self._readers)
            with transaction(self._readers[0], "deferred") as db:
                yield FileEntries(db)

    @contextmanager
    def locked(self, meanwhile: Callable[[StoredEntries], None] = ignored) -> Iterator[LockedFile]:
        """Hold the lock among all processes, for a `transaction` and what must follow it before another one."""
        self._present()
        with self._mutex, self.told(self._connections), locked(self._lock, partial(self._shown, meanwhile)):
            yield LockedFile(self._connection())

    def _shown(self, meanwhile: Callable[[StoredEntries], None]) -> None:
        """Show what is there while another process writes, by the connection that waits to write."""
        if self._connections:
            with transaction(self._connection(), "deferred") as db:
                meanwhile(FileEntries(db))

    def flush(self) -> None:
        """Nothing: a transaction is on disk when it ends."""

    def check(self) -> None:
        """Refuse a file of which SQLite says that it is damaged."""
        with self.reading() as entries:
            problems = [text for (text,) in entries.db.execute("pragma integrity_check")]
        if problems != ["ok"]:
            raise LedgerBroken(f"ledger {self.path}", f"SQLite finds: {problems[0]}", "Restore a copy.")

    def keep(self, digest: str, data: bytes) -> None:
        """Keep what is too large for a result in a folder beside the file."""
        with self.told([]):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            replace_own(self._folder / digest, data)

    def kept(self, digest: str) -> bytes | None:
        """What is in that folder under a digest."""
        path = self._folder / digest
        try:
            return read_own(path, f"kept result {path}", 0, path.stat().st_size)
        except OSError:
            return None

    def all_kept(self) -> Iterator[str]:
        return (path.name for path in self._folder.glob("[0-9a-f]*"))

    @property
    def _folder(self) -> Path:
        return self.beside(".kept")

    def copy_to(self, path: Path) -> None:
        """Make a file with all that is in this one at one moment, whoever writes meanwhile."""
        with self.reading() as entries, self.told([]):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with contextlib.closing(sqlite3.connect(path, factory=LedgerConnection)) as copy:
                entries.db.backup(copy)

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._mutex, self._reader_mutex:
            self.disconnect()

    def disconnect(self) -> None:
        """SQLite must not be carried into a child: its idea of which locks it holds would be wrong there."""
        _close(self._connections, self._readers)

    def create(self, first: ChainEntry) -> None:
        """Make a ledger with one entry where there is no file."""
        for path in (self.path, self.anchor.path, self.beside("-wal")):
            if path.exists():
                raise LedgerError(
                    f"new ledger {self.path}",
                    f"{path.name} is there already, and an account is never started over",
                    "Open the ledger that is there, or give another path.",
                )
        with self.told([]):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            try:
                with _closing(self._connected(self.path, new=True)) as db, transaction(db):
                    for statement in TABLES:
                        db.execute(statement)
                    FileEntries(db).written([first])
            except BaseException:
                self.path.unlink()
                raise

    def _connection(self, reading: bool = False) -> sqlite3.Connection:
        if not self._connections:
            self._identity, self._read_only = self._present(), False
            self._connections.append(self._readable() if reading else self._connected(self.path))
        self._check_same(self._identity, self._connections)
        return self._connections[0]

    def _check_same(self, identity: tuple[int, int, int], connections: list[sqlite3.Connection]) -> None:
        if identity == self._present():
            return
        if identity[0] == os.getpid():  # a connection of another process must not even be closed
            _close(connections)
        raise LedgerBroken(
            f"ledger {self.path}",
            "the file was replaced, or this process was forked without Python's knowledge, since it was opened",
            "Open the ledger again; after a restore, compare its head with one kept elsewhere.",
        )

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
        with _connecting:
            status = path.stat()
            file = status.st_dev, status.st_ino
            if not new and not _connected[file]:
                self._check_header()
            db = sqlite3.connect(
                where, 60, isolation_level=None, check_same_thread=False, factory=LedgerConnection, uri=True
            )
            db.counted(file)
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

    def _check_header(self) -> None:
        with open(self.path, "rb") as file:
            header = file.read(20)
        if not set(header[18:20]) <= {1, 2}:  # else SQLite would take the file for one that it may not write
            raise self._broken("its header is damaged")

    def _recognise(self, db: sqlite3.Connection) -> None:
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
    def told(self, connections: list[sqlite3.Connection]) -> Iterator[None]:
        """Say in the ledger's words what SQLite or the system could not do, and connect afresh next time."""
        try:
            yield
        except sqlite3.Error as why:
            _close(connections)
            code = getattr(why, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in DAMAGED:
                raise self._broken(str(why)) from why
            raise self._unable(why) from why
        except UnicodeDecodeError as why:
            _close(connections)
            raise self._broken("a text in it is none") from why
        except TimeoutError as why:
            remedy = "Let that process go on, or end it; then retry with the same key."
            raise LedgerError(f"ledger {self.path}", f"it is locked ({why})", remedy, WHOLE_OR_NOT) from why
        except OSError as why:
            _close(connections)
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


class LockedFile:
    """The lock of the file, held, and the connection that may write now."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @contextmanager
    def transaction(self) -> Iterator[FileEntries]:
        """All or nothing, and on disk when it ends."""
        with transaction(self._db) as db:
            entries = FileEntries(db)
            yield entries
            entries.write()


COLUMNS = "number, kind, key, body, hash"


@unheld("one call")
class FileEntries:
    """The entries of a file, in one transaction. What is added is written at its end, in one go."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._added: dict[tuple[str, str], ChainEntry] = {}
        self._results: dict[int, bytes] = {}

    def links(self, since: int) -> Iterator[ChainEntry]:
        rows = self.db.execute(f"select {COLUMNS} from entry where number >= ? order by number", (since,))
        return itertools.starmap(ChainEntry, rows)

    def newest(self, part: str) -> Generator[ChainEntry]:
        those = "kind = 'reserve' and instr(body, ?) > 0 order by number desc"
        yield from itertools.starmap(ChainEntry, self.db.execute(f"select {COLUMNS} from entry where {those}", (part,)))

    def found(self, kind: str, key: str) -> ChainEntry | None:
        if (kind, key) in self._added:
            return self._added[kind, key]
        row = self.db.execute(f"select {COLUMNS} from entry where kind = ? and key = ?", (kind, key)).fetchone()
        return ChainEntry(*row) if row else None

    def holds(self, head: str) -> bool:
        return self.db.execute("select 1 from entry where hash = ?", (head,)).fetchone() is not None

    def result(self, number: int) -> bytes | None:
        if number in self._results:
            return self._results[number]
        row = self.db.execute("select bytes from result where number = ?", (number,)).fetchone()
        return row[0] if row else None

    def results(self) -> Iterator[tuple[ChainEntry, bytes | None]]:
        both = f"select {COLUMNS}, bytes from entry left join result using (number)"
        for *columns, result in self.db.execute(f"{both} where kind = 'commit' or bytes is not null order by number"):
            yield ChainEntry(*columns), result

    def insert(self, link: ChainEntry) -> None:
        self._added[link.kind, link.key] = link

    def store(self, number: int, result: bytes) -> None:
        self._results[number] = result

    def write(self) -> None:
        """Send all that was added."""
        self.written(list(self._added.values()))
        self._rows("result(number, bytes)", list(self._results.items()))

    def written(self, links: list[ChainEntry]) -> None:
        """Send these entries."""
        self._rows(f"entry({COLUMNS})", [(link.number, link.kind, link.key, link.body, link.hash) for link in links])

    def _rows(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows, many in one statement: threads take turns after each. Where one is refused, the whole goes.

        So SQLite need not keep what it would undo of a statement alone.
        """
        left = iter(rows)
        for size in portions(len(rows)):
            some = [*itertools.islice(left, size)]
            marks = ", ".join(["(" + ", ".join("?" * len(some[0])) + ")"] * size)
            self.db.execute(f"insert or rollback into {table} values {marks}", [*itertools.chain.from_iterable(some)])


def portions(rows: int) -> list[int]:
    """How many rows each statement adds: powers of two, so that few different ones are prepared.

    Examples
    --------
    >>> portions(77)
    [32, 32, 8, 4, 1]
    """
    whole, rest = divmod(rows, MOST_ROWS)
    return [MOST_ROWS] * whole + [2**bit for bit in range(rest.bit_length() - 1, -1, -1) if rest >> bit & 1]


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


def _close(*lists: list[sqlite3.Connection]) -> None:
    for connections in lists:
        while connections:
            connections.pop().close()


if hasattr(os, "register_at_fork"):  # after the stores' own: a lock that is taken last is let go first
    os.register_at_fork(
        before=_connecting.acquire, after_in_parent=_connecting.release, after_in_child=_connecting.release
    )
