"""What can go wrong, as a small tree.

    DiscreetError
    ├── ParameterError          a request that cannot be right, found before any charge (also a ValueError)
    │   └── SchemaError         a schema, or a column asked for, that does not fit
    ├── BudgetExceeded          the ledger says no
    ├── UnplannedRelease        a permit was asked for something that its plan did not pay for
    ├── Unaccountable           an event that this way of accounting cannot price soundly
    ├── NotPermitted            a release without a promise, or a question that this trust model cannot ask
    ├── LedgerError             the account itself
    │   ├── LedgerMissing       no file where one should be: never a fresh budget
    │   ├── LedgerBroken        truncated, edited or rolled back
    │   ├── KeyReused           the key of one request, sent with another
    │   └── UncommittedCharge            reserved once, never committed: stays spent
    ├── EngineFailure           what holds the records failed: a file, a database, a cluster
    └── MissingExtra            an optional dependency is not installed (also an ImportError)

Every message has four parts: what was asked, what stands in the way, what happened to the budget, what would work.
The values are attributes, so that a program can read them too.
"""

from __future__ import annotations

from typing import Any

from discreet.display.plain import plain

UNTOUCHED = "Nothing was released or spent."
UNSETTLED = (UNTOUCHED, "Nothing was released.")


class DiscreetError(Exception):
    """Any refusal of this library.

    Parameters
    ----------
    asked : str
        What was asked, in the words of the caller.
    obstacle : str
        What stands in the way.
    remedy : str
        What would work.
    consequence : str
        What happened to data and budget.
    **values
        The numbers behind the words; each becomes an attribute.
    """

    def __init__(
        self, asked: str, obstacle: str, remedy: str = "", consequence: str = UNTOUCHED, **values: Any
    ) -> None:
        self.asked, self.obstacle, self.remedy, self.consequence = asked, obstacle, remedy, consequence
        self.values = values
        for name, value in values.items():
            setattr(self, name, value)
        super().__init__(self._text)

    @property
    def _text(self) -> str:
        parts = (f"{self.asked}: {self.obstacle}.", self.consequence, self.remedy)
        return plain(" ".join(part for part in parts if part))

    def settle(self, consequence: str) -> None:
        """Say what happened to the budget, by whoever knows that something was charged before this was raised."""
        if self.consequence in UNSETTLED:
            self.consequence = consequence
            self.args = (self._text,)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.asked, self.obstacle, self.remedy, self.consequence, self.values)


def _rebuilt(
    kind: type[DiscreetError], asked: str, obstacle: str, remedy: str, consequence: str, values: dict[str, Any]
) -> DiscreetError:
    return kind(asked, obstacle, remedy, consequence, **values)


class ParameterError(DiscreetError, ValueError):
    """A request that cannot be right, whatever the data are."""


class SchemaError(ParameterError):
    """A schema that does not hold together, or a column that it does not have."""


class BudgetExceeded(DiscreetError):
    """The ledger's filter refuses the charge."""


class UnplannedRelease(DiscreetError):
    """The permit's plan does not pay for this release."""


class Unaccountable(DiscreetError):
    """The event has no sound price in the currency asked for."""


class NotPermitted(DiscreetError):
    """The data set's rules forbid this release."""


class LedgerError(DiscreetError):
    """The account cannot be used as it is."""


class LedgerMissing(LedgerError):
    """There is no ledger where one should be."""


class LedgerBroken(LedgerError):
    """The ledger's own record does not hold together."""


class KeyReused(LedgerError):
    """One key, two different requests."""


class UncommittedCharge(LedgerError):
    """The charge of this key was reserved and never committed."""


class EngineFailure(DiscreetError):
    """What holds the records failed, whatever was asked: a file, a database, a cluster."""


class MissingExtra(DiscreetError, ImportError):
    """An optional dependency is not installed."""
