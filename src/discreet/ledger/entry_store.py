"""Where a book keeps its entries: what SQLite and PostgreSQL have in common for it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from discreet.core.errors import LedgerBroken
from discreet.ledger.anchor import Anchor
from discreet.ledger.chain import ChainEntry

WHOLE_OR_NOT = "Nothing was handed out; a charge is recorded whole or not at all."


class StoredEntries(Protocol):
    """The entries as one transaction finds them, and as it leaves them."""

    def links(self, since: int) -> Iterator[ChainEntry]:
        """The entries from this number on."""

    def newest(self, part: str) -> Generator[ChainEntry]:
        """Reservations whose body has this part, the newest first; nothing is read that is not taken."""

    def found(self, kind: str, key: str) -> ChainEntry | None:
        """The entry of this kind and key."""

    def holds(self, head: str) -> bool:
        """Whether an entry has this hash."""

    def result(self, number: int) -> bytes | None:
        """The bytes that were stored with this entry."""

    def results(self) -> Iterator[tuple[ChainEntry, bytes | None]]:
        """Every commit, and every entry with bytes, with them."""

    def insert(self, link: ChainEntry) -> None:
        """Append an entry."""

    def store(self, number: int, result: bytes) -> None:
        """Store bytes with an entry."""


def ignored(stored: StoredEntries) -> None:
    """Do nothing about what others write."""


class Turn(Protocol):
    """The lock among all processes, held."""

    def transaction(self) -> AbstractContextManager[StoredEntries]:
        """All or nothing; what others see of it afterwards may wait for `flush` to be on disk."""


class EntryStore(Protocol):
    """One process's access to the entries of a ledger."""

    anchor: Anchor
    failures: tuple[type[Exception], ...]
    """What its transactions raise where the store, and not what was asked, is at fault."""

    def create(self, first: ChainEntry) -> None:
        """Make a ledger with one entry where there is none."""

    def reading(self) -> AbstractContextManager[StoredEntries]:
        """A consistent view, by the connection that also writes: one thread at a time."""

    def apart(self) -> AbstractContextManager[StoredEntries]:
        """A consistent view beside whoever writes, in this process too."""

    def locked(self, meanwhile: Callable[[StoredEntries], None] = ...) -> AbstractContextManager[Turn]:
        """Hold the lock among all processes, for a transaction and what must follow it before another one.

        While another process has it, `meanwhile` may be shown the entries again and again. Where it raises, the lock is
        waited for no longer.
        """

    def flush(self) -> None:
        """See to it that all transactions that were seen so far are on disk."""

    def keep(self, digest: str, data: bytes) -> None:
        """Keep what is too large for a result under its digest."""

    def kept(self, digest: str) -> bytes | None:
        """What was kept under a digest, None where it is gone."""

    def all_kept(self) -> Iterator[str]:
        """The digests of all that was kept."""

    def check(self) -> None:
        """Refuse a store that is damaged below its entries."""

    def close(self) -> None:
        """Let go of it; the next use opens it again."""


def rolled_back(obstacle: str) -> LedgerBroken:
    """The error for entries that were there and are gone."""
    return LedgerBroken(
        "ledger",
        f"{obstacle}: it was damaged, cut, rolled back or exchanged",
        "Restore the newest copy of the file, its -wal and its .head; an older one would spend the same budget twice.",
    )
