"""The entries of a ledger in PostgreSQL, in a schema of its own, shared by servers on many machines.

One transaction at a time decides: it holds an advisory lock of the chain. It commits without waiting for the disk, and
the lock is free for the next; before anybody is answered, one flush of the log has made all of it durable. PostgreSQL
gathers the flushes of all servers. What a crash takes back was told to nobody.
"""

from __future__ import annotations

import importlib
import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing, MissingExtra
from discreet.core.held import unheld
from discreet.ledger.anchor import Anchor
from discreet.ledger.chain import ChainEntry
from discreet.ledger.entry_store import WHOLE_OR_NOT, StoredEntries, ignored
from discreet.ledger.forked_store import ForkedStore

VERSION = 1
CHAIN = 0x64697363  # "disc": the first half of the lock's number
PATIENCE = 60  # seconds; the lock is usually held for milliseconds
TABLES = (
    "create table entry(number bigint primary key, kind text not null, key text not null, body text not null,"
    " hash text not null unique, unique (kind, key))",
    "create table result(number bigint primary key references entry(number), bytes bytea not null)",
    "create table kept(digest text primary key, bytes bytea not null)",
    "create table format(version integer not null)",
    f"insert into format values ({VERSION})",
)
COLUMNS = "number, kind, key, body, hash"


def _driver(asked: str) -> Any:
    try:
        return importlib.import_module("psycopg")
    except ImportError as why:
        raise MissingExtra(asked, "psycopg is not installed", "Run: pip install 'discreet[postgres-ledger]'.") from why


