"""A ledger that keeps its charges in a book, of a file or in memory."""

from __future__ import annotations

import copy
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.accounting.accountant import Price, price
from discreet.core.errors import DiscreetError, LedgerError, NotPermitted, ParameterError
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, PureLoss, written
from discreet.core.ledger import Committed, Reservation
from discreet.core.neighbors import Unit
from discreet.display.notebook import carded
from discreet.ledger.account import NOBODY, Account, Scope
from discreet.ledger.account_state import AccountState
from discreet.ledger.admission import check_relation, often, waived
from discreet.ledger.book import Book, BookPage, Settled, check_same, paid, request_digest, result_digest
from discreet.ledger.chain import Chain, ChainEntry, day
from discreet.ledger.ledger_view import LedgerView, html, text, unknown
from discreet.ledger.memory_book import MemoryBook, MemoryPage
from discreet.ledger.refusal import refusal

if TYPE_CHECKING:
    from discreet.crypto.identity import Identity

Page = BookPage | MemoryPage


class BookLedger(LedgerView):
    """The paying side of a ledger: one transaction of its book decides and records a charge."""

    def __init__(self, book: Book | MemoryBook, scope: Scope = NOBODY) -> None:
        super().__init__(book)
        self.scope = scope
        self.signer: Identity | None = None

    @property
    def analyst(self) -> str | None:
        """Who asks through this object, unless a charge names somebody else."""
        return self.scope.analyst

    @property
    def unit(self) -> Unit | None:
        """The privacy unit that every charge speaks of: that of the table, where it is one's."""
        chain = self._book.chain
        return chain.unit if self.scope.table is None else chain.units.get(self.scope.table)

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        standings = self._concerned(self._scope(analyst), "preview")
        check_relation(event, self.neighbors, "preview")
        return all(standing.affords(event) for standing in standings.values())

    def often(self, event: Event, most: int, *, analyst: str | None = None) -> int:
        standings = self._concerned(self._scope(analyst), "preview")
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
        """Charge the event durably, or give back what its key already paid for; see `core.ledger.Ledger`.

        What was committed is read beside whoever writes. Everything else waits for its turn, with others.
        """
        scope = self._scope(analyst) if analyst else self.scope
        if given := key is not None:
            _check_key(key, purpose)
        else:
            key = fresh_key()
        digest = request_digest(event, request, scope)
        before = self._seen(scope, purpose) if given or self._book.shared else {}
        check_relation(event, self._book.chain.neighbors, purpose)
        if given and (known := self._book.settled(key)):
            paid(known.reserved, known.done, digest)
            return self._handed(known, replayed=True)
        promised = not waived(event, waiver, purpose)
        if promised and self._book.shared:
            remember(event, before)
        charge = Charge(event, purpose, digest, key, scope, waiver, secret, promised)
        found = self._book.decided(charge.decided, lasting=False)
        if isinstance(found, Shortage):
            raise found.refusal(purpose, event)
        return self._handed(found, replayed=True) if isinstance(found, Settled) else found

    def commit(self, reservation: Reservation, result: bytes, stated: Mapping[str, Any] | None = None) -> Committed:
        """Record the result durably, with what its receipt states; only what this returns may be handed out.

        Committing the same bytes twice is one commit; other bytes for the same charge are refused. The commit has the
        day of its reservation: how long the work took may depend on secrets, as the number of trials of a search.
        """
        digest = result_digest(result)
        said = {} if stated is None else {"stated": dict(stated)}

        def decided(page: Page) -> tuple[Settled, bool]:
            reserved = _reserved(f"commit {reservation.key}", page, reservation)
            if done := page.found("commit", reservation.key):
                check_same(done, result)
                return Settled(reserved, done, result), True
            _check_turn(f"commit {reservation.key}", page, reservation)
            at = reserved.fields["at"]
            link = page.add("commit", reservation.key, at=at, reservation=reservation.number, result=digest, **said)
            page.store(link, result)
            return Settled(reserved, link, result), False

        return self._handed(*self._book.decided(decided))

    def _handed(self, settled: Settled, replayed: bool) -> Committed:
        """A paid result as its caller sees it, with a checkpoint where somebody signs for this ledger."""
        done, fields = settled.done, settled.done.fields
        stated = copy.deepcopy(fields.get("stated"))  # who is told may change it, and others are told the same
        made = Committed(done.key, done.number, done.hash, day(fields["at"]), settled.result, replayed, stated)
        if self.signer is None:
            return made
        from discreet.ledger.checkpoints import signed  # most ledgers sign nothing, and need no cryptography

        return replace(made, checkpoint=signed(self.name, settled, self.signer))

    def keep(self, data: bytes) -> None:
        """Keep what is too large for a result, durably; the result names it by its digest. See `core.ledger.Ledger`."""
        self._book.keep(data)

    def kept(self, digest: str) -> bytes | None:
        """What was kept under a digest, None where it is gone; `LedgerBroken`, if it was changed."""
        return self._book.kept(digest)

    def fail(self, reservation: Reservation, asked: str) -> None:
        """Record that the records could not be read and nothing was released; see `core.ledger.Ledger`."""
        name = f"fail {reservation.key}"

        def decided(page: Page) -> None:
            _reserved(name, page, reservation)
            _check_turn(name, page, reservation)
            page.add("fail", page.chain.head, of=reservation.key, turn=reservation.turn, asked=asked)

        self._book.decided(decided)

    def _scope(self, analyst: str | None) -> Scope:
        return replace(self.scope, analyst=analyst) if analyst else self.scope

    def _concerned(self, scope: Scope, purpose: str) -> Mapping[Account, AccountState]:
        """The accounts that a charge would be made to, as they stand now."""
        with self._book.reading():
            return concerned(self._book.chain, scope, purpose)

    def _seen(self, scope: Scope, purpose: str) -> Mapping[Account, AccountState]:
        """The same as this process saw them last; whoever is not among them may have come since."""
        try:
            return concerned(self._book.chain, scope, purpose)
        except NotPermitted:
            return self._concerned(scope, purpose)

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return carded(html(self))


