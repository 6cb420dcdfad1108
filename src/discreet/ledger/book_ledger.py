"""A ledger that keeps its charges in a book, of a file or in memory."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from discreet.accounting.accountant import price
from discreet.core.errors import LedgerError
from discreet.core.events import Event, written
from discreet.core.ledger import Committed, Reservation
from discreet.core.neighbors import Unit
from discreet.display.notebook import carded
from discreet.ledger.account_state import AccountState
from discreet.ledger.admission import check_relation, often, waived
from discreet.ledger.book import Book, BookPage, check_same, committed, paid, request_digest, result_digest
from discreet.ledger.chain import Account, ChainEntry, day
from discreet.ledger.ledger_view import LedgerView, html, text, unknown
from discreet.ledger.memory_book import MemoryBook, MemoryPage
from discreet.ledger.refusal import refusal

Page = BookPage | MemoryPage


class BookLedger(LedgerView):
    """The paying side of a ledger: one transaction of its book decides and records a charge."""

    def __init__(self, book: Book | MemoryBook, analyst: str | None = None) -> None:
        super().__init__(book)
        self.analyst = analyst

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        standings = concerned(self.accounts, analyst or self.analyst, "preview")
        check_relation(event, self.neighbors, "preview")
        return all(standing.affords(event) for standing in standings.values())

    def often(self, event: Event, most: int, *, analyst: str | None = None) -> int:
        standings = concerned(self.accounts, analyst or self.analyst, "preview")
        check_relation(event, self.neighbors, "preview")
        return min(often(standing, event, most) for standing in standings.values())

    def reserve(
        self,
        event: Event,
        purpose: str,
        *,
        request: bytes | str,
        key: str | None = None,
        analyst: str | None = None,
        waiver: str | None = None,
        secret: bool = True,
    ) -> Reservation | Committed:
        """Charge the event durably, or give back what its key already paid for; see `core.ledger.Ledger`."""
        analyst = analyst or self.analyst
        key = fresh_key() if key is None else key
        digest = request_digest(event, request, analyst)
        before = concerned(self.accounts, analyst, purpose)
        check_relation(event, self.neighbors, purpose)
        promised = not waived(event, waiver, purpose)
        expected: dict[Account, AccountState] = {}
        if promised:  # the work is done, or at least remembered, before the lock is taken
            price(event, before[None].budget)
            for account, standing in before.items():
                expected[account] = standing.after(event)
        with self._book.writing() as page:
            standings = concerned(page.chain.accounts, analyst, purpose)
            if reserved := page.found("reserve", key):
                if again := self._again(page, reserved, digest, standings, purpose):
                    return again
                done = paid(reserved, page.found("commit", key), digest)
                return committed(done, page.result(done), replayed=True)
            cost = price(event, standings[None].budget) if promised else None
            _check_open(page, standings, purpose)
            after: dict[Account, AccountState] = {}
            for account, standing in standings.items():
                if cost:
                    unmoved = standing is before.get(account)
                    after[account] = expected[account] if unmoved else standing.after(event)
                    if no := refusal(standing, after[account], purpose, event, cost, account):
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
                price=cost and dataclasses.asdict(cost),
                charges=page.chain.charges(after),
                **({} if secret else {"secret": False}),
            )
            return Reservation(key, link.number, link.hash)

    def commit(self, reservation: Reservation, result: bytes, stated: Mapping[str, Any] | None = None) -> Committed:
        """Record the result durably, with what its receipt states; only what this returns may be handed out.

        Committing the same bytes twice is one commit; other bytes for the same charge are refused. The commit has the
        day of its reservation: how long the work took may depend on secrets, as the number of trials of a search.
        """
        with self._book.writing() as page:
            reserved = _reserved(f"commit {reservation.key}", page, reservation)
            if done := page.found("commit", reservation.key):
                check_same(done, result)
                return committed(done, result, replayed=True)
            _check_turn(f"commit {reservation.key}", page, reservation)
            digest = result_digest(result)
            said = {} if stated is None else {"stated": dict(stated)}
            at = reserved.fields["at"]
            link = page.add("commit", reservation.key, at=at, reservation=reservation.number, result=digest, **said)
            page.store(link, result)
            return Committed(link.key, link.number, link.hash, day(at), result, False, said.get("stated"))

    def keep(self, data: bytes) -> None:
        """Keep what is too large for a result, durably; the result names it by its digest. See `core.ledger.Ledger`."""
        self._book.keep(data)

    def kept(self, digest: str) -> bytes | None:
        """What was kept under a digest, None where it is gone; `LedgerBroken`, if it was changed."""
        return self._book.kept(digest)

    def fail(self, reservation: Reservation, asked: str) -> None:
        """Record that the records could not be read and nothing was released; see `core.ledger.Ledger`."""
        name = f"fail {reservation.key}"
        with self._book.writing() as page:
            _reserved(name, page, reservation)
            _check_turn(name, page, reservation)
            page.add("fail", page.chain.head, of=reservation.key, turn=reservation.turn, asked=asked)

    @staticmethod
    def _again(
        page: Page, reserved: ChainEntry, digest: str, accounts: Iterable[Account], purpose: str
    ) -> Reservation | None:
        """A charge that waits since a failure, taken up by the request that it was made for; None if it does not."""
        key, asked = reserved.key, page.chain.waiting.get(reserved.key)
        if asked is None or reserved.fields["request"] != digest:
            return None
        _check_open(page, accounts, purpose)
        turn = page.chain.turns[key] + 1
        page.add("resume", page.chain.head, of=key)
        return Reservation(key, reserved.number, reserved.hash, turn, asked)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return carded(html(self))


def fresh_key() -> str:
    """The key of a request that has none: nobody can guess it, and no two are alike."""
    return secrets.token_hex(16)


def concerned(
    accounts: Mapping[Account, AccountState], analyst: str | None, purpose: str
) -> Mapping[Account, AccountState]:
    """The data set's account and, where analysts have caps, that of the one who asks."""
    if len(accounts) == 1:
        return dict(accounts)
    if analyst is None or analyst not in accounts:
        raise unknown(purpose, analyst)
    return {None: accounts[None], analyst: accounts[analyst]}


def _check_open(page: Page, accounts: Iterable[Account], purpose: str) -> None:
    """Refuse what would be released for an account that is closed."""
    for account in accounts:
        standing = page.chain.accounts[account]
        if standing.expired and (closed := standing.closed(purpose, account)):
            raise closed


def _reserved(asked: str, page: Page, reservation: Reservation) -> ChainEntry:
    """The entry of a reservation, if it is this ledger's."""
    found = page.found("reserve", reservation.key)
    if found is None or (found.number, found.hash) != (reservation.number, reservation.head):
        raise LedgerError(asked, "this ledger holds no such reservation", "Reserve it first.")
    return found


def _check_turn(asked: str, page: Page, reservation: Reservation) -> None:
    if not page.chain.is_open(reservation.key, reservation.turn):
        raise LedgerError(
            asked,
            "it failed, and its charge waits for its request or was taken up again",
            "Ask again with the same key.",
            "Nothing was handed out, and nothing more was spent.",
        )


def unit_fields(unit: Unit | None) -> dict[str, object] | None:
    """A unit as it is written. The form of entries is permanent: what came later is left out where it says nothing."""
    if unit is None:
        return None
    fields = {**vars(unit)}
    for later in ("pooled", "reach"):
        if not fields[later]:
            del fields[later]
    return fields
