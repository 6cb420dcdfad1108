"""A durable account for one data set, in one SQLite file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit, check_protected
from discreet.ledger.account_state import AccountState
from discreet.ledger.book import Book, expect
from discreet.ledger.book_ledger import BookLedger, Page, unit_fields
from discreet.ledger.chain import opened
from discreet.ledger.ledger_file import LedgerFile
from discreet.ledger.ledger_view import StoredView, unknown


class SqliteLedger(BookLedger, StoredView):
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

    def __init__(self, book: Book, analyst: str | None = None) -> None:
        if not isinstance(book, Book):
            remedy = "Call SqliteLedger.open(path), or SqliteLedger.create(path, ...) for a new account."
            raise ParameterError(f"ledger {book!r:.80}", "it is not said whether it is there already", remedy)
        super().__init__(book, analyst)

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
            accounts.append(_smaller(analyst, cap, budget))
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
        ledger = cls(Book(LedgerFile(path)), analyst)
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

    def admit(self, analyst: str, budget: Budget) -> None:
        """Give one more analyst a cap; as soon as there is one, every charge must name its analyst."""

        def decided(page: Page) -> None:
            new = _smaller(analyst, budget, page.chain.accounts[None].budget)
            if analyst in page.chain.accounts:
                raise ParameterError(f"admit {analyst}", "the account is open already", "Raise its cap instead.")
            page.add("admit", analyst, accounts=[new])

        self._book.decided(decided)

    def raise_cap(self, budget: Budget, reason: str, *, analyst: str | None = None) -> None:
        """Raise the cap of the data set, or of one analyst, for a reason that goes on record.

        Everything that was ever released, together, then keeps the larger budget and no longer the smaller one.

        Parameters
        ----------
        budget : Budget
            Public. At least as much as before in both parts; for an analyst, not more than the data set has.
        reason : str
            Public. Why.
        analyst : str, optional
            Public. Whose cap; by default, that of everybody together.
        """
        asked = f"raise the cap of {analyst or 'the data set'}"
        _check_reason(asked, reason)

        def decided(page: Page) -> None:
            if analyst is not None:
                _smaller(analyst, budget, page.chain.accounts[None].budget)
            try:
                larger = _known(page, asked, analyst).raised(budget)
            except ValueError as why:
                raise ParameterError(asked, str(why), "A cap can be raised, never lowered.") from None
            page.add("raise", page.chain.head, account=analyst, reason=reason, **larger.written_raise())

        self._book.decided(decided)

    def expire(self, reason: str, *, analyst: str | None = None) -> None:
        """Let nothing be charged any more, by anybody or by one analyst, for a reason that goes on record.

        What was paid for stays in the ledger.
        """
        asked = f"expire the account of {analyst or 'the data set'}"
        _check_reason(asked, reason)

        def decided(page: Page) -> None:
            if no := _known(page, asked, analyst).closed(asked, analyst):
                raise no
            page.add("expire", page.chain.head, account=analyst, reason=reason)

        self._book.decided(decided)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is the same account: it opens the same file again."""
        return _reopened, (self.path, self.head, self.analyst)

    def __repr__(self) -> str:
        return f"SqliteLedger.open({self.path!r})"


def _reopened(path: str, head: str, analyst: str | None) -> SqliteLedger:
    return SqliteLedger.open(path, head, analyst=analyst)


def _known(page: Page, asked: str, analyst: str | None) -> AccountState:
    if analyst not in page.chain.accounts:
        raise unknown(asked, analyst)
    return page.chain.accounts[analyst]


def _check_reason(asked: str, reason: str) -> None:
    if not reason.strip():
        raise ParameterError(asked, "the reason is empty", "Say why; it goes on record.")


def _smaller(analyst: str, budget: Budget, whole: Budget) -> dict[str, Any]:
    if not analyst:
        raise ParameterError("cap of an analyst", "the name is empty", "Give a name.")
    if budget.epsilon > whole.epsilon or budget.delta > whole.delta:
        raise ParameterError(f"cap of {analyst}", f"{budget} exceeds {whole} of the data set", "Give a smaller cap.")
    return opened(analyst, budget)
