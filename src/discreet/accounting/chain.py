"""A chain of entries, each sealed by a hash over itself and all before it, and what they add up to.

The body of an entry is canonical JSON (sorted keys, no spaces, ASCII). Its hash is SHA-256 of the hash before it, a
newline and the body; the first entry follows 64 zeros. Amounts are decimal text in the units of `filters.Amount`.

    open      the data set's name, neighbors, unit and the filter of every account
    admit     the filter of an analyst who came later
    reserve   a charge: event, purpose, analyst, waiver, the request's digest; the charges and the balances after them
    commit    the digest of the result that the reservation paid for
    reanchor  the owner trusts the chain as it stands, and why

The chain shows any edit to whoever kept a head. It cannot show that somebody rewrote all of it, or cut its end off:
for that, keep the head elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet.accounting.filters import NOTHING, Amount, Filter
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, LedgerBroken
from discreet.core.events import read
from discreet.core.ledger import Balance, Entry
from discreet.core.neighbors import RECORD, Neighbors, Unit

BEFORE_ALL = "0" * 64
Account = str | None
"""An analyst's name, or None for the data set's own account."""


@dataclass(frozen=True)
class ChainEntry:
    """One entry as it is stored."""

    number: int
    kind: str
    key: str
    body: str
    hash: str

    @property
    def fields(self) -> dict[str, Any]:
        """What the body says."""
        fields = json.loads(self.body)
        if not isinstance(fields, dict):
            raise ValueError("the body is not an object")
        return fields


def canonical(value: Any) -> str:
    """JSON in the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sealed(before: str, number: int, kind: str, key: str, **fields: Any) -> ChainEntry:
    """The entry with these fields, made now, after the one whose hash is `before`."""
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    body = canonical({"number": number, "kind": kind, "key": key, "at": at, **fields})
    return ChainEntry(number, kind, key, body, seal(before, body))


def seal(before: str, body: str) -> str:
    """The hash of a body after another entry's hash."""
    return hashlib.sha256(f"{before}\n{body}".encode()).hexdigest()


class Chain:
    """What the entries so far add up to: accounts, balances, open reservations. Follows them one by one."""

    def __init__(self) -> None:
        self.number = -1
        self.head = BEFORE_ALL
        self.name = ""
        self.neighbors = Neighbors.ADD_REMOVE
        self.unit = RECORD
        self.filters: dict[Account, Filter] = {}
        self.spent: dict[Account, Amount] = {}
        self.reserved: set[str] = set()
        self.dangling: dict[str, int] = {}

    def next(self, kind: str, key: str, **fields: Any) -> ChainEntry:
        """The entry that would come next."""
        return sealed(self.head, self.number + 1, kind, key, **fields)

    def charges(self, prices: dict[Account, Amount]) -> list[dict[str, Any]]:
        """The charges as an entry holds them, with the balances after them."""
        return [
            {"account": account, "price": _text(price), "spent": _text(self.spent[account] + price)}
            for account, price in prices.items()
        ]

    def refusal(self, asked: str, prices: dict[Account, Amount]) -> BudgetExceeded | None:
        """Why these charges cannot be paid, if they cannot."""
        for account, price in prices.items():
            rule, spent = self.filters[account], self.spent[account]
            if not rule.admits(spent, price):
                return _exceeded(asked, account, rule, spent, price)
        return None

    def balance(self, account: Account) -> Balance:
        """How an account stands."""
        rule, spent = self.filters[account], self.spent[account]
        return Balance(rule.budget, rule.epsilon(spent), rule.used(spent))

    def holds(self, kind: str, key: str) -> bool:
        """Whether there is a reservation, or a commit, of this key."""
        return key in self.reserved and (kind == "reserve" or key not in self.dangling)

    def follow(self, link: ChainEntry) -> None:
        """Check the next entry against all before it and add it up."""
        if link.number != self.number + 1 or seal(self.head, link.body) != link.hash:
            raise _fault(link, "it does not follow from the entries before it: something was edited or removed")
        try:
            fields = link.fields
            if (fields["number"], fields["kind"], fields["key"]) != (link.number, link.kind, link.key):
                raise ValueError("its columns do not match its body")
            if (link.kind == "open") != (link.number == 0):
                raise ValueError("a ledger is opened by its first entry and no other")
            self._add(link, fields)
        except (ValueError, KeyError, TypeError, AttributeError, DiscreetError) as why:
            raise _fault(link, f"it does not add up ({why})") from why
        self.number, self.head = link.number, link.hash

    def _add(self, link: ChainEntry, fields: dict[str, Any]) -> None:
        match link.kind:
            case "open":
                self.name = fields["name"]
                self.neighbors = Neighbors(fields["neighbors"])
                self.unit = Unit(**fields["unit"])
                self._accounts(fields["accounts"])
            case "admit":
                self._accounts(fields["accounts"])
            case "reserve":
                for charge in fields["charges"]:
                    self._charge(charge)
                self.reserved.add(link.key)
                self.dangling[link.key] = link.number
            case "commit":
                if self.dangling.pop(link.key, None) != fields["reservation"]:
                    raise ValueError("there is no such open reservation")
            case "reanchor":
                pass
            case other:
                raise ValueError(f"there is no kind {other!r}")

    def _accounts(self, rules: list[dict[str, Any]]) -> None:
        for rule in rules:
            if rule["account"] in self.filters:
                raise ValueError(f"the account of {rule['account']} is opened twice")
            self.filters[rule["account"]] = _filter(rule)
            self.spent[rule["account"]] = NOTHING

    def _charge(self, charge: dict[str, Any]) -> None:
        account, price = charge["account"], _amount(charge["price"])
        after = self.spent[account] + price
        if min(price.divergence, price.delta) < 0 or after != _amount(charge["spent"]):
            raise ValueError("the balance is not the sum of the charges")
        if not after.within(self.filters[account].cap):
            raise ValueError("the account is overdrawn")
        self.spent[account] = after


