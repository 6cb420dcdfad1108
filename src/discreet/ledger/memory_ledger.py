"""An account in memory: what `PrivateData.of` and learners open when they are given a budget."""

from __future__ import annotations

from typing import Any, NoReturn

from discreet.core.budget import Budget
from discreet.core.errors import LedgerError, ParameterError
from discreet.core.ledger import Ledger
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.book_ledger import BookLedger, unit_fields
from discreet.ledger.chain import opened
from discreet.ledger.memory_book import MemoryBook


class MemoryLedger(BookLedger):
    """A ledger that pays for as many plans as its budget allows, and ends with its process.

    Parameters
    ----------
    budget : Budget
        Public. What all plans together may cost.
    neighbors, unit
        Public. The relation and the unit that every charge speaks of, if known.
    name : str
        Public. What the data set is called.

    Guarantee
    ---------
    All results that it committed are, together, within the budget, however the events were chosen (`union`); waived
    releases excepted.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> account = MemoryLedger(Budget(1.0))
    >>> account.commit(account.reserve(PureLoss(0.75), "a fit", request="fit"), b"model").result
    b'model'
    >>> account.affords(PureLoss(0.25)), account.affords(PureLoss(0.3))
    (True, False)
    """

    def __init__(
        self, budget: Budget, neighbors: Neighbors | None = None, unit: Unit | None = None, *, name: str = "in memory"
    ) -> None:
        relation = neighbors and neighbors.value
        super().__init__(
            MemoryBook(name=name, neighbors=relation, unit=unit_fields(unit), accounts=[opened(None, budget)])
        )

    def __copy__(self) -> MemoryLedger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> MemoryLedger:
        return self

    def __reduce__(self) -> NoReturn:
        raise LedgerError(
            "copy an account in memory",
            "it lives in one process, and a copy would spend the budget twice",
            "Use a SqliteLedger, which processes can share.",
        )

    def __repr__(self) -> str:
        return f"MemoryLedger({self.balance()})"


def account_of(ledger: Ledger | Budget, neighbors: Neighbors, unit: Unit) -> Ledger:
    """A ledger as it is; or, for a budget alone, an account in memory.

    Examples
    --------
    >>> from discreet.core.neighbors import RECORD
    >>> account_of(Budget(1.0), Neighbors.ADD_REMOVE, RECORD)
    MemoryLedger(epsilon 0 of 1 at delta 0 is used; 1 is left)
    """
    if isinstance(ledger, Budget):
        return MemoryLedger(ledger, neighbors, unit)
    if not hasattr(ledger, "reserve"):
        remedy = "Give a Budget(epsilon, delta), or a ledger such as SqliteLedger.open(path)."
        raise ParameterError("account", f"it is {ledger!r:.80}", remedy)
    return ledger
