"""`discreet ledger`: open, show, verify and administer the account of a data set."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from discreet.core.budget import Budget
from discreet.display.plain import plain
from discreet.ledger.ledger_view import text
from discreet.ledger.ledger_view import verify as verified
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.schema_file import read_schema
from discreet.service.cli.ledger_statement import administration, in_words, of_analyst, statement
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.saying import put, say


def create(arguments: Namespace) -> int:
    """Open an account for the schema's neighbors and unit."""
    described = read_schema(arguments.schema)
    budget = Budget(arguments.epsilon, arguments.delta)
    name = Path(arguments.ledger).stem
    with SqliteLedger.create(
        arguments.ledger, budget, name=name, neighbors=described.neighbors, unit=described.unit
    ) as ledger:
        done = f"Opened {plain(arguments.ledger)} with epsilon {budget.epsilon:g}, delta {budget.delta:g}."
        return _told(done, ledger, arguments)


def show(arguments: Namespace) -> int:
    """Print every charge and how the account stands, or what concerns one analyst."""
    with SqliteLedger.open(arguments.ledger) as ledger:
        words = text(ledger) if arguments.analyst is None else of_analyst(ledger, arguments.analyst)
        done = map(in_words, administration(ledger, arguments.analyst))
        say(arguments, "\n".join([words, *done]), **statement(ledger, arguments.analyst))
    return 0


def verify(arguments: Namespace) -> int:
    """Check every entry; an error if anything was changed, cut off or rolled back."""
    found = verified(arguments.ledger, arguments.head)
    whole = f"Whole: {found.entries} entries, {found.dangling} dangling charges.\nhead {found.head}"
    say(arguments, whole, whole=True, entries=found.entries, dangling=found.dangling, head=found.head)
    return 0


def admit(arguments: Namespace) -> int:
    """Give an analyst a cap; from then on every charge must name its analyst."""
    budget = Budget(arguments.epsilon, arguments.delta)
    with SqliteLedger.open(arguments.ledger) as ledger:
        ledger.admit(arguments.analyst, budget)
        done = f"Admitted {plain(arguments.analyst)} with epsilon {budget.epsilon:g}, delta {budget.delta:g}."
        return _told(done, ledger, arguments)


def raise_cap(arguments: Namespace) -> int:
    """Raise the cap of the data set or of one analyst; what is not given stays."""
    with SqliteLedger.open(arguments.ledger) as ledger:
        now = ledger.balance(arguments.analyst).budget
        epsilon = now.epsilon if arguments.epsilon is None else arguments.epsilon
        budget = Budget(epsilon, now.delta if arguments.delta is None else arguments.delta)
        ledger.raise_cap(budget, arguments.reason, analyst=arguments.analyst)
        whose = plain(arguments.analyst or "the data set")
        return _told(f"Raised {whose} to epsilon {budget.epsilon:g}, delta {budget.delta:g}.", ledger, arguments)


def expire(arguments: Namespace) -> int:
    """Let nothing be charged any more, by anybody or by one analyst."""
    with SqliteLedger.open(arguments.ledger) as ledger:
        ledger.expire(arguments.reason, analyst=arguments.analyst)
        return _told(f"Expired: {plain(arguments.analyst or 'the data set')}.", ledger, arguments)


def export(arguments: Namespace) -> int:
    """Write every entry of the chain, one JSON object to a line, for an auditor."""
    with SqliteLedger.open(arguments.ledger) as ledger:
        lines = [json.dumps({"body": link.body, "hash": link.hash}) for link in ledger.chain()]
        if arguments.out is None:
            put("\n".join(lines))
            return 0
        with OutFile(arguments.out, (arguments.ledger,)) as out:
            out.write("\n".join(lines) + "\n", "Nothing was charged.", "Run again.")
        return _told(f"Wrote {len(lines)} entries to {plain(arguments.out)}.", ledger, arguments)


def _told(done: str, ledger: SqliteLedger, arguments: Namespace) -> int:
    """Print what was done and the head to keep elsewhere."""
    say(arguments, f"{done}\nhead {ledger.head}", done=done, head=ledger.head)
    return 0