def rule(account: Account, filter: Filter) -> dict[str, Any]:
    """A filter as an entry holds it."""
    return {
        "account": account,
        "epsilon": filter.budget.epsilon,
        "delta": filter.budget.delta,
        "order": "inf" if math.isinf(filter.order) else filter.order,
        "cap": _text(filter.cap),
    }


def entry(link: ChainEntry, committed: bool) -> Entry:
    """A reservation as people read it."""
    fields = link.fields
    shared = [_amount(charge["price"]) for charge in fields["charges"] if charge["account"] is None]
    divergence, delta = sum(shared, NOTHING).floats
    return Entry(
        number=link.number,
        at=fields["at"],
        key=link.key,
        purpose=fields["purpose"],
        event=read(canonical(fields["event"])),
        analyst=fields["analyst"],
        waiver=fields["waiver"],
        divergence=divergence,
        delta=delta,
        committed=committed,
        head=link.hash,
    )


def _filter(rule: dict[str, Any]) -> Filter:
    return Filter(Budget(rule["epsilon"], rule["delta"]), float(rule["order"]), _amount(rule["cap"]))


def _text(amount: Amount) -> dict[str, str]:
    return {"divergence": str(amount.divergence), "delta": str(amount.delta)}


def _amount(text: dict[str, str]) -> Amount:
    return Amount(int(text["divergence"]), int(text["delta"]))


def _exceeded(asked: str, account: Account, rule: Filter, spent: Amount, price: Amount) -> BudgetExceeded:
    (needed, needed_delta), (left, left_delta) = price.floats, (rule.cap - spent).floats
    loss = "epsilon" if math.isinf(rule.order) else f"Renyi divergence (order {rule.order:g})"
    return BudgetExceeded(
        asked,
        f"it needs {loss} {needed:.12g} and delta {needed_delta:.6g}; the account of"
        f" {account or 'the data set'} has {left:.12g} and {left_delta:.6g} left",
        "Ask with more noise, or for less.",
        account=account,
        needed=needed,
        left=left,
        needed_delta=needed_delta,
        left_delta=left_delta,
    )


def _fault(link: ChainEntry, obstacle: str) -> LedgerBroken:
    return LedgerBroken(
        f"ledger entry {link.number}",
        obstacle,
        "Restore the newest intact copy of the file, its -wal and its .head, and compare its head with one kept"
        " elsewhere; never start a new account for the same data.",
        entry=link.number,
    )
