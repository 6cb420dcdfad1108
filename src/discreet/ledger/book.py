"""The book: a chain of entries in its file, held to its anchor."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.errors import KeyReused, LedgerBroken, LedgerError, UncommittedCharge
from discreet.core.events import Event, written
from discreet.core.held import unheld
from discreet.core.ledger import Committed, Entry
from discreet.ledger.anchor import Anchor, AnchoredHead
from discreet.ledger.chain import BEFORE_ALL, Chain, ChainEntry, RecomputedChain, canonical, day, entry, sealed
from discreet.ledger.ledger_file import LedgerFile, found, insert, links, transaction
from discreet.ledger.own_file import read_own, replace_own


def request_digest(event: Event, request: bytes | str, analyst: str | None) -> str:
    """What identifies a request under a key."""
    raw = request.encode() if isinstance(request, str) else request
    text = canonical([written(event), hashlib.sha256(raw).hexdigest(), analyst])
    return hashlib.sha256(text.encode()).hexdigest()


def result_digest(result: bytes) -> str:
    """What an entry keeps of a result."""
    return hashlib.sha256(result).hexdigest()


def paid(reserved: ChainEntry, done: ChainEntry | None, digest: str) -> ChainEntry:
    """The commit that this request, sent again, is answered with."""
    asked = f"key {reserved.key}"
    if reserved.fields["request"] != digest:
        raise KeyReused(asked, "it belongs to another request", "Use a new key for a new request.", key=reserved.key)
    if done is None:
        raise UncommittedCharge(
            asked,
            "it was charged and has no result yet; whoever charged it may still be at work, or died",
            "Wait, or ask with a new key, which is charged anew.",
            "The charge stays spent, and nothing was handed out for it.",
            key=reserved.key,
        )
    return done


def check_same(done: ChainEntry, result: bytes) -> None:
    """Refuse a second result for the same charge."""
    if done.fields["result"] != result_digest(result):
        raise KeyReused(
            f"commit {done.key}",
            "it was committed with another result, and one charge pays for one result",
            "Hand out the stored result, or reserve anew.",
            key=done.key,
        )


def committed(link: ChainEntry, result: bytes, replayed: bool) -> Committed:
    """The commit as its caller sees it."""
    fields = link.fields
    return Committed(link.key, link.number, link.hash, day(fields["at"]), result, replayed, fields.get("stated"))


@unheld("one call")
@dataclass
class BookPage:
    """One transaction: what it finds, and the entry that it adds, if any.

    The entry is durable at its end in any case; `anchor_durable` is whether its mark beside the file is too. If not,
    a power cut may leave the mark behind the chain, which is safe.
    """

    db: sqlite3.Connection
    chain: Chain
    anchor_durable: bool = True
    added: ChainEntry | None = field(default=None, init=False)

    def found(self, kind: str, key: str) -> ChainEntry | None:
        """The reservation or commit of this key; what SQLite finds must be what the chain holds."""
        link = found(self.db, kind, key)
        if (link is not None) != self.chain.holds(kind, key):
            raise _rolled_back(f"the {kind} of key {key} is in its chain or in its index, and not in both")
        return link

    def result(self, commit: ChainEntry) -> bytes:
        """The bytes that were committed."""
        row = self.db.execute("select bytes from result where number = ?", (commit.number,)).fetchone()
        return checked(commit, row[0] if row else None)

    def add(self, kind: str, key: str, **fields: Any) -> ChainEntry:
        """Append an entry; it counts when the transaction ends."""
        self.added = sealed(self.chain.head, self.chain.number + 1, kind, key, **fields)
        insert(self.db, self.added)
        return self.added

    def store(self, commit: ChainEntry, result: bytes) -> None:
        """Keep the bytes that an entry commits."""
        self.db.execute("insert into result(number, bytes) values (?, ?)", (commit.number, result))


@dataclass(frozen=True)
class Verified:
    """What a whole ledger holds."""

    entries: int
    dangling: int
    head: str


class Book:
    """All entries of a ledger, checked once when they are first seen.

    Every transaction first follows what others added since the last one, and sees that what it saw before is still
    there and that the anchored head occurs in the chain.
    """

    def __init__(self, file: LedgerFile) -> None:
        self.file = file
        self.anchor = Anchor(file.beside(".head"))
        self.chain = Chain()

    def create(self, **fields: Any) -> None:
        """Write the first entry of a new book."""
        for path in (self.file.path, self.anchor.path, self.file.beside("-wal")):
            if path.exists():
                raise LedgerError(
                    f"new ledger {self.file.path}",
                    f"{path.name} is there already, and an account is never started over",
                    "Open the ledger that is there, or give another path.",
                )
        first = sealed(BEFORE_ALL, 0, "open", "", **fields)
        self.file.create(first)
        self.chain.follow(first)
        self.anchor.create(self._mark)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A consistent view of everything recorded so far."""
        with self.file.reading() as db:
            self._catch_up(db, self.anchor.read())
            yield db

    @contextmanager
    def writing(self) -> Iterator[BookPage]:
        """Hold the lock to decide on one entry and add it: all of it durable at the end, or none."""
        with self.file.locked() as db:
            page = BookPage(db, self.chain)
            with transaction(db):
                self._catch_up(db, self.anchor.read())
                yield page
            if page.added:
                self.chain.follow(page.added)
            self.anchor.advance(self._mark, durable=page.anchor_durable)

    def reanchor(self, head: str, reason: str) -> None:
        """Record that the owner trusts the chain, and write the anchor anew; one that contradicts the chain stays."""
        with self.file.locked() as db:
            with transaction(db):
                self._catch_up(db, self.anchor.read() if self.anchor.usable else None)
                expect(db, head)
                page = BookPage(db, self.chain)
                link = page.add("reanchor", self.chain.head, trusted=head, reason=reason)
            self.chain.follow(link)
            self.anchor.create(self._mark)

    def entries(self) -> tuple[Entry, ...]:
        with self.reading() as db:
            dangling = self.chain.dangling
            return tuple(entry(link, link.key not in dangling) for link in links(db, 0) if link.kind == "reserve")

    def keep(self, data: bytes) -> None:
        """Keep what is too large for a result, which names it by its digest, in a folder beside the file."""
        with self.file.told():
            self._folder.mkdir(mode=0o700, exist_ok=True)
            replace_own(self._folder / result_digest(data), data)

    def kept(self, digest: str) -> bytes | None:
        """What was kept under a digest, None where it is gone."""
        try:
            return _read_kept(self._folder / digest)
        except OSError:
            return None

    @property
    def _folder(self) -> Path:
        return self.file.beside(".kept")

    def verify(self, expected_head: str | None = None) -> Verified:
        """Check everything again from the first entry on, every price and every stored result too."""
        with self.file.reading() as db:
            mark = self.anchor.read()
            problems = [text for (text,) in db.execute("pragma integrity_check")]
            if problems != ["ok"]:
                raise LedgerBroken(f"ledger {self.file.path}", f"SQLite finds: {problems[0]}", "Restore a copy.")
            self._catch_up(db, mark)
            again = RecomputedChain()
            for link in links(db, 0):
                again.follow(link)
            _check_results(db)
            for path in self._folder.glob("[0-9a-f]*"):
                _read_kept(path)
            if expected_head is not None:
                expect(db, expected_head)
            return Verified(again.number + 1, len(again.dangling), again.head)

    @property
    def _mark(self) -> AnchoredHead:
        return AnchoredHead(self.chain.number, self.chain.head)

    def _catch_up(self, db: sqlite3.Connection, mark: AnchoredHead | None) -> None:
        since = links(db, self.chain.number)
        if self.chain.number >= 0:
            last = next(since, None)
            if last is None or last.hash != self.chain.head:
                raise _rolled_back(f"entry {self.chain.number}, which was seen before, is gone")
        for link in since:
            self.chain.follow(link)
        if self.chain.number < 0:
            raise _rolled_back("there is no entry")
        if mark and not _holds(db, mark.head):
            raise _rolled_back(f"it ends at entry {self.chain.number} and lacks the anchored entry {mark.number}")


