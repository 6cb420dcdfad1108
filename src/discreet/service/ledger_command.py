"""`discreet ledger`: open, show and verify the account of a data set."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from discreet.accounting.ledger_view import verify as verified
from discreet.accounting.sqlite_ledger import SqliteLedger
from discreet.accounting.statement import show as statement
from discreet.core.budget import Budget
from discreet.core.display import plain
from discreet.query.schema_file import read_schema


def create(arguments: Namespace) -> int:
    """Open an account for the schema's neighbors and unit."""
    described = read_schema(arguments.schema)
    budget = Budget(arguments.epsilon, arguments.delta)
    name = Path(arguments.ledger).stem
    with SqliteLedger.create(
        arguments.ledger, budget, name=name, neighbors=described.neighbors, unit=described.unit
    ) as ledger:
        print(f"Opened {plain(arguments.ledger)} with epsilon {budget.epsilon:g}, delta {budget.delta:g}.")
        print(f"head {ledger.head}")
    return 0


def show(arguments: Namespace) -> int:
    """Print every charge and how the account stands."""
    print(statement(arguments.ledger))
    return 0


def verify(arguments: Namespace) -> int:
    """Check every entry; an error if anything was changed, cut off or rolled back."""
    found = verified(arguments.ledger, arguments.head)
    print(f"Whole: {found.entries} entries, {found.dangling} dangling charges.")
    print(f"head {found.head}")
    return 0