@dataclass(frozen=True)
class Shortage:
    """An account that does not pay: how it stands, and how it would stand after the charge."""

    standing: AccountState
    after: AccountState
    cost: Price
    account: Account

    def refusal(self, purpose: str, event: Event) -> DiscreetError:
        """What to raise; finding what would fit takes a while, so that it is not said while others wait."""
        found = refusal(self.standing, self.after, purpose, event, self.cost, self.account)
        assert found is not None
        return found


@dataclass(frozen=True)
class Charge:
    """What is asked of an account, with everything that does not depend on how the account stands."""

    event: Event
    purpose: str
    digest: str
    key: str
    scope: Scope
    waiver: str | None
    secret: bool
    promised: bool

    def decided(self, page: Page) -> Reservation | Settled | Shortage:
        """Record the charge, or find what its key paid for, or who cannot pay."""
        standings = concerned(page.chain, self.scope, self.purpose)
        if reserved := page.found("reserve", self.key):
            if again := self._again(page, reserved, standings):
                return again
            done = paid(reserved, page.found("commit", self.key), self.digest)
            return Settled(reserved, done, page.result(done))
        _check_open(page, standings, self.purpose)
        cost = price(self.event, standings[None].budget) if self.promised else None
        after: dict[Account, AccountState] = {}
        if cost:
            for account, standing in standings.items():
                after[account] = standing.after(self.event)
                if not after[account].holds:
                    return Shortage(standing, after[account], cost, account)
        link = page.add("reserve", self.key, **self._fields(cost), charges=page.chain.charges(after))
        return Reservation(self.key, link.number, link.hash)

    def _fields(self, cost: Price | None) -> dict[str, Any]:
        return {
            "event": plain(self.event),
            "purpose": self.purpose,
            "analyst": self.scope.analyst,
            **self.scope.fields,
            "waiver": self.waiver,
            "request": self.digest,
            "price": cost and {"epsilon": cost.epsilon, "delta": cost.delta},
            **({} if self.secret else {"secret": False}),
        }

    def _again(self, page: Page, reserved: ChainEntry, accounts: Iterable[Account]) -> Reservation | None:
        """A charge that waits since a failure, taken up by the request that it was made for; None if it does not."""
        asked = page.chain.waiting.get(self.key)
        if asked is None or reserved.fields["request"] != self.digest:
            return None
        _check_open(page, accounts, self.purpose)
        turn = page.chain.turns[self.key] + 1
        page.add("resume", page.chain.head, of=self.key)
        return Reservation(self.key, reserved.number, reserved.hash, turn, asked)


LONGEST_KEY = 2000  # bytes
QUICK = (PureLoss, LaplaceLoss, GaussianLoss)


def remember(event: Event, standings: Mapping[Account, AccountState]) -> None:
    """Do what takes long of a charge before others have to wait for it: what was computed once is remembered."""
    price(event, standings[None].budget)
    for standing in standings.values():
        if standing.union is None or not isinstance(event, QUICK):
            standing.after(event)


@lru_cache(maxsize=1024)
def plain(event: Event) -> Any:
    """An event as an entry holds it."""
    return json.loads(written(event))


def fresh_key() -> str:
    """The key of a request that has none: nobody can guess it, and no two are alike."""
    return secrets.token_hex(16)


def _check_key(key: str, purpose: str) -> None:
    """Refuse what no store could find again."""
    try:
        fine = "\0" not in key and len(key.encode()) <= LONGEST_KEY
    except (AttributeError, TypeError, UnicodeEncodeError):
        fine = False
    if not fine:
        raise ParameterError(
            purpose, f"its key is {key!r:.80}", f"Give a text of at most {LONGEST_KEY} bytes in UTF-8."
        )


def concerned(chain: Chain, scope: Scope, purpose: str) -> Mapping[Account, AccountState]:
    """Everybody's account and, where there are any, those of the table, the project and the analyst."""
    found: dict[Account, AccountState] = {None: chain.accounts[None]}
    if scope is NOBODY and len(chain.kinds) == 1:
        return found  # there is no other account
    for account in scope.accounts(chain.kinds):
        if account is None or account not in chain.accounts:
            raise unknown(purpose, account, chain.kinds)
        found[account] = chain.accounts[account]
    return found


def _check_open(page: Page, accounts: Iterable[Account], purpose: str) -> None:
    """Refuse what would be released for an account that is closed."""
    for account in accounts:
        standing = page.chain.accounts[account]
        if standing.expired and (closed := standing.closed(purpose, account)):
            raise closed


def _reserved(asked: str, page: Page, reservation: Reservation) -> ChainEntry:
    """The entry of a reservation, if it is this ledger's."""
    found = page.chain.dangling.get(reservation.key) or page.found("reserve", reservation.key)
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
