"""A durable account for one data set, in one SQLite file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit, check_protected
from discreet.ledger.account import NOBODY, Scope
from discreet.ledger.book import Book, expect
from discreet.ledger.book_ledger import unit_fields
from discreet.ledger.chain import opened
from discreet.ledger.ledger_file import LedgerFile
from discreet.ledger.stored_ledger import StoredLedger, smaller


class SqliteLedger(StoredLedger):
    """A ledger that outlives the process, shared by all that open its file.

    `create` opens an account, once; `open` uses it, ever after. Beside the file lie `.head`, the newest head, and
    `.lock`, the queue of writers, and `.kept`, a folder of results that are too large for the file, such as tables; the
    file itself, its `-wal`, its `.head` and its `.kept` belong together in every backup.

    Guarantee
    ---------
    All results that it ever committed are, together, within the budget for the stored neighbors and unit, however the
    events were chosen, whoever asked, and whatever crashed (`union`); waived releases excepted.

    Examples
    --------
    >>> import tempfile
    >>> from discreet.core.events import PureLoss
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/survey.ledger"
    >>> ledger = SqliteLedger.create(path, Budget(1.0), name="survey", neighbors=Neighbors.ADD_REMOVE)
    >>> paid = ledger.reserve(PureLoss(0.25), "count of smokers", request="count(smokes)", key="q1")
    >>> ledger.commit(paid, b"1041").result
    b'1041'
    >>> ledger.reserve(PureLoss(0.25), "count of smokers", request="count(smokes)", key="q1").replayed
    True
    >>> ledger.balance().remaining
    0.75
    >>> ledger.close(); folder.cleanup()
    """

    def __init__(self, book: Book, scope: Scope = NOBODY) -> None:
        if not isinstance(book, Book):
            remedy = "Call SqliteLedger.open(path), or SqliteLedger.create(path, ...) for a new account."
            raise ParameterError(f"ledger {book!r:.80}", "it is not said whether it is there already", remedy)
        super().__init__(book, scope)

    @property
    def path(self) -> str:
        """The ledger's file."""
        return str(self._book.store)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        budget: Budget,
        *,
        name: str,
        neighbors: Neighbors,
        unit: Unit = RECORD,
        analysts: Mapping[str, Budget] | None = None,
    ) -> SqliteLedger:
        """Open a new account for a data set of which nothing was released yet.

        Parameters
        ----------
        path : path
            Where no file is yet; on a local disk.
        budget : Budget
            Public. The cap for everybody together.
        name, neighbors, unit
            Public. The data set, and the relation and the unit that every charge speaks of.
        analysts : mapping of names to budgets, optional
            Public. A smaller cap for each. If there are any, every charge must name one of them.
        """
        check_protected(f"new ledger {path}", neighbors, unit)
        accounts = [opened(None, budget)]
        for analyst, cap in (analysts or {}).items():
            accounts.append(smaller(analyst, cap, budget))
        book = Book(LedgerFile(path))
        book.create(name=name, neighbors=neighbors.value, unit=unit_fields(unit), accounts=accounts)
        return cls(book)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], expected_head: str | None = None, *, analyst: str | None = None
    ) -> SqliteLedger:
        """Use an account that exists, after checking all of its entries.

        Parameters
        ----------
        path : path
            The ledger's file.
        expected_head : str, optional
            A head kept elsewhere; it must occur in the chain.
        analyst : str, optional
            Public. Who asks through this object, unless a charge names somebody else.
        """
        ledger = cls(Book(LedgerFile(path)), Scope(analyst))
        with ledger._book.reading() as stored:
            if expected_head is not None:
                expect(stored, expected_head)
        return ledger

    @classmethod
    def reanchor(cls, path: str | os.PathLike[str], head: str, reason: str) -> SqliteLedger:
        """Trust a whole ledger whose `.head` file was lost; the owner's reason goes on record.

        Parameters
        ----------
        path : path
            The ledger's file.
        head : str
            The newest head kept elsewhere; it must occur in the chain.
        reason : str
            Public. Why the file is to be trusted.
        """
        ledger = cls(Book(LedgerFile(path)))
        ledger._book.reanchor(head, reason)
        return ledger

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is the same account: it opens the same file again."""
        return _reopened, (self.path, self.head, self.scope)

    def __repr__(self) -> str:
        return f"SqliteLedger.open({self.path!r})"


def _reopened(path: str, head: str, scope: Scope) -> SqliteLedger:
    return SqliteLedger.open(path, head)._scoped(scope)
