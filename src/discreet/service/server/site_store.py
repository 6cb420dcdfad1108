"""What a site remembers beside its ledgers: hashes of keys and of sessions, questions, and what became of them.

It holds no record and no result: results are in the ledgers. A question is written down before it is asked, so that
what was paid for can be given again, and what waits goes on after a restart. What is lost with this file is never a
charge.
"""

from __future__ import annotations

import heapq
import json
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discreet.core.held import unheld

TABLES = """
create table if not exists api_key(id text primary key, user text not null, salt blob not null, hash blob not null,
  until real, revoked integer not null default 0);
create table if not exists session(hash text primary key, user text not null, csrf text not null, until real not null);
create table if not exists asked(id text primary key, user text not null, data text not null, key text not null,
  question text not null, epsilon real not null, delta real not null, state text not null, why text not null,
  day text not null, unique(user, data, key));
create table if not exists frozen(data text primary key, reason text not null, by text not null);
"""
STATES = ("asked", "waiting", "queued", "running", "done", "denied", "failed", "dangling")
UNDONE = ("asked", "running", "failed", "dangling", "queued")
UNSEEN = 0.02  # seconds in which another process may change the file before this one looks
LATE = 0.05  # seconds between two looks at which states that nobody asked for are to be on disk
MOST_ROWS = 64  # questions that are written down at once
UNREAD = "", ""  # of a data set whose freezing was not looked up
Key = tuple[str, bytes, bytes, float | None]


@dataclass(frozen=True)
class AskedEntry:
    """A question that somebody asked, and what became of it.

    Parameters
    ----------
    id : str
        Nobody can guess it.
    user, data, key : str
        Who asked, what, and under which key.
    question : str
        In its plain form, as JSON.
    epsilon, delta : float
        What it may cost.
    state : str
        "asked" (at once), "waiting" (for a curator), "queued", "running", "done", "denied", "failed", "dangling".
    why : str
        What a curator or a refusal said.
    day : str
        When it was asked.
    """

    id: str
    user: str
    data: str
    key: str
    question: str
    epsilon: float
    delta: float
    state: str
    why: str
    day: str

    @property
    def plain(self) -> Any:
        """The question in its plain form."""
        return json.loads(self.question)


@unheld("one call")
class NewEntry:
    """A question that waits to be written down, and what is found to be written then."""

    __slots__ = ("entry", "found")

    def __init__(self, entry: AskedEntry) -> None:
        self.entry = entry
        self.found: AskedEntry | None = None


