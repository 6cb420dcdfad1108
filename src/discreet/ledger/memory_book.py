"""A book that lives in one process: the same chain as in a file, for as long as the process lasts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from discreet.core.errors import LedgerError
from discreet.core.held import Forks, Held, exclusive, unheld
from discreet.core.ledger import Entry
from discreet.ledger.book import Settled
from discreet.ledger.chain import Chain, ChainEntry, entry, sealed

Value = TypeVar("Value")


@unheld("part")
@dataclass
class MemoryPage:
    """One transaction of a book in memory."""

    chain: Chain
    links: dict[tuple[str, str], ChainEntry]
    results: dict[int, bytes]

    def found(self, kind: str, key: str) -> ChainEntry | None:
        return self.links.get((kind, key))

    def result(self, commit: ChainEntry) -> bytes:
        return self.results[commit.number]

    def add(self, kind: str, key: str, **fields: Any) -> ChainEntry:
        link = sealed(self.chain.head, self.chain.number + 1, kind, key, since=self.chain.day, **fields)
        self.chain.follow(link)
        self.links[kind, key] = link
        return link

    def store(self, commit: ChainEntry, result: bytes) -> None:
        self.results[commit.number] = result


class MemoryBook(Held):
    """All entries of a ledger in memory; one thread writes at a time, and no other process may."""

    shared = False

    def __init__(self, **fields: Any) -> None:
        self.chain = Chain()
        self._page = MemoryPage(self.chain, {}, {})
        self._page.add("open", "", **fields)
        self._kept: dict[str, bytes] = {}

    def forked(self) -> LedgerError:
        """The refusal of a fork of the process that opened it."""
        return LedgerError(
            "an account in memory",
            "this process is a fork of the one that opened it, and both would spend the budget",
            "Open the account in the process that uses it, or use a SqliteLedger.",
        )

    def reading(self) -> AbstractContextManager[Any]:
        """A consistent view of everything recorded so far; a fork may find the lock taken for ever, and is refused."""
        if self._process != (os.getpid(), Forks.count):
            raise self.forked()
        return self._lock

    def decided(self, decide: Callable[[MemoryPage], Value], *, lasting: bool = True) -> Value:
        """What comes of deciding on the newest page, one thread after another."""
        with self.reading():
            return decide(self._page)

    def settled(self, key: str) -> Settled | None:
        """What a key paid for, if anything."""
        with self.reading():
            reserved, done = self._page.found("reserve", key), self._page.found("commit", key)
            return None if reserved is None or done is None else Settled(reserved, done, self._page.result(done))

    @exclusive
    def keep(self, data: bytes) -> None:
        """Keep what is too large for a result, which names it by its digest."""
        self._kept[hashlib.sha256(data).hexdigest()] = data

    def kept(self, digest: str) -> bytes | None:
        """What was kept under a digest."""
        with self.reading():
            return self._kept.get(digest)

    def entries(self) -> tuple[Entry, ...]:
        with self.reading():
            dangling = self.chain.dangling
            links = tuple(link for link in self._page.links.values() if link.kind == "reserve")
            return tuple(entry(link, link.key not in dangling) for link in links)