@unheld("own turns")
class PostgresStore(ForkedStore):
    """One process's access to a ledger in a database.

    Parameters
    ----------
    address : str
        Public. Of the database, as PostgreSQL's own programs take it; one with a password is not shown.
    account : str
        Public. The schema of the database that holds the ledger, and nothing else.
    anchor : path
        Where this server keeps the newest head that it saw: on a disk of its own, so that a database that was rolled
        back is noticed.
    """

    def __init__(self, address: str, account: str, anchor: str | os.PathLike[str]) -> None:
        self.address, self.account = address, account
        self.anchor = Anchor(Path(anchor).resolve())
        self._driver = _driver(f"ledger {account}")
        self.failures: tuple[type[Exception], ...] = (self._driver.Error, OSError)
        self._mutex, self._reader_mutex, self._flusher_mutex = threading.Lock(), threading.Lock(), threading.Lock()
        self._open: dict[str, Any] = {}
        self._process = os.getpid()
        self._finalizer = weakref.finalize(self, _close, self._open)
        super().__init__(self._mutex, self._reader_mutex, self._flusher_mutex)

    def __str__(self) -> str:
        return self.account

    def create(self, first: ChainEntry) -> None:
        """Make the schema, its tables and the first entry, where there is no such schema."""
        if self.anchor.path.exists():
            raise self._there_already(self.anchor.path.name)
        with self._mutex, self._told("writer"):
            db = self._connected(new=True)
            try:
                with db.transaction():
                    db.execute(self._composed("create schema {}"))
                    db.execute(self._composed("set local search_path to {}"))
                    for statement in TABLES:
                        db.execute(statement)
                    PostgresEntries(db).written([first])
            except (self._driver.errors.DuplicateSchema, self._driver.errors.UniqueViolation) as why:
                raise self._there_already("the schema") from why
            finally:
                db.close()

    @contextmanager
    def reading(self) -> Iterator[PostgresEntries]:
        """A consistent view; threads of this process take turns."""
        with self._mutex, self._view("writer") as entries:
            yield entries

    @contextmanager
    def apart(self) -> Iterator[PostgresEntries]:
        """A consistent view, beside threads of this process that write, too."""
        with self._reader_mutex, self._view("reader") as entries:
            yield entries

    @contextmanager
    def _view(self, name: str) -> Iterator[PostgresEntries]:
        with self._told(name):
            db = self._connection(name)
            with db.transaction():
                db.execute("set transaction isolation level repeatable read read only")
                yield PostgresEntries(db)

    @contextmanager
    def locked(self, meanwhile: Callable[[StoredEntries], None] = ignored) -> Iterator[PostgresStore]:
        """Hold the lock of this process; the lock among all is taken, and let go, by each transaction.

        Nothing is shown meanwhile: the connection that waits can do nothing else.
        """
        with self._mutex, self._told("writer"):
            yield self

    @contextmanager
    def transaction(self) -> Iterator[PostgresEntries]:
        """Hold the chain's lock, for one transaction that is durable after the next `flush`."""
        db = self._connection("writer")
        with db.transaction():
            db.execute(f"select pg_advisory_xact_lock({CHAIN}, 'entry'::regclass::oid::integer)")
            db.execute("set local synchronous_commit to off")
            entries = PostgresEntries(db)
            yield entries
            entries.write()

    def flush(self) -> None:
        """Wait until everything that was committed is on disk: a message in the log, committed as is usual."""
        with self._flusher_mutex, self._told("flusher"):
            self._connection("flusher").execute("select pg_logical_emit_message(true, 'discreet', '')")

    def check(self) -> None:
        """Nothing: PostgreSQL checks its pages as it reads them."""

    def keep(self, digest: str, data: bytes) -> None:
        """Keep what is too large for a result in a table of its own."""
        with self._reader_mutex, self._told("reader"):
            db = self._connection("reader")
            db.execute("insert into kept values (%s, %s) on conflict (digest) do nothing", (digest, data))

    def kept(self, digest: str) -> bytes | None:
        with self._reader_mutex, self._told("reader"):
            row = self._connection("reader").execute("select bytes from kept where digest = %s", (digest,)).fetchone()
            return bytes(row[0]) if row else None

    def all_kept(self) -> Iterator[str]:
        with self._reader_mutex, self._told("reader"):
            rows = self._connection("reader").execute("select digest from kept").fetchall()
        return (digest for (digest,) in rows)

    def close(self) -> None:
        with self._mutex, self._reader_mutex, self._flusher_mutex:
            self.disconnect()

    def disconnect(self) -> None:
        _close(self._open)

    def _connection(self, name: str) -> Any:
        if self._process != os.getpid():
            self._open.clear()  # those of another process must not even be closed
            self._process = os.getpid()
        if name not in self._open:
            self._open[name] = self._connected()
        return self._open[name]

    def _connected(self, new: bool = False) -> Any:
        db = self._driver.connect(self.address, autocommit=True, connect_timeout=PATIENCE, application_name="discreet")
        try:
            settings = {
                "synchronous_commit": "on",
                "client_encoding": "UTF8",
                "lock_timeout": f"{PATIENCE}s",
                "default_transaction_isolation": "read committed",  # what is read under the lock is newer than the lock
            }
            for setting, value in settings.items():
                db.execute("select set_config(%s, %s, false)", (setting, value))
            for setting, needed in (("fsync", "on"), ("server_encoding", "UTF8")):
                (found,) = db.execute("select current_setting(%s)", (setting,)).fetchone()
                if found != needed:
                    raise self._unable(f"its {setting} is {found}", f"Let the server run with {setting} = {needed}.")
            if not new:
                db.execute(self._composed("set search_path to {}"))
                self._recognise(db)
        except BaseException:
            db.close()
            raise
        return db

    def _recognise(self, db: Any) -> None:
        (present,) = db.execute("select to_regclass('format') is not null").fetchone()
        if not present:
            raise LedgerMissing(
                f"ledger {self.account}",
                "the database holds none of this name, and a lost account is not a fresh budget",
                "Restore it, or call PostgresLedger.create for data of which nothing was released.",
                account=self.account,
            )
        versions = [version for (version,) in db.execute("select version from format")]
        if versions != [VERSION]:
            obstacle = f"it is in format {versions}; this version reads format {VERSION}"
            raise LedgerBroken(f"ledger {self.account}", obstacle, "Use the release of discreet that wrote it.")

    def _composed(self, statement: str) -> Any:
        sql = importlib.import_module("psycopg.sql")
        return sql.SQL(statement).format(sql.Identifier(self.account))

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Say in the ledger's words what the database could not do, and connect afresh next time."""
        try:
            yield
        except self._driver.errors.LockNotAvailable as why:
            raise self._unable(f"another server has had it locked for {PATIENCE} seconds") from why
        except (self._driver.errors.UniqueViolation, self._driver.errors.UndefinedTable) as why:
            obstacle = f"the tables are not those of a whole ledger ({_first_line(why)})"
            raise LedgerBroken(f"ledger {self.account}", obstacle, "Restore the newest copy.", WHOLE_OR_NOT) from why
        except self.failures as why:
            if name in self._open:
                _close_one(self._open.pop(name))
            raise self._unable(f"the database cannot be used ({_first_line(why)})") from why

    def _unable(self, obstacle: str, remedy: str = "Mend that, then retry with the same key.") -> LedgerError:
        return LedgerError(f"ledger {self.account}", obstacle, remedy, WHOLE_OR_NOT)

    def _there_already(self, what: str) -> LedgerError:
        obstacle = f"{what} is there already, and an account is never started over"
        return LedgerError(
            f"new ledger {self.account}", obstacle, "Open the ledger that is there, or give another name."
        )


