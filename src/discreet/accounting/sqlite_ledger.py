"""A durable account for one data set, in one SQLite file."""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
from collections.abc import Mapping
from typing import Any

from discreet.accounting.admission import check_relation, waived
from discreet.accounting.book import Book, expect
from discreet.accounting.chain import Account, rule
from discreet.accounting.filters import Filter, privacy_filter
from discreet.accounting.ledger_file import LedgerFile
from discreet.accounting.ledger_view import LedgerView, unknown
from discreet.accounting.replay import check_same, committed, paid, request_digest, result_digest
from discreet.accounting.statement import html, text
from discreet.core.budget import Budget
from discreet.core.errors import LedgerError, ParameterError
from discreet.core.events import Event, written
from discreet.core.ledger import Committed, Reservation
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.notebook import carded


class SqliteLedger(LedgerView):
    """A ledger that outlives the process, shared by all that open its file.

    `create` opens an account, once; `open` uses it, ever after. Beside the file lie `.head`, the newest head, and
    `.lock`, the queue of writers; the file itself, its `-wal` and its `.head` belong together in every backup.

    Guarantee
    ---------
    All results that it ever committed are, together, within the budget for the stored neighbors and unit, however the
    events were chosen, whoever asked, and whatever crashed (`filters`); waived releases excepted.

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
        super().__init__(book)
        self.analyst = analyst

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        budget: Budget,
        *,
        name: str,
        neighbors: Neighbors,
        unit: Unit = RECORD,
        order: float | None = None,
        share: float = 0.5,
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
        order, share : float, optional
            Public. See `filters.privacy_filter`.
        analysts : mapping of names to budgets, optional
            Public. A smaller cap for each. If there are any, every charge must name one of them.
        """
        filters: dict[Account, Filter] = {None: privacy_filter(budget, order=order, share=share)}
        for analyst, cap in (analysts or {}).items():
            filters[analyst] = _smaller(analyst, cap, budget, order, share)
        book = Book(LedgerFile(path))
        book.create(
            name=name,
            neighbors=neighbors.value,
            unit=_fields(unit),
            accounts=[rule(account, filter) for account, filter in filters.items()],
        )
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
        with ledger._book.reading() as db:
            if expected_head is not None:
                expect(db, expected_head)
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

    def admit(self, analyst: str, budget: Budget, *, order: float | None = None, share: float = 0.5) -> None:
        """Give one more analyst a cap; as soon as there is one, every charge must name its analyst."""
        new = _smaller(analyst, budget, self.budget, order, share)
        with self._book.writing() as page:
            if analyst in self._book.chain.filters:
                raise ParameterError(f"admit {analyst}", "the account is open already, and caps do not change")
            page.add("admit", analyst, accounts=[rule(analyst, new)])

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        """Whether `reserve` would accept this event now; charges nothing."""
        rules = self._accounts(analyst or self.analyst, "preview")
        check_relation(event, self.neighbors, "preview")
        prices = {account: rule.price(event) for account, rule in rules.items()}
        with self._book.reading():
            return self._book.chain.refusal("preview", prices) is None

    def reserve(
        self,
        event: Event,
        purpose: str,
        *,
        request: bytes | str,
        key: str | None = None,
        analyst: str | None = None,
        waiver: str | None = None,
    ) -> Reservation | Committed:
        """Charge the event durably, or give back what its key already paid for; see `core.ledger.Ledger`."""
        analyst = analyst or self.analyst
        key = secrets.token_hex(16) if key is None else key
        digest = request_digest(event, request, analyst)
        rules = self._accounts(analyst, purpose)
        check_relation(event, self.neighbors, purpose)
        free = waived(event, waiver, purpose)
        prices = {} if free else {account: rule.price(event) for account, rule in rules.items()}
        with self._book.writing() as page:
            if reserved := page.found("reserve", key):
                done = paid(reserved, page.found("commit", key), digest)
                return committed(done, page.result(done), replayed=True)
            if no := self._book.chain.refusal(purpose, prices):
                raise no
            page.anchor_durable = False
            link = page.add(
                "reserve",
                key,
                event=json.loads(written(event)),
                purpose=purpose,
                analyst=analyst,
                waiver=waiver,
                request=digest,
                charges=self._book.chain.charges(prices),
            )
            return Reservation(key, link.number, link.hash)

    def commit(self, reservation: Reservation, result: bytes) -> Committed:
        """Record the result durably; only what this returns may be handed out.

        Committing the same bytes twice is one commit; other bytes for the same charge are refused.
        """
        with self._book.writing() as page:
            reserved = page.found("reserve", reservation.key)
            if reserved is None or (reserved.number, reserved.hash) != (reservation.number, reservation.head):
                raise LedgerError(
                    f"commit {reservation.key}", "this ledger holds no such reservation", "Reserve it first."
                )
            if done := page.found("commit", reservation.key):
                check_same(done, result)
                return committed(done, result, replayed=True)
            digest = result_digest(result)
            link = page.add("commit", reservation.key, reservation=reserved.number, result=digest)
            page.store(link, result)
            return committed(link, result, replayed=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is the same account: it opens the same file again."""
        return _reopened, (self.path, self.head, self.analyst)

    def __repr__(self) -> str:
        return f"SqliteLedger.open({self.path!r})"

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return carded(html(self))

    def _accounts(self, analyst: str | None, purpose: str) -> Mapping[Account, Filter]:
        """The rules of the data set's account and, where analysts have caps, of the one who asks."""
        filters = self.filters
        if len(filters) == 1:
            return filters
        if analyst is None or analyst not in filters:
            raise unknown(purpose, analyst)
        return {None: filters[None], analyst: filters[analyst]}


def _reopened(path: str, head: str, analyst: str | None) -> SqliteLedger:
    return SqliteLedger.open(path, head, analyst=analyst)


def _smaller(analyst: str, budget: Budget, whole: Budget, order: float | None, share: float) -> Filter:
    if not analyst:
        raise ParameterError("cap of an analyst", "the name is empty", "Give a name.")
    if budget.epsilon > whole.epsilon or budget.delta > whole.delta:
        raise ParameterError(f"cap of {analyst}", f"{budget} exceeds {whole} of the data set", "Give a smaller cap.")
    return privacy_filter(budget, order=order, share=share)


def _fields(unit: Unit) -> dict[str, object]:
    """A unit as it is written. The form of entries is permanent: what came later is left out where it says nothing."""
    return {name: value for name, value in dataclasses.asdict(unit).items() if name != "pooled" or value}
