"""What a ledger says, without changing it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Self

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.ledger import Balance, Entry
from discreet.core.neighbors import Neighbors, Unit
from discreet.display.notebook import facts, grid
from discreet.display.plain import plain
from discreet.ledger.account import Account, AccountPart, Kind, holder
from discreet.ledger.account_state import AccountState
from discreet.ledger.book import Book, Verified
from discreet.ledger.chain import ChainEntry
from discreet.ledger.ledger_file import LedgerFile
from discreet.ledger.memory_book import MemoryBook

COLUMNS = ("entry", "day", "analyst", "purpose", "event", "cost", "state")


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
    def budget_seen(self) -> Budget:
        """The same as this process saw it last, which waits for nobody who writes; every charge looks anew."""
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

    def balance(self, analyst: str | None = None, *, table: str | None = None, project: str | None = None) -> Balance:
        """How the account of everybody stands, or that of one analyst, one table or one project."""
        account, accounts = one_account(f"balance of {analyst}", analyst, table, project), self.accounts
        if account not in accounts:
            raise unknown(f"balance of {holder(account)}", account)
        return accounts[account].balance()

    def entries(self) -> tuple[Entry, ...]:
        """Every charge, oldest first."""
        return self._book.entries()


class StoredView(LedgerView):
    """The read-only side of a ledger that outlives its process."""

    _book: Book

    def entries(self, since: int = 0) -> tuple[Entry, ...]:
        """Every charge, oldest first; from an entry's number on, where one is given."""
        return self._book.entries(since)

    def latest(self, most: int, analyst: str | None = None) -> tuple[Entry, ...]:
        """The newest charges, at most so many, oldest first: no others are read. Of one analyst, if one is named."""
        return self._book.latest(most, analyst)

    def answered(self, key: str) -> bool:
        """Whether what was charged under a key has its result."""
        with self._book.reading():
            return self._book.chain.holds("commit", key)

    def dangling(self) -> tuple[Entry, ...]:
        """Charges that have no result, oldest first."""
        return self._book.dangling()

    def chain(self) -> tuple[ChainEntry, ...]:
        """Every entry as it is stored, charges and administration, oldest first: what an auditor can check anew."""
        return self._book.links()

    def verify(self) -> Verified:
        """Check the store, the chain, every balance and every stored result; `LedgerBroken` at the first fault."""
        return self._book.verify()

    def close(self) -> None:
        """Let go of the store; the next use opens it again."""
        self._book.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()


def unknown(asked: str, account: Account, kinds: Iterable[Kind | None] = ("analyst",)) -> NotPermitted:
    """The error for a name that the ledger does not know, or that was not given."""
    if account:
        obstacle = f"{account} has no account"
    else:
        obstacle = f"the account has caps for {' and '.join(f'{kind}s' for kind in sorted(filter(None, kinds)))}"
        obstacle += " and nobody is named" if "analyst" in kinds else " and none is named"
    remedy = "Name an analyst whom the ledger knows, or let the owner admit one."
    if not set(kinds) <= {None, "analyst"}:
        remedy = "Name the analyst, the table and the project that the ledger knows, or let the owner add them."
    return NotPermitted(asked, obstacle, remedy, analyst=account if isinstance(account, str) else None)


def one_account(asked: str, analyst: str | None, table: str | None, project: str | None) -> Account:
    """The one account that is named; everybody's, if none is."""
    named: list[Account] = [analyst] if analyst is not None else []
    named += [AccountPart("table", table)] if table is not None else []
    named += [AccountPart("project", project)] if project is not None else []
    if len(named) > 1:
        raise ParameterError(asked, f"{' and '.join(map(str, named))} are named", "Name one account.")
    return named[0] if named else None


def verify(path: str | os.PathLike[str], expected_head: str | None = None) -> Verified:
    """Check all of the ledger in this file; `LedgerBroken` at the first fault, `LedgerMissing` if there is none."""
    with StoredView(Book(LedgerFile(path))) as ledger:
        return ledger._book.verify(expected_head)


def show(path: str | os.PathLike[str]) -> str:
    """The statement of the ledger in this file, as text."""
    with StoredView(Book(LedgerFile(path))) as ledger:
        return text(ledger)


def text(ledger: LedgerView) -> str:
    """The statement as aligned text."""
    rows = [COLUMNS, *(tuple(map(plain, row)) for row in _rows(ledger))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([f"{plain(label):<9} {plain(value)}" for label, value in _summary(ledger)] + ["", *table])


def html(ledger: LedgerView) -> str:
    """The statement as two tables; everything in it is escaped."""
    return facts(dict(_summary(ledger))) + grid("", COLUMNS, _rows(ledger), kind="words")


def _summary(ledger: LedgerView) -> list[tuple[str, str]]:
    entries = ledger.entries()
    lines = [("ledger", f"{ledger.name}, {_protects(ledger)}")]
    lines += [(str(account or "data set"), str(stands.balance())) for account, stands in ledger.accounts.items()]
    dangling = sum(not entry.committed for entry in entries)
    lines.append(("charges", f"{len(entries)}, of which {dangling} dangling"))
    return [*lines, ("head", ledger.head)]


def _protects(ledger: LedgerView) -> str:
    unit, relation = ledger.unit, ledger.neighbors
    if unit is None or relation is None:
        return "for any relation"
    limit = f" ({unit.column}, {unit.limit})" if unit.column else f" ({unit.limit})" if unit.reach else ""
    return f"for one {unit.kind}{limit} under {relation.value}"


def _rows(ledger: LedgerView) -> list[tuple[str, ...]]:
    return [_row(entry) for entry in ledger.entries()]


def _row(entry: Entry) -> tuple[str, ...]:
    state = "committed" if entry.committed else "dangling: spent, never handed out"
    state += "" if entry.secret else "; from known bits: NOT PRIVATE"
    cost = f"epsilon {entry.epsilon:.6g}" + (f", delta {entry.delta:.3g}" if entry.delta else "")
    return (
        str(entry.number),
        entry.at,
        ", ".join(filter(None, (entry.analyst, entry.project, entry.table))),
        entry.purpose,
        entry.event.kind,
        f"waived: {entry.waiver}" if entry.waiver else cost,
        state,
    )
