"""`discreet ledger`: open, show, verify and administer the account of a data set."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from pathlib import Path
from typing import Any

from discreet.core.budget import Budget
from discreet.core.ledger import Entry
from discreet.display.plain import plain
from discreet.ledger import backup
from discreet.ledger.account import Account, AccountPart, read_account
from discreet.ledger.chain import day
from discreet.ledger.ledger_view import text
from discreet.ledger.ledger_view import verify as verified
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.schema_file import read_schema
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.receipt_command import read_receipt
from discreet.service.cli.saying import WayOut, put, say

KINDS = ("admit", "raise", "expire", "reanchor")


def statement(ledger: SqliteLedger, analyst: str | None) -> dict[str, Any]:
    """The statement as plain numbers and texts; of one analyst, this account and these charges alone."""
    names: list[Account] = list(ledger.accounts) if analyst is None else [analyst]
    unit, neighbors = ledger.unit, ledger.neighbors
    return {
        "name": ledger.name,
        "neighbors": neighbors and neighbors.value,
        "unit": unit and unit.kind,
        "accounts": [_account(ledger, name) for name in names],
        "charges": [_charge(entry) for entry in ledger.entries() if analyst in (None, entry.analyst)],
        "administration": administration(ledger, analyst),
        "head": ledger.head,
    }


def _account(ledger: SqliteLedger, account: Account) -> dict[str, Any]:
    stands = ledger.accounts[account]
    named: dict[str, Any] = {account.kind: account.name} if isinstance(account, AccountPart) else {"analyst": account}
    return {**named, **stands.balance().to_dict(), "expired": stands.expired or None}


def _charge(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "at": entry.at,
        "key": entry.key,
        "analyst": entry.analyst,
        "purpose": entry.purpose,
        "event": entry.event.kind,
        "epsilon": _finite(entry.epsilon),
        "delta": entry.delta,
        "waiver": entry.waiver,
        "committed": entry.committed,
    }


def of_analyst(ledger: SqliteLedger, analyst: str) -> str:
    """One analyst's account and charges, in words."""
    lines = [f"{plain(analyst)}: {ledger.balance(analyst)}"]
    if why := ledger.accounts[analyst].expired:
        lines.append(f"expired: {plain(why)}")
    charges = (entry for entry in ledger.entries() if entry.analyst == analyst)
    return "\n".join([*lines, *map(_line, charges)])


def _line(entry: Entry) -> str:
    return f"{entry.number:>6}  {entry.at}  epsilon {entry.epsilon:.6g}  {plain(entry.purpose)}"


def _named(account: Any) -> str | None:
    """Whose account an entry is about, in words."""
    return str(read_account(account)) if account is not None else None


def administration(ledger: SqliteLedger, analyst: str | None) -> list[dict[str, Any]]:
    """Who was admitted, raised and expired, and why; of one analyst, what concerns this account."""
    found = []
    for link in ledger.chain():
        if link.kind in KINDS:
            fields = link.fields | (link.fields["accounts"][0] if link.kind == "admit" else {})
            found.append(
                {
                    "number": link.number,
                    "at": day(fields["at"]),
                    "kind": link.kind,
                    "analyst": _named(fields.get("account")),
                }
                | {name: fields[name] for name in ("epsilon", "delta", "reason") if name in fields}
            )
    return [each for each in found if analyst in (None, each["analyst"])]


def in_words(done: dict[str, Any]) -> str:
    """One act of administration on a line."""
    cap = f" epsilon {done['epsilon']:g}, delta {done['delta']:g}" if "epsilon" in done else ""
    why = f" ({plain(done['reason'])})" if "reason" in done else ""
    return f"{done['number']:>6}  {done['at']}  {done['kind']} {plain(done['analyst'] or 'data set')}{cap}{why}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


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


def back_up(arguments: Namespace) -> int:
    """Copy the ledger, its head and what is kept beside it."""
    head = backup.back_up(arguments.ledger, arguments.out)
    say(arguments, f"Copied to {plain(arguments.out)}. Keep the head elsewhere.\nhead {head}", copied=True, head=head)
    return 0


def restore(arguments: Namespace) -> int:
    """Put a copy in the place of the ledger; refused where a head or a receipt shows that something newer was there."""
    heads = [*arguments.head, *(read_receipt(file).receipt.head for file in arguments.receipt)]
    found = backup.restore(arguments.backup, arguments.ledger, heads)
    whole = f"Restored {plain(arguments.ledger)}: {found.entries} entries.\nhead {found.head}"
    say(arguments, whole, restored=True, entries=found.entries, head=found.head)
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
    out = WayOut("It was done, and is on record.", f"See it with: discreet ledger show {plain(arguments.ledger)}")
    say(arguments, f"{done}\nhead {ledger.head}", out, done=done, head=ledger.head)
    return 0
