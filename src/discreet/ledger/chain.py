"""A chain of entries, each sealed by a hash over itself and all before it, and what they add up to.

The body of an entry is canonical JSON (sorted keys, no spaces, ASCII). Its hash is SHA-256 of the hash before it, a
newline and the body; the first entry follows 64 zeros. Amounts are decimal text in the units of `amount.Amount`.

    open      the data set's name, neighbors, unit and the budget of every account
    admit     the budget of an analyst, a project or a table that came later; of a table, its unit
    reserve   a charge: event, purpose, analyst, table and project where it has them, waiver, the request's digest, its
              price by itself; for every account
              what is spent after it and, with the account's first charge, the members of its filter; where noise
              comes from known bits, that it is not secret
    commit    the digest of the result that the reservation paid for, and what its receipt states; older ones lack it
    fail      the records could not be read and nothing was released: the charge waits for the same request; what failed
    resume    the same request took the charge up again
    raise     a larger budget of an account, the caps of its filter, and the owner's reason
    expire    nothing may be charged to an account any more, and the owner's reason
    reanchor  the owner trusts the chain as it stands, and why

Every entry has the day on which it was asked for, in UTC, and nothing finer; a commit has the day of its reservation.
How long a release takes may depend on what is secret: the number of trials of a private search does not show here.

The chain shows any edit to whoever kept a head. It cannot show that somebody rewrote all of it, or cut its end off:
for that, keep the head elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from typing import Any

from discreet.accounting.accountant import Price
from discreet.core.budget import Budget, check_budget
from discreet.core.errors import DiscreetError, LedgerBroken
from discreet.core.events import Event, read
from discreet.core.held import unheld
from discreet.core.ledger import Entry
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.account import Account, Kind, Scope, holder, kind_of, read_account, written_account
from discreet.ledger.account_state import AccountState, recompute_raise

BEFORE_ALL = "0" * 64


@dataclass(frozen=True)
class ChainEntry:
    """One entry as it is stored."""

    number: int
    kind: str
    key: str
    body: str
    hash: str

    @cached_property
    def fields(self) -> dict[str, Any]:
        fields = json.loads(self.body)
        if not isinstance(fields, dict):
            raise ValueError("the body is not an object")
        return fields


def canonical(value: Any) -> str:
    """JSON in the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def today() -> str:
    """The day in UTC."""
    return datetime.now(UTC).date().isoformat()


def sealed(before: str, number: int, kind: str, key: str, *, since: str = "", **fields: Any) -> ChainEntry:
    """The entry with these fields, after the one whose hash is `before`.

    It is of the day that they name; else of today, or of the last day that there was, where the clock was moved back.
    """
    at = {} if "at" in fields else {"at": max(today(), since)}
    body = canonical({"number": number, "kind": kind, "key": key} | at | fields)
    return ChainEntry(number, kind, key, body, seal(before, body))


def seal(before: str, body: str) -> str:
    """The hash of a body after another entry's hash."""
    return hashlib.sha256(f"{before}\n{body}".encode()).hexdigest()


@dataclass(frozen=True)
class ChainMark:
    """Where a chain stood before a transaction."""

    number: int
    head: str
    day: str
    accounts: Mapping[Account, AccountState]
    dangling: Mapping[str, ChainEntry]
    waiting: Mapping[str, str]
    turns: Counter[str]