@unheld("one call")
class PostgresEntries:
    """The entries of a database, in one transaction. What is added is written at its end, in one go."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self._added: dict[tuple[str, str], ChainEntry] = {}
        self._results: dict[int, bytes] = {}

    def links(self, since: int) -> Iterator[ChainEntry]:
        with self._db.cursor(binary=True) as cursor:
            cursor.execute(f"select {COLUMNS} from entry where number >= %s order by number", (since,))
            for row in cursor:
                yield ChainEntry(*row)

    def newest(self, part: str) -> Generator[ChainEntry]:
        those = "kind = 'reserve' and position(%s in body) > 0 order by number desc"
        with self._db.cursor(name="newest") as cursor:
            cursor.execute(f"select {COLUMNS} from entry where {those}", (part,))
            for row in cursor:
                yield ChainEntry(*row)

    def found(self, kind: str, key: str) -> ChainEntry | None:
        if (kind, key) in self._added:
            return self._added[kind, key]
        row = self._one(f"select {COLUMNS} from entry where kind = %s and key = %s", kind, key)
        return ChainEntry(*row) if row else None

    def holds(self, head: str) -> bool:
        return self._one("select 1 from entry where hash = %s", head) is not None

    def result(self, number: int) -> bytes | None:
        if number in self._results:
            return self._results[number]
        row = self._one("select bytes from result where number = %s", number)
        return bytes(row[0]) if row else None

    def results(self) -> Iterator[tuple[ChainEntry, bytes | None]]:
        both = f"select {COLUMNS}, bytes from entry left join result using (number)"
        rows = self._db.execute(f"{both} where kind = 'commit' or bytes is not null order by number")
        for *columns, result in rows:
            yield ChainEntry(*columns), None if result is None else bytes(result)

    def insert(self, link: ChainEntry) -> None:
        self._added[link.kind, link.key] = link

    def store(self, number: int, result: bytes) -> None:
        self._results[number] = result

    def write(self) -> None:
        """Send all that was added."""
        self.written(list(self._added.values()))
        if self._results:
            with self._db.cursor() as cursor:
                cursor.executemany("insert into result values (%s, %s)", list(self._results.items()))

    def written(self, links: list[ChainEntry]) -> None:
        """Send these entries."""
        if links:
            rows = [(link.number, link.kind, link.key, link.body, link.hash) for link in links]
            with self._db.cursor() as cursor:
                cursor.executemany(f"insert into entry({COLUMNS}) values (%s, %s, %s, %s, %s)", rows)

    def _one(self, statement: str, *values: Any) -> Any:
        return self._db.execute(statement, values).fetchone()


def _close(connections: dict[str, Any]) -> None:
    while connections:
        _close_one(connections.popitem()[1])


def _close_one(connection: Any) -> None:
    closing: Callable[[], None] = connection.close
    closing()


def _first_line(why: Exception) -> str:
    return str(why).strip().partition("\n")[0] or type(why).__name__
