"""Accounts of a ledger: of everybody, of tables, of projects, of analysts; and which of them a charge concerns.

A ledger may be that of a population: the same people in several tables. Every charge counts in the account of the
population and, where there are any, in those of its table, its project and its analyst: in all of them, or in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from discreet.display.plain import plain

Kind = Literal["analyst", "table", "project"]


@dataclass(frozen=True)
class AccountPart:
    """A table of the population, or a project.

    Examples
    --------
    >>> print(AccountPart("table", "visits"))
    table visits
    """

    kind: Literal["table", "project"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {plain(self.name)}"


Account = str | AccountPart | None
"""An analyst's name; a table or a project; or None for everybody's own account."""


def holder(account: Account) -> str:
    """Whose account it is, in words."""
    return str(account) if account else "the data set"


def kind_of(account: Account) -> Kind | None:
    """What an account is of; None for everybody's."""
    if isinstance(account, AccountPart):
        return account.kind
    return None if account is None else "analyst"


def written_account(account: Account) -> Any:
    """An account as an entry names it; an analyst by the name alone."""
    return {account.kind: account.name} if isinstance(account, AccountPart) else account


def read_account(plain: Any) -> Account:
    """The account that an entry names.

    Raises
    ------
    ValueError
        It names none.
    """
    match plain:
        case None | str():
            return plain
        case {"table": str(name)} if len(plain) == 1:
            return AccountPart("table", name)
        case {"project": str(name)} if len(plain) == 1:
            return AccountPart("project", name)
        case _:
            raise ValueError(f"there is no account {plain!r:.80}")


@dataclass(frozen=True)
class Scope:
    """On behalf of whom, for which project and of which table something is asked.

    Parameters
    ----------
    analyst, table, project : str, optional
        Public. Their names.
    """

    analyst: str | None = None
    table: str | None = None
    project: str | None = None

    def accounts(self, kinds: Iterable[Kind | None]) -> Iterator[Account]:
        """The accounts that a charge needs, of a ledger that has some of these kinds; None for one nobody named."""
        named: tuple[tuple[Kind, Account], ...] = (
            ("table", self.table and AccountPart("table", self.table)),
            ("project", self.project and AccountPart("project", self.project)),
            ("analyst", self.analyst),
        )
        for kind, account in named:
            if kind in kinds or (account is not None and kind != "analyst"):
                yield account

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """What an entry says of it beside the analyst: nothing, where nothing is named."""
        named = {"table": self.table, "project": self.project}
        return {name: value for name, value in named.items() if value is not None}


NOBODY = Scope()
"""Where nobody and nothing is named."""
