"""What a ledger says, without changing it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Self

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.ledger import Balance, Entry
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.account_state import AccountState
from discreet.ledger.book import Book, Verified
from discreet.ledger.chain import Account, ChainEntry
from discreet.ledger.ledger_file import LedgerFile, links
from discreet.ledger.memory_book import MemoryBook


class LedgerView:
    """The read-only side of a ledger."""

    def __init__(self, book: Book | MemoryBook) -> None:
        self._book = book

    @property
    def budget(self) -> Budget:
        """The cap for everybody together."""
        with self._book.reading():
            return self._book.chain.accounts[None].budget

    @property
    def name(self) -> str:
        """What the data set is called."""
        return self._book.chain.name

    @property
    def neighbors(self) -> Neighbors | None:
        """The relation that every charge speaks of."""
        return self._book.chain.neighbors

    @property
    def unit(self) -> Unit | None:
        """The privacy unit that every charge speaks of."""
        return self._book.chain.unit

    @property
    def accounts(self) -> Mapping[Account, AccountState]:
        """How the data set's account stands, under None, and that of every analyst."""
        with self._book.reading():
            return dict(self._book.chain.accounts)

    @property
    def head(self) -> str:
        """The hash of everything recorded so far. Kept elsewhere, it proves later that nothing was taken back."""
        with self._book.reading():
            return self._book.chain.head

    def balance(self, analyst: str | None = None) -> Balance:
        """How the account of the data set stands, or that of one analyst."""
        accounts = self.accounts
        if analyst not in accounts:
            raise unknown(f"balance of {analyst}", analyst)
        return accounts[analyst].balance()

    def entries(self) -> tuple[Entry, ...]:
        """Every charge, oldest first."""
        return self._book.entries()


class FileView(LedgerView):
    """The read-only side of a ledger in a file."""

    _book: Book

    @property
    def path(self) -> str:
        """The ledger's file."""
        return str(self._book.file.path)

    def chain(self) -> tuple[ChainEntry, ...]:
        """Every entry as it is stored, charges and administration, oldest first: what an auditor can check anew."""
        with self._book.reading() as db:
            return tuple(links(db, 0))

    def verify(self) -> Verified:
        """Check the file, the chain, every balance and every stored result; `LedgerBroken` at the first fault."""
        return self._book.verify()

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._book.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()


def unknown(asked: str, analyst: str | None) -> NotPermitted:
    """The error for a name that the account does not know."""
    return NotPermitted(
        asked,
        f"{analyst} has no account" if analyst else "the account has caps for analysts and nobody is named",
        "Name an analyst whom the ledger knows, or let the owner admit one.",
        analyst=analyst,
    )


def verify(path: str | os.PathLike[str], expected_head: str | None = None) -> Verified:
    """Check all of the ledger in this file; `LedgerBroken` at the first fault, `LedgerMissing` if there is none."""
    with FileView(Book(LedgerFile(path))) as ledger:
        return ledger._book.verify(expected_head)
