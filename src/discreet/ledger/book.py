"""The book: a chain of entries in its file, held to its anchor."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Any, TypeVar

from discreet.core.errors import KeyReused, LedgerBroken, UncommittedCharge
from discreet.core.events import Event, written
from discreet.core.held import unheld
from discreet.core.ledger import Entry
from discreet.ledger.account import Scope
from discreet.ledger.anchor import AnchoredHead
from discreet.ledger.chain import BEFORE_ALL, Chain, ChainEntry, canonical, entry, sealed
from discreet.ledger.entry_store import EntryStore, StoredEntries, Turn, rolled_back
from discreet.ledger.turns import WaitingDecision, WriterTurns

Value = TypeVar("Value")
BEFORE_ANY = AnchoredHead(-1, BEFORE_ALL)


def request_digest(event: Event, request: bytes | str, scope: Scope) -> str:
    """What identifies a request under a key. What came later is left out where it says nothing."""
    raw = request.encode() if isinstance(request, str) else request
    text = canonical(
        [written(event), hashlib.sha256(raw).hexdigest(), scope.analyst, *([scope.fields] if scope.fields else [])]
    )
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


@unheld("one call")
class BookPage:
    """One transaction: what it finds, and the entries that it adds. Each is followed into the chain at once.

    Parameters
    ----------
    stored : StoredEntries
        What the store holds.
    chain : Chain
        What it adds up to; as it was before if the transaction does not end (`undo`).
    """

    def __init__(self, stored: StoredEntries, chain: Chain) -> None:
        self.stored, self.chain = stored, chain
        self.added: list[ChainEntry] = []
        self.handed = -1
        """The newest commit whose result somebody is told."""
        self._before = chain.mark()

    def found(self, kind: str, key: str) -> ChainEntry | None:
        """The reservation or commit of this key, if the chain holds one; then the store must find it.

        What the chain does not hold is not looked for: a store that has it all the same refuses it when it is added.
        """
        if not self.chain.holds(kind, key):
            return None
        if (link := self.stored.found(kind, key)) is None:
            raise rolled_back(f"the {kind} of key {key} is in its chain and not in its index")
        return link

    def result(self, commit: ChainEntry) -> bytes:
        """The bytes that were committed, to be handed out."""
        self.handed = max(self.handed, commit.number)
        return checked(commit, self.stored.result(commit.number))

    def add(self, kind: str, key: str, **fields: Any) -> ChainEntry:
        """Append an entry; it counts when the transaction ends."""
        link = sealed(self.chain.head, self.chain.number + 1, kind, key, since=self.chain.day, **fields)
        self.stored.insert(link)
        self.added.append(link)
        self.chain.follow(link)
        return link

    def store(self, commit: ChainEntry, result: bytes) -> None:
        """Keep the bytes that an entry commits."""
        self.stored.store(commit.number, result)

    def decide(self, decision: WaitingDecision[Any], failures: tuple[type[Exception], ...]) -> None:
        """Let one thread decide: a refusal is its own; what stopped an entry half-way stops everybody."""
        before = len(self.added)
        try:
            decision.value = decision.decide(self)
        except failures:
            raise
        except Exception as refusal:
            if len(self.added) > before:
                raise
            decision.error = refusal

    def undo(self) -> None:
        """Take the chain back to where it was."""
        self.chain.back_to(self._before, self.added)


@dataclass(frozen=True)
class Settled:
    """A charge, its commit and the bytes that it paid for."""

    reserved: ChainEntry
    done: ChainEntry
    result: bytes


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

    shared = True  # others may wait for its lock

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self.chain = Chain()
        self.turns = WriterTurns()
        self._durable, self._stale = BEFORE_ANY, False
        self._anchored = -1  # the newest entry that the anchor is known to hold on disk

    def create(self, **fields: Any) -> None:
        """Write the first entry of a new book."""
        first = sealed(BEFORE_ALL, 0, "open", "", **fields)
        self.store.create(first)
        self.chain.follow(first)
        self.store.anchor.create(self.mark)

    def join(self, head: str) -> None:
        """Make an anchor where a store has none yet that is shared with others, given a head that they know."""
        with self.store.reading() as stored, self._trusted():
            self._catch_up(stored, None)
            expect(stored, head)
            self._flush()
            self.store.anchor.create(self.mark)

    @contextmanager
    def reading(self) -> Iterator[StoredEntries]:
        """A consistent view of everything recorded so far."""
        with self.store.reading() as stored:
            with self._trusted():
                self._catch_up(stored, self.store.anchor.read())
                self._flush()
            yield stored

    @contextmanager
    def _trusted(self) -> Iterator[None]:
        """Where something fails before all that was followed is known to be on disk, follow it anew next time."""
        try:
            yield
        except BaseException:
            self._stale = self._durable.number != self.chain.number
            raise

    def decided(self, decide: Callable[[BookPage], Value], *, lasting: bool = True) -> Value:
        """What comes of deciding on the newest page, once all that was added for it is on disk.

        Parameters
        ----------
        decide : callable
            Adds its entries, or raises. Other threads' decisions may be made in the same transaction, one by one.
        lasting : bool
            Whether the mark beside the ledger is on disk too. If not, a power cut may leave it behind the chain: fine
            where nothing is handed out. What is read with `BookPage.result` always waits for it.
        """
        return self.turns.decided(WaitingDecision(decide, lasting), self._lead)

    def _lead(self, take: Callable[[], list[WaitingDecision[Any]]]) -> None:
        """Decide for all who wait. The mark is put on disk once other processes may write: theirs is newer."""
        with self.store.locked(self._follow_ahead) as turn, self._trusted():
            decisions = take()
            before, page = self._written(turn, decisions)
            self._flush()
            reached = self.mark
            if reached.number > before.number:
                self.store.anchor.advance(reached)
        told = reached.number if any(each.lasting for each in decisions) else page.handed
        if told > self._anchored:
            self._anchor_synced(reached)

    def _follow_ahead(self, stored: StoredEntries) -> None:
        """Follow what another process writes while it has the lock: what is left for this one's turn is little."""
        with self._trusted():
            self._catch_up(stored, None)

    def _anchor_synced(self, mark: AnchoredHead) -> None:
        """Put on disk what the anchor holds, this mark or a newer one, before anybody is told what it speaks for."""
        self.store.anchor.sync()
        self._anchored = max(self._anchored, mark.number)

    def _written(self, turn: Turn, decisions: list[WaitingDecision[Any]]) -> tuple[AnchoredHead, BookPage]:
        """Make all decisions in one transaction; where the anchor was before, and what was added."""
        page: BookPage | None = None
        try:
            with turn.transaction() as stored:
                before = self.store.anchor.read()
                self._catch_up(stored, before)
                page = BookPage(stored, self.chain)
                for decision in decisions:
                    page.decide(decision, self.store.failures)
        except BaseException:
            if page is not None:
                page.undo()
            raise
        return before, page

    def settled(self, key: str) -> Settled | None:
        """What a key paid for, read beside whoever writes; None where that, or its anchor, has to wait for its turn."""
        if not self.chain.holds("commit", key):
            return None
        seen = self._durable
        with self.store.apart() as stored:
            if not stored.holds(seen.head):
                raise rolled_back(f"entry {seen.number}, which was seen before, is gone")
            reserved, done = stored.found("reserve", key), stored.found("commit", key)
            if reserved is None or done is None or done.number > seen.number:
                return None  # decided and not yet on disk: its turn will tell
            if done.number > self._anchored:
                mark = self.store.anchor.read()
                if done.number > mark.number:
                    return None  # whoever wrote it died, or has not come to it
                self._anchor_synced(mark)
            return Settled(reserved, done, checked(done, stored.result(done.number)))

    def reanchor(self, head: str, reason: str) -> None:
        """Record that the owner trusts the chain, and write the anchor anew; one that contradicts the chain stays."""
        with self.store.locked() as turn, self._trusted():
            with turn.transaction() as stored:
                self._catch_up(stored, self.store.anchor.read() if self.store.anchor.usable else None)
                expect(stored, head)
            page: BookPage | None = None
            try:
                with turn.transaction() as stored:
                    page = BookPage(stored, self.chain)
                    page.add("reanchor", self.chain.head, trusted=head, reason=reason)
            except BaseException:
                if page is not None:
                    page.undo()
                raise
            self._flush()
            self.store.anchor.create(self.mark)

    def entries(self, since: int = 0) -> tuple[Entry, ...]:
        with self.reading() as stored:
            dangling = self.chain.dangling
            links = stored.links(since)
            return tuple(entry(link, link.key not in dangling) for link in links if link.kind == "reserve")

    def latest(self, most: int, analyst: str | None = None) -> tuple[Entry, ...]:
        """The newest charges, those of one analyst where one is named, oldest first."""
        part = "" if analyst is None else f'"analyst":{canonical(analyst)}'
        with self.reading() as stored, closing(stored.newest(part)) as links:
            own = (link for link in links if analyst is None or link.fields["analyst"] == analyst)
            found = [entry(link, link.key not in self.chain.dangling) for link in islice(own, most)]
        return tuple(reversed(found))

    def dangling(self) -> tuple[Entry, ...]:
        """Charges that have no result, oldest first."""
        with self.reading() as stored:
            links = (stored.found("reserve", key) for key in self.chain.dangling)
            return tuple(sorted((entry(one, False) for one in links if one), key=attrgetter("number")))

    def links(self) -> tuple[ChainEntry, ...]:
        """Every entry as it is stored."""
        with self.reading() as stored:
            return tuple(stored.links(0))

    def keep(self, data: bytes) -> None:
        """Keep what is too large for a result, which names it by its digest."""
        self.store.keep(result_digest(data), data)

    def kept(self, digest: str) -> bytes | None:
        """What was kept under a digest, None where it is gone."""
        return checked_kept(digest, self.store.kept(digest))

    def verify(self, expected_head: str | None = None) -> Verified:
        """Check everything again from the first entry on, every price and every stored result too."""
        self.store.check()
        with self.store.reading() as stored, self._trusted():
            again = Chain()
            for link in stored.links(0):
                again.follow(link, anew=True)
            if self.chain.number < 0:
                self._begin_from(again)
            self._catch_up(stored, self.store.anchor.read())
            self._flush()
            for link, result in stored.results():
                checked(link, result)
            for digest in self.store.all_kept():
                self.kept(digest)
            if expected_head is not None:
                expect(stored, expected_head)
            return Verified(again.number + 1, len(again.dangling), again.head)

    @property
    def mark(self) -> AnchoredHead:
        """Where the chain stands."""
        return AnchoredHead(self.chain.number, self.chain.head)

    def _flush(self) -> None:
        """See to it that all entries that were followed are on disk, and note so."""
        if self._durable.number != self.chain.number:
            self.store.flush()
            self._durable = self.mark

    def _catch_up(self, stored: StoredEntries, mark: AnchoredHead | None) -> None:
        """Follow what others added; all anew where entries may be gone that were told to nobody."""
        chain = Chain() if self._stale else self.chain
        since = stored.links(chain.number)
        if chain.number >= 0:
            last = next(since, None)
            if last is None or last.hash != chain.head:
                raise rolled_back(f"entry {chain.number}, which was seen before, is gone")
        for link in since:
            chain.follow(link)
        if chain.number < 0:
            raise rolled_back("there is no entry")
        if mark and mark.head != chain.head and not stored.holds(mark.head):  # the newest entry was just read
            raise rolled_back(f"it ends at entry {chain.number} and lacks the anchored entry {mark.number}")
        if self._stale:
            self._begin_from(chain)

    def _begin_from(self, chain: Chain) -> None:
        self.chain, self._durable, self._stale = chain, BEFORE_ANY, False


def expect(stored: StoredEntries, head: str) -> None:
    """Insist that a head kept elsewhere occurs in the chain."""
    if not stored.holds(head):
        raise rolled_back(f"the expected head {head[:12]}... does not occur in it")


def checked(commit: ChainEntry, result: bytes | None) -> bytes:
    """The result, if it is the one that the entry committed."""
    if not isinstance(result, bytes) or result_digest(result) != commit.fields.get("result"):
        raise LedgerBroken(
            f"ledger entry {commit.number}",
            "the stored result is not the one that was committed",
            "Restore the newest intact copy.",
            entry=commit.number,
        )
    return result


def checked_kept(digest: str, data: bytes | None) -> bytes | None:
    """What was kept, if it has the digest still that it is called by."""
    if data is not None and result_digest(data) != digest:
        obstacle = "it is not what was kept under its digest"
        raise LedgerBroken(f"kept result {digest[:12]}...", obstacle, "Restore the newest intact copy.", digest=digest)
    return data