def expect(db: sqlite3.Connection, head: str) -> None:
    """Insist that a head kept elsewhere occurs in the chain."""
    if not _holds(db, head):
        raise _rolled_back(f"the expected head {head[:12]}... does not occur in it")


def _holds(db: sqlite3.Connection, head: str) -> bool:
    return db.execute("select 1 from entry where hash = ?", (head,)).fetchone() is not None


def _check_results(db: sqlite3.Connection) -> None:
    """Every commit has its result, and no result is without one."""
    commits = "select number, kind, key, body, hash, bytes from entry left join result using (number)"
    for *columns, result in db.execute(f"{commits} where kind = 'commit' or bytes is not null order by number"):
        checked(ChainEntry(*columns), result)


def checked(commit: ChainEntry, result: bytes | None) -> bytes:
    """The result, if it is the one that the entry committed."""
    if result is None or result_digest(result) != commit.fields.get("result"):
        raise LedgerBroken(
            f"ledger entry {commit.number}",
            "the stored result is not the one that was committed",
            "Restore the newest intact copy.",
            entry=commit.number,
        )
    return result


def _read_kept(path: Path) -> bytes:
    """What was kept, if it has the digest still that it is called by."""
    digest, data = path.name, read_own(path, f"kept result {path}", 0, path.stat().st_size)
    if result_digest(data) != digest:
        obstacle = "it is not what was kept under its digest"
        raise LedgerBroken(f"kept result {digest[:12]}...", obstacle, "Restore the newest intact copy.", digest=digest)
    return data


def _rolled_back(obstacle: str) -> LedgerBroken:
    return LedgerBroken(
        "ledger",
        f"{obstacle}: it was damaged, cut, rolled back or exchanged",
        "Restore the newest copy of the file, its -wal and its .head; an older one would spend the same budget twice.",
    )
