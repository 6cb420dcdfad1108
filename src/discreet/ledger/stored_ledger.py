"""What the owner of a ledger that outlives its process does with its accounts."""

from __future__ import annotations

from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.ledger.account_state import AccountState
from discreet.ledger.book_ledger import BookLedger, Page
from discreet.ledger.chain import opened
from discreet.ledger.ledger_view import StoredView, unknown


class StoredLedger(BookLedger, StoredView):
    """A ledger in a file or in a database: analysts are admitted, caps are raised, accounts expire."""

    def admit(self, analyst: str, budget: Budget) -> None:
        """Give one more analyst a cap; as soon as there is one, every charge must name its analyst."""

        def decided(page: Page) -> None:
            new = smaller(analyst, budget, page.chain.accounts[None].budget)
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
                smaller(analyst, budget, page.chain.accounts[None].budget)
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


def _known(page: Page, asked: str, analyst: str | None) -> AccountState:
    if analyst not in page.chain.accounts:
        raise unknown(asked, analyst)
    return page.chain.accounts[analyst]


def _check_reason(asked: str, reason: str) -> None:
    if not reason.strip():
        raise ParameterError(asked, "the reason is empty", "Say why; it goes on record.")


def smaller(analyst: str, budget: Budget, whole: Budget) -> dict[str, Any]:
    """A new account that is within that of the data set."""
    if not analyst:
        raise ParameterError("cap of an analyst", "the name is empty", "Give a name.")
    if budget.epsilon > whole.epsilon or budget.delta > whole.delta:
        raise ParameterError(f"cap of {analyst}", f"{budget} exceeds {whole} of the data set", "Give a smaller cap.")
    return opened(analyst, budget)