@unheld("part")
class Chain:
    """What the entries so far add up to: accounts, balances, open reservations. Follows them one by one."""

    def __init__(self) -> None:
        self.number = -1
        self.head = BEFORE_ALL
        self.name = ""
        self.neighbors: Neighbors | None = None
        self.unit: Unit | None = None
        self.accounts: dict[Account, AccountState] = {}
        self.kinds: set[Kind | None] = set()
        self.units: dict[str, Unit] = {}
        self.reserved: set[str] = set()
        self.dangling: dict[str, ChainEntry] = {}
        self.waiting: dict[str, str] = {}
        self.turns: Counter[str] = Counter()
        self.day = ""

    def mark(self) -> ChainMark:
        """Where it stands, to go back to."""
        state = dict(self.accounts), dict(self.dangling), dict(self.waiting), self.turns.copy()
        return ChainMark(self.number, self.head, self.day, *state)

    def back_to(self, mark: ChainMark, followed: Iterable[ChainEntry]) -> None:
        """Stand as before these entries, which were followed since the mark or perhaps were."""
        self.number, self.head, self.day = mark.number, mark.head, mark.day
        self.accounts, self.dangling = dict(mark.accounts), dict(mark.dangling)
        self.kinds = set(map(kind_of, self.accounts))
        self.waiting, self.turns = dict(mark.waiting), mark.turns.copy()
        self.reserved.difference_update(link.key for link in followed if link.kind == "reserve")

    def charges(self, after: Mapping[Account, AccountState]) -> list[dict[str, Any]]:
        """The charges after which accounts stand like this, as an entry holds them."""
        found = []
        for account, then in after.items():
            found.append({"account": written_account(account), **self.accounts[account].charged(then)})
        return found

    def holds(self, kind: str, key: str) -> bool:
        """Whether there is a reservation, or a commit, of this key."""
        return key in self.reserved and (kind == "reserve" or key not in self.dangling)

    def is_open(self, key: str, turn: int) -> bool:
        """Whether the charge of this key has no result yet and is in the hands of whoever took it up in this turn."""
        return key in self.dangling and key not in self.waiting and self.turns[key] == turn

    def follow(self, link: ChainEntry, anew: bool = False) -> None:
        """Check the next entry against all before it and add it up; `anew`, compute every cap and charge again."""
        if link.number != self.number + 1 or seal(self.head, link.body) != link.hash:
            raise _fault(link, "it does not follow from the entries before it: something was edited or removed")
        try:
            fields = link.fields
            if (fields["number"], fields["kind"], fields["key"]) != (link.number, link.kind, link.key):
                raise ValueError("its columns do not match its body")
            if (link.kind == "open") != (link.number == 0):
                raise ValueError("a ledger is opened by its first entry and no other")
            latest = max(self.day, day(fields["at"]))
            self._add(link, fields, anew)
        except (ValueError, KeyError, TypeError, AttributeError, DiscreetError) as why:
            raise _fault(link, f"it does not add up ({why})") from why
        self.number, self.head = link.number, link.hash
        self.day = latest

    def _add(self, link: ChainEntry, fields: dict[str, Any], anew: bool) -> None:
        match link.kind:
            case "open":
                self.name = fields["name"]
                self.neighbors = fields["neighbors"] and Neighbors(fields["neighbors"])
                self.unit = fields["unit"] and Unit(**fields["unit"])
                self._accounts(fields["accounts"])
            case "admit":
                self._accounts(fields["accounts"])
            case "raise":
                self._raise(read_account(fields["account"]), _reasoned(fields), anew)
            case "expire":
                account = read_account(fields["account"])
                self.accounts[account] = replace(self.accounts[account], expired=_reasoned(fields)["reason"])
            case "reserve":
                self._charge(fields, anew)
                self.reserved.add(link.key)
                self.dangling[link.key] = link
            case "fail":
                if not self.is_open(fields["of"], fields["turn"]):
                    raise ValueError("there is no such open reservation")
                self.waiting[fields["of"]] = str(fields["asked"])
            case "resume":
                del self.waiting[fields["of"]]
                self.turns[fields["of"]] += 1
            case "commit":
                if link.key in self.waiting:
                    raise ValueError("its reservation failed and was not taken up again")
                reserved = self.dangling.pop(link.key, None)
                if reserved is None or reserved.number != fields["reservation"]:
                    raise ValueError("there is no such open reservation")
            case "reanchor":
                pass
            case other:
                raise ValueError(f"there is no kind {other!r}")

    def _charge(self, fields: dict[str, Any], anew: bool) -> None:
        if anew:
            self._check_charged(fields)
        for charge in fields["charges"]:
            account = read_account(charge["account"])
            before = self.accounts[account]
            self.accounts[account] = before.followed(charge, _price(fields), partial(_event, fields), anew)

    def _check_charged(self, fields: dict[str, Any]) -> None:
        """See that a charge is to every account that it concerns, and a waived one to none."""
        scope = Scope(fields["analyst"], fields.get("table"), fields.get("project"))
        needed = {None, *scope.accounts(self.kinds)} if fields["price"] else set()
        charged = [read_account(charge["account"]) for charge in fields["charges"]]
        if len(charged) != len(needed) or set(charged) != needed:
            missing = " and ".join(sorted(map(holder, needed.difference(charged)))) or "these accounts alone"
            raise ValueError(f"it is not charged to {missing}")

    def _raise(self, account: Account, fields: dict[str, Any], anew: bool) -> None:
        self.accounts[account] = self.accounts[account].raised_as(fields)
        if anew:
            recompute_raise(self.accounts[account])

    def _accounts(self, opened: list[dict[str, Any]]) -> None:
        for fields in opened:
            account = read_account(fields["account"])
            if account in self.accounts:
                raise ValueError(f"the account of {holder(account)} is opened twice")
            self.accounts[account] = AccountState(Budget(fields["epsilon"], fields["delta"]))
            self.kinds.add(kind_of(account))
            if "unit" in fields:
                self.units[fields["account"]["table"]] = Unit(**fields["unit"])


def opened(account: Account, budget: Budget) -> dict[str, Any]:
    """An account as an entry opens it."""
    check_budget("account", budget)
    return {"account": written_account(account), "epsilon": budget.epsilon, "delta": budget.delta}


def entry(link: ChainEntry, committed: bool) -> Entry:
    """A reservation as people read it."""
    fields = link.fields
    price = Price(0.0, 0.0) if fields["price"] is None else _price(fields)
    return Entry(
        number=link.number,
        at=day(fields["at"]),
        key=link.key,
        purpose=fields["purpose"],
        event=_event(fields),
        analyst=fields["analyst"],
        waiver=fields["waiver"],
        epsilon=price.epsilon,
        delta=price.delta,
        committed=committed,
        head=link.hash,
        secret=fields.get("secret", True),
        table=fields.get("table"),
        project=fields.get("project"),
    )


day: Callable[[str], str] = itemgetter(slice(10))
"""The day of an entry; those of early ledgers have more of the time, which is not shown."""


def _event(fields: dict[str, Any]) -> Event:
    return _read(canonical(fields["event"]))


_read = lru_cache(maxsize=1024)(read)


def _price(fields: dict[str, Any]) -> Price:
    return Price(fields["price"]["epsilon"], fields["price"]["delta"])


def _reasoned(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields["reason"]:
        raise ValueError("the owner's reason is missing")
    return fields


def _fault(link: ChainEntry, obstacle: str) -> LedgerBroken:
    return LedgerBroken(
        f"ledger entry {link.number}",
        obstacle,
        "Restore the newest intact copy of the file, its -wal and its .head, and compare its head with one kept"
        " elsewhere; never start a new account for the same data.",
        entry=link.number,
    )