@unheld("own turns")
class SiteStore:
    """The file of a site's own memory; one process has it open at a time.

    Parameters
    ----------
    path : Path
        Of the file; made where there is none, for its owner alone.
    """

    def __init__(self, path: Path) -> None:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._mutex = threading.Lock()
        self._lock = threading.Condition(self._mutex)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        self._db.executescript(TABLES)
        self._keys: dict[str, Key] = {}
        self._frozen: dict[str, tuple[str, str] | None] = {}
        self._version, self._looked = -1, 0.0
        self._due: list[tuple[float, str]] = []
        self._told: deque[tuple[float, str]] = deque()  # what is not in its order yet
        self._new: deque[NewEntry] = deque()
        self._resting = True
        self._settling: threading.Thread | None = None
        self._closed = False

    def close(self) -> None:
        """Let go of the file, once all answers that were made have left."""
        with self._lock:
            self._closed, settling = True, self._settling
            self._lock.notify_all()
        if settling is not None:
            settling.join()
        with self._lock:
            self._db.close()

    @contextmanager
    def _turn(self) -> Iterator[sqlite3.Connection]:
        with self._mutex:
            yield self._db

    def add_key(self, id: str, user: str, salt: bytes, digest: bytes, until: float | None) -> None:
        """Keep what a key is recognised by."""
        with self._turn() as db:
            sql = "insert into api_key(id, user, salt, hash, until) values (?,?,?,?,?)"
            db.execute(sql, (id, user, salt, digest, until))

    def key(self, id: str) -> Key | None:
        """User, salt, hash and end of a key that is not revoked."""
        known = self._keys.get(id)
        if known is not None and time.monotonic() < self._looked + UNSEEN:
            return known
        with self._turn() as db:
            self._look(db)
            if (known := self._keys.get(id)) is not None:
                return known
            sql = "select user, salt, hash, until from api_key where id = ? and not revoked"
            found: Key | None = db.execute(sql, (id,)).fetchone()
            if found is not None:
                self._keys[id] = found
            return found

    def _look(self, db: sqlite3.Connection) -> None:
        """Forget what was read of keys and freezes once another process may have changed it."""
        now = time.monotonic()
        if now < self._looked + UNSEEN:
            return
        self._looked = now
        (version,) = db.execute("pragma data_version").fetchone()
        if version != self._version:
            self._version = version
            self._keys.clear()
            self._frozen.clear()

    def end_key(self, id: str) -> None:
        """End a key that has expired."""
        with self._turn() as db:
            self._keys.clear()
            db.execute("update api_key set revoked = 1 where id = ?", (id,))

    def revoke_keys(self, user: str) -> int:
        """End all keys and sessions of a user."""
        with self._turn() as db:
            self._keys.clear()
            db.execute("delete from session where user = ?", (user,))
            return db.execute("update api_key set revoked = 1 where user = ? and not revoked", (user,)).rowcount

    def add_session(self, digest: str, user: str, csrf: str, until: float) -> None:
        """Keep what a session is recognised by."""
        with self._turn() as db:
            db.execute("insert into session values (?,?,?,?)", (digest, user, csrf, until))

    def session(self, digest: str) -> tuple[str, str, float] | None:
        """User, token against forgery, and end of a session."""
        with self._turn() as db:
            sql = "select user, csrf, until from session where hash = ?"
            return db.execute(sql, (digest,)).fetchone()

    def end_session(self, digest: str) -> None:
        """Forget a session."""
        with self._turn() as db:
            db.execute("delete from session where hash = ?", (digest,))

    def end_old_sessions(self, now: float) -> None:
        """Forget sessions that are over."""
        with self._turn() as db:
            db.execute("delete from session where until < ?", (now,))

    def add_asked(self, entry: AskedEntry) -> AskedEntry:
        """Write a question down; the one that is there already, where this user used its key before.

        Whoever has the turn writes down what all who wait for theirs have asked.
        """
        new = NewEntry(entry)
        self._new.append(new)
        with self._turn() as db:
            if new.found is None:
                self._write_new(db, new)
        assert new.found is not None
        return new.found

    def _write_new(self, db: sqlite3.Connection, own: NewEntry) -> None:
        """Write down questions that were not yet, this one among them; where that fails, all others are tried again."""
        taken = [self._new.popleft() for _ in range(len(self._new))]
        while taken:
            some, taken = taken[:MOST_ROWS], taken[MOST_ROWS:]
            try:
                self._write_some(db, some)
            except BaseException:
                self._new.extendleft(reversed([one for one in (*some, *taken) if one is not own]))
                raise

    def _write_some(self, db: sqlite3.Connection, new: list[NewEntry]) -> None:
        marks = ",".join(["(?,?,?,?,?,?,?,?,?,?)"] * len(new))
        values = [value for one in new for value in vars(one.entry).values()]
        if db.execute(f"insert or ignore into asked values {marks}", values).rowcount == len(new):
            for one in new:
                one.found = one.entry
            return
        self._settle(db)
        for one in new:
            place = one.entry.user, one.entry.data, one.entry.key
            row = db.execute("select * from asked where user = ? and data = ? and key = ?", place).fetchone()
            one.found = AskedEntry(*row)

    def done_at(self, id: str, due: float) -> None:
        """Say that a question is done from this moment on: whoever looks at states sees it so."""
        self._told.append((due, id))
        if self._resting:
            with self._lock:
                if self._settling is None and not self._closed:
                    self._settling = threading.Thread(target=self._settle_late, daemon=True, name="states")
                    self._settling.start()
                self._lock.notify_all()

    def _settle(self, db: sqlite3.Connection) -> None:
        """Write down, all at once, which questions are done by now."""
        now, done = time.monotonic(), []
        while self._told:
            heapq.heappush(self._due, self._told.popleft())
        while self._due and self._due[0][0] <= now:
            done.append(heapq.heappop(self._due)[1])
        if done:
            states = ",".join(f"'{state}'" for state in UNDONE)
            sql = f"update asked set state = 'done', why = '' where state in ({states}) and id in"
            try:
                db.execute(f"{sql} (select value from json_each(?))", (json.dumps(done),))
            except sqlite3.Error:
                self._told.extend((now, id) for id in done)  # it is written down next time
                raise

    def _settle_late(self) -> None:
        """Write down what nobody looked at: a little later than it could be, so that one transaction serves many."""
        with self._lock:
            while True:
                self._resting = True
                if not self._due and not self._told:
                    if self._closed:
                        return
                    self._lock.wait()
                self._resting = False
                self._lock.wait(LATE)
                try:
                    self._settle(self._db)
                except sqlite3.Error:  # locked for too long, or a full disk
                    if self._closed:
                        return  # the ledger knows, and the next start looks there

    def asked(
        self, user: str | None = None, data: str | None = None, state: str | None = None, most: int = -1
    ) -> list[AskedEntry]:
        """Questions, the newest first: those of a user, of a data set, in a state; at most so many."""
        given = {"user": user, "data": data, "state": state}
        wanted = {name: value for name, value in given.items() if value is not None}
        where = " and ".join(f"{name} = ?" for name in wanted) or "1"
        with self._turn() as db:
            self._settle(db)
            sql = f"select * from asked where {where} order by rowid desc limit ?"
            return [AskedEntry(*row) for row in db.execute(sql, (*wanted.values(), most))]

    def counted(self, by: Literal["user", "state"], user: str | None = None) -> dict[str, int]:
        """How many questions there are of each user, or in each state; of one user, where one is named."""
        with self._turn() as db:
            self._settle(db)
            sql = f"select {by}, count(*) from asked where ? is null or user = ? group by {by}"
            return dict(db.execute(sql, (user, user)))

    def asked_by_id(self, id: str) -> AskedEntry | None:
        """The question with this identifier."""
        with self._turn() as db:
            self._settle(db)
            row = db.execute("select * from asked where id = ?", (id,)).fetchone()
            return None if row is None else AskedEntry(*row)

    def asked_by_key(self, user: str, data: str, key: str) -> AskedEntry | None:
        """The question that a user asked under a key."""
        with self._turn() as db:
            self._settle(db)
            sql = "select * from asked where user = ? and data = ? and key = ?"
            row = db.execute(sql, (user, data, key)).fetchone()
            return None if row is None else AskedEntry(*row)

    def moved(self, id: str, before: tuple[str, ...], state: str, why: str = "") -> bool:
        """Bring a question from one of these states to another; False where it is in none of them any more."""
        marks = ",".join("?" * len(before))
        with self._turn() as db:
            self._settle(db)
            sql = f"update asked set state = ?, why = ? where id = ? and state in ({marks})"
            return db.execute(sql, (state, why, id, *before)).rowcount == 1

    def forget(self, id: str) -> None:
        """Forget a question that was refused before it was charged: its key can be used for another."""
        with self._turn() as db:
            db.execute("delete from asked where id = ? and state = 'asked'", (id,))

    def freeze(self, data: str, reason: str, by: str) -> None:
        """Let nobody ask a data set."""
        with self._turn() as db:
            self._frozen.clear()
            db.execute("insert or replace into frozen values (?,?,?)", (data, reason, by))

    def thaw(self, data: str) -> None:
        """Let it be asked again."""
        with self._turn() as db:
            self._frozen.clear()
            db.execute("delete from frozen where data = ?", (data,))

    def frozen(self, data: str) -> tuple[str, str] | None:
        """Why a data set is not asked, and who said so; None where it is."""
        known = self._frozen.get(data, UNREAD)  # one look: what is remembered may be forgotten meanwhile
        if known != UNREAD and time.monotonic() < self._looked + UNSEEN:
            return known
        with self._turn() as db:
            self._look(db)
            if data not in self._frozen:
                sql = "select reason, by from frozen where data = ?"
                self._frozen[data] = db.execute(sql, (data,)).fetchone()
            return self._frozen[data]
