"""A budget for one plan, in memory: what a learner opens when it is given an epsilon of its own."""

from __future__ import annotations

import json
import os
import secrets
import threading
from functools import lru_cache
from typing import Any, NoReturn

from discreet.accounting import accountant
from discreet.accounting.admission import check_relation, waived
from discreet.accounting.chain import BEFORE_ALL, ChainEntry, canonical, sealed
from discreet.accounting.filters import NOTHING, privacy_filter, pure_price
from discreet.accounting.replay import check_same, committed, paid, request_digest, result_digest
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, LedgerError
from discreet.core.events import Event, read, written
from discreet.core.ledger import Balance, Committed, Entry, Reservation
from discreet.core.neighbors import Neighbors, Unit


class SinglePlan:
    """A ledger that pays for exactly one plan.

    The plan is fixed before the first answer, so it is priced by the tight accountant rather than by a filter: its
    delta at the budget's epsilon, computed from above, must not exceed the budget's delta. There is no tolerance.

    Parameters
    ----------
    budget : Budget
        Public. What the plan may cost.
    neighbors, unit
        Public. The relation and the unit that the plan speaks of, if known.

    Guarantee
    ---------
    The one plan that it admits is (budget.epsilon, budget.delta), by the accountant's theorem; if epsilons and deltas
    alone add up to no more, by basic composition (Dwork, McSherry, Nissim and Smith 2006).

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> account = SinglePlan(Budget(1.0))
    >>> account.commit(account.reserve(PureLoss(1.0), "a fit", request="fit"), b"model").result
    b'model'
    >>> account.affords(PureLoss(0.1))
    False
    """

    def __init__(self, budget: Budget, neighbors: Neighbors | None = None, unit: Unit | None = None) -> None:
        self.budget, self.neighbors, self.unit = budget, neighbors, unit
        self._links: dict[tuple[str, str], ChainEntry] = {}
        self._results: dict[str, bytes] = {}
        self._mutex = threading.Lock()
        self._process = os.getpid()

    @property
    def head(self) -> str:
        """The hash of everything recorded so far."""
        return next(reversed(self._links.values())).hash if self._links else BEFORE_ALL

    def balance(self, analyst: str | None = None) -> Balance:
        """All or nothing."""
        return Balance(self.budget, self.budget.epsilon, 1.0) if self._plan else Balance(self.budget, 0.0, 0.0)

    def entries(self) -> tuple[Entry, ...]:
        """The plan, and what was waived."""
        return tuple(self._entry(link) for link in self._links.values() if link.kind == "reserve")

    def affords(self, event: Event, *, analyst: str | None = None) -> bool:
        """Whether `reserve` would accept this plan now; charges nothing."""
        check_relation(event, self.neighbors, "preview")
        return self._plan is None and self._refusal(event, "preview") is None

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
        """Charge the plan, or give back what its key already paid for; see `core.ledger.Ledger`."""
        key = secrets.token_hex(16) if key is None else key
        digest = request_digest(event, request, analyst)
        check_relation(event, self.neighbors, purpose)
        refusal = None if waived(event, waiver, purpose) else self._refusal(event, purpose)
        with self._mutex:
            self._stay_here()
            if reserved := self._links.get(("reserve", key)):
                done = paid(reserved, self._links.get(("commit", key)), digest)
                return committed(done, self._results[key], replayed=True)
            if waiver is None and self._plan:
                raise _spent(purpose, self._plan.fields["purpose"])
            if refusal:
                raise refusal
            fields = {"purpose": purpose, "analyst": analyst, "waiver": waiver, "request": digest}
            link = self._add("reserve", key, event=json.loads(written(event)), **fields)
            return Reservation(key, link.number, link.hash)

    def commit(self, reservation: Reservation, result: bytes) -> Committed:
        """Record the result; only what this returns may be handed out."""
        with self._mutex:
            self._stay_here()
            reserved = self._links.get(("reserve", reservation.key))
            if reserved is None or reserved.hash != reservation.head:
                raise LedgerError(f"commit {reservation.key}", "there is no such reservation", "Reserve it first.")
            if done := self._links.get(("commit", reservation.key)):
                check_same(done, result)
                return committed(done, result, replayed=True)
            self._results[reservation.key] = result
            link = self._add("commit", reservation.key, reservation=reserved.number, result=result_digest(result))
            return committed(link, result, replayed=False)

    def __copy__(self) -> SinglePlan:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SinglePlan:
        return self

    def __reduce__(self) -> NoReturn:
        raise LedgerError(
            "copy the account of a single plan",
            "it lives in one process, and a copy would spend the budget twice",
            "Use a SqliteLedger, which processes can share.",
        )

    @property
    def _plan(self) -> ChainEntry | None:
        """The reservation that took the budget."""
        kept = (link for link in self._links.values() if link.kind == "reserve" and link.fields["waiver"] is None)
        return next(kept, None)

    def _refusal(self, event: Event, purpose: str) -> BudgetExceeded | None:
        """Why the plan cannot be paid, if it cannot."""
        budget = self.budget
        sums = privacy_filter(budget, "pure")
        added = sums.price(event) if budget.delta == 0 else pure_price(event)
        if added and sums.admits(NOTHING, added):
            return None
        if budget.delta == 0:
            epsilon, delta = sums.price(event).floats
        else:
            epsilon, delta = budget.epsilon, _delta(event, budget.epsilon)
            if delta <= budget.delta:
                return None
        return BudgetExceeded(
            purpose,
            f"the plan needs epsilon {epsilon:.12g} at delta {delta:.6g}; the budget allows {budget.epsilon:.12g}"
            f" at delta {budget.delta:g}",
            "Plan less, or with more noise.",
            epsilon=epsilon,
            delta=delta,
            budget=budget,
        )

    def _stay_here(self) -> None:
        if os.getpid() != self._process:
            raise LedgerError(
                "the account of a single plan",
                "this process is a fork of the one that opened it, and both would spend the budget",
                "Open the account in the process that uses it, or use a SqliteLedger.",
            )

    def _add(self, kind: str, key: str, **fields: Any) -> ChainEntry:
        link = sealed(self.head, len(self._links), kind, key, **fields)
        self._links[kind, key] = link
        return link

    def _entry(self, link: ChainEntry) -> Entry:
        fields = link.fields
        charged = fields["waiver"] is None
        return Entry(
            number=link.number,
            at=fields["at"],
            key=link.key,
            purpose=fields["purpose"],
            event=read(canonical(fields["event"])),
            analyst=fields["analyst"],
            waiver=fields["waiver"],
            divergence=self.budget.epsilon if charged else 0.0,
            delta=self.budget.delta if charged else 0.0,
            committed=("commit", link.key) in self._links,
            head=link.hash,
        )


@lru_cache(maxsize=1024)
def _delta(event: Event, epsilon: float) -> float:
    return accountant.delta(event, epsilon)


def _spent(purpose: str, earlier: str) -> BudgetExceeded:
    return BudgetExceeded(
        purpose,
        f"the budget was for one plan, and {earlier!r} took it",
        "Put everything into one plan, or keep a SqliteLedger for the data set.",
    )
