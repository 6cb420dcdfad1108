"""A durable account for one data set, in a PostgreSQL database that several servers share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NoReturn

from discreet.core.budget import Budget
from discreet.core.errors import LedgerError
from discreet.core.neighbors import RECORD, Neighbors, Unit, check_protected
from discreet.ledger.account import Scope
from discreet.ledger.book import Book, expect
from discreet.ledger.book_ledger import unit_fields
from discreet.ledger.chain import opened
from discreet.ledger.postgres_store import PostgresStore
from discreet.ledger.stored_ledger import StoredLedger, smaller


class PostgresLedger(StoredLedger):
    """A ledger that servers on several machines share.

    `create` opens an account, once; `open` uses it, ever after. The ledger has a schema of the database to itself. Each
    server keeps the newest head that it saw in a small file of its own, the anchor: a database that was restored from
    an older copy is noticed by all of them.

    Guarantee
    ---------
    As that of `SqliteLedger`, as long as the database keeps what it says that it flushed.

    Examples
    --------
    How each server opens what one of them created:

    >>> def patients(address: str, analyst: str) -> PostgresLedger:
    ...     return PostgresLedger.open(address, account="patients", anchor="patients.head", analyst=analyst)
    """

    @classmethod
    def create(
        cls,
        address: str,
        budget: Budget,
        *,
        account: str,
        anchor: str | os.PathLike[str],
        neighbors: Neighbors,
        unit: Unit = RECORD,
        analysts: Mapping[str, Budget] | None = None,
    ) -> PostgresLedger:
        """Open a new account for a data set of which nothing was released yet.

        Parameters
        ----------
        address : str
            Public. The database, as PostgreSQL's own programs take it: `postgresql://user@host/name`.
        budget : Budget
            Public. The cap for everybody together.
        account : str
            Public. The data set's name, and the schema that is made for it.
        anchor : path
            Where no file is yet; on a disk of this server's own.
        neighbors, unit
            Public. The relation and the unit that every charge speaks of.
        analysts : mapping of names to budgets, optional
            Public. A smaller cap for each. If there are any, every charge must name one of them.
        """
        check_protected(f"new ledger {account}", neighbors, unit)
        accounts = [opened(None, budget)]
        for analyst, cap in (analysts or {}).items():
            accounts.append(smaller(analyst, cap, budget))
        book = Book(PostgresStore(address, account, anchor))
        book.create(name=account, neighbors=neighbors.value, unit=unit_fields(unit), accounts=accounts)
        return cls(book)

    @classmethod
    def open(
        cls,
        address: str,
        *,
        account: str,
        anchor: str | os.PathLike[str],
        expected_head: str | None = None,
        analyst: str | None = None,
    ) -> PostgresLedger:
        """Use an account that exists, after checking all of its entries.

        Parameters
        ----------
        address : str
            Public. The database, as PostgreSQL's own programs take it.
        account : str
            Public. The data set's name, and the schema of the account.
        anchor : path
            The file of this server that notes the newest head.
        expected_head : str, optional
            A head kept elsewhere; it must occur in the chain. A server that has no anchor yet has to know one.
        analyst : str, optional
            Public. Who asks through this object, unless a charge names somebody else.
        """
        store = PostgresStore(address, account, anchor)
        ledger = cls(Book(store), Scope(analyst))
        if expected_head is not None and not store.anchor.path.exists():
            ledger._book.join(expected_head)
        with ledger._book.reading() as stored:
            if expected_head is not None:
                expect(stored, expected_head)
        return ledger

    def __reduce__(self) -> NoReturn:
        raise LedgerError(
            "copy a ledger in a database",
            "its address may hold a password",
            "Open it where it is used.",
        )

    def __copy__(self) -> PostgresLedger:
        return self

    def __deepcopy__(self, memo: object) -> PostgresLedger:
        return self

    def __repr__(self) -> str:
        return f"PostgresLedger.open(..., account={str(self._book.store)!r})"
