"""What the owner of a ledger that outlives its process does with its accounts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Unit
from discreet.ledger.account import Account, AccountPart, Scope, holder, kind_of, written_account
from discreet.ledger.account_state import AccountState
from discreet.ledger.book_ledger import BookLedger, Page, unit_fields
from discreet.ledger.chain import opened
from discreet.ledger.ledger_view import StoredView, one_account, unknown

if TYPE_CHECKING:
    from discreet.crypto.identity import Identity


class StoredLedger(BookLedger, StoredView):
    """A ledger in a file or in a database: analysts are admitted, caps are raised, accounts expire."""

    def within(self, *, table: str | None = None, project: str | None = None, analyst: str | None = None) -> Self:
        """The same ledger, for charges of one table, one project and one analyst.

        Parameters
        ----------
        table, project, analyst : str, optional
            Public. Their names; what is not given stays. A table or a project has to be there already.

        Examples
        --------
        >>> import tempfile
        >>> from discreet.core.neighbors import Neighbors, Unit
        >>> from discreet.ledger.sqlite_ledger import SqliteLedger
        >>> folder, person = tempfile.TemporaryDirectory(), Unit("user", column="id")
        >>> people = SqliteLedger.create(
        ...     folder.name + "/people", Budget(2.0), name="people", neighbors=Neighbors.ADD_REMOVE, unit=person
        ... )
        >>> people.add_table("visits", Budget(1.0), Unit("user", column="patient", rows=20))
        >>> visits = people.within(table="visits")
        >>> visits.unit.rows, visits.balance().budget.epsilon, visits.balance(table="visits").budget.epsilon
        (20, 2.0, 1.0)
        >>> people.close(); folder.cleanup()
        """
        given = {"table": table, "project": project, "analyst": analyst}
        scope = replace(self.scope, **{name: value for name, value in given.items() if value is not None})
        known = self.accounts
        for account in scope.accounts(()):
            if account not in known:
                raise unknown(f"use the ledger of {self.name}", account, ("table", "project"))
        return self._scoped(scope)

    def _scoped(self, scope: Scope) -> Self:
        """The same ledger with another scope."""
        other = type(self)(self._book, scope)
        other.signer = self.signer
        return other

    def signed_by(self, signer: Identity) -> Self:
        """The same ledger, with a signed checkpoint in every receipt: `discreet receipt verify` needs the card alone.

        Parameters
        ----------
        signer : Identity
            Whoever keeps the ledger. The key stays in this object: a pickled copy does not sign.
        """
        other = self._scoped(self.scope)
        other.signer = signer
        return other

    def admit(self, analyst: str, budget: Budget) -> None:
        """Give one more analyst a cap; as soon as there is one, every charge must name its analyst."""
        self._add(analyst, budget)

    def add_project(self, name: str, budget: Budget) -> None:
        """Give a project a cap; as soon as there is one, every charge must name its project."""
        self._add(AccountPart("project", name), budget)

    def add_table(self, name: str, budget: Budget, unit: Unit) -> None:
        """Give a table of the same people a cap; as soon as there is one, every charge must name its table.

        Parameters
        ----------
        name : str
            Public. What the table is called.
        budget : Budget
            Public. Its cap, at most that of all tables together.
        unit : Unit
            Public. How a person is found in this table and how many rows count: of the kind that the ledger was opened
            for, since a person in all tables together is what its budget protects.
        """
        whole = self._book.chain.unit
        if whole is not None and unit.kind != whole.kind:
            obstacle = f"its unit is a {unit.kind}, and the ledger protects a {whole.kind} in all tables together"
            raise ParameterError(f"add table {name}", obstacle, f"Say how a {whole.kind} is found in it.")
        self._add(AccountPart("table", name), budget, unit=unit_fields(unit))

    def _add(self, account: Account, budget: Budget, **more: Any) -> None:
        def decided(page: Page) -> None:
            new = smaller(account, budget, page.chain.accounts[None].budget) | more
            if account in page.chain.accounts:
                raise ParameterError(f"admit {account}", "the account is open already", "Raise its cap instead.")
            page.add("admit", _entry_key(page, account), accounts=[new])

        self._book.decided(decided)

    def raise_cap(
        self,
        budget: Budget,
        reason: str,
        *,
        analyst: str | None = None,
        table: str | None = None,
        project: str | None = None,
    ) -> None:
        """Raise the cap of everybody, of one analyst, one table or one project, for a reason that goes on record.

        Everything that was ever released, together, then keeps the larger budget and no longer the smaller one.

        Parameters
        ----------
        budget : Budget
            Public. At least as much as before in both parts; for an analyst, not more than the data set has.
        reason : str
            Public. Why.
        analyst, table, project : str, optional
            Public. Whose cap; by default, that of everybody together.
        """
        account = one_account("raise a cap", analyst, table, project)
        asked = f"raise the cap of {holder(account)}"
        _check_reason(asked, reason)

        def decided(page: Page) -> None:
            if account is not None:
                smaller(account, budget, page.chain.accounts[None].budget)
            try:
                larger = _known(page, asked, account).raised(budget)
            except ValueError as why:
                raise ParameterError(asked, str(why), "A cap can be raised, never lowered.") from None
            page.add(
                "raise", page.chain.head, account=written_account(account), reason=reason, **larger.written_raise()
            )

        self._book.decided(decided)

    def expire(
        self, reason: str, *, analyst: str | None = None, table: str | None = None, project: str | None = None
    ) -> None:
        """Let nothing be charged any more, by anybody or to one of these, for a reason that goes on record.

        What was paid for stays in the ledger.
        """
        account = one_account("expire an account", analyst, table, project)
        asked = f"expire the account of {holder(account)}"
        _check_reason(asked, reason)

        def decided(page: Page) -> None:
            if no := _known(page, asked, account).closed(asked, account):
                raise no
            page.add("expire", page.chain.head, account=written_account(account), reason=reason)

        self._book.decided(decided)


def _known(page: Page, asked: str, account: Account) -> AccountState:
    if account not in page.chain.accounts:
        raise unknown(asked, account)
    return page.chain.accounts[account]


def _entry_key(page: Page, account: Account) -> str:
    """The key of the entry that opens an account: an analyst's name; for others, what no analyst is called."""
    return account if isinstance(account, str) else str(page.chain.head)


def _check_reason(asked: str, reason: str) -> None:
    if not reason.strip():
        raise ParameterError(asked, "the reason is empty", "Say why; it goes on record.")


def smaller(account: Account, budget: Budget, whole: Budget) -> dict[str, Any]:
    """A new account that is within that of the data set."""
    if not (account.name if isinstance(account, AccountPart) else account):
        raise ParameterError(f"cap of {kind_of(account) or 'an analyst'}", "the name is empty", "Give a name.")
    if budget.epsilon > whole.epsilon or budget.delta > whole.delta:
        raise ParameterError(f"cap of {account}", f"{budget} exceeds {whole} of the data set", "Give a smaller cap.")
    return opened(account, budget)
