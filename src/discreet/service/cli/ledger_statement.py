"""What `discreet ledger show` says beyond the statement: as JSON, of one analyst, and of the administration."""

from __future__ import annotations

import math
from typing import Any

from discreet.core.ledger import Entry
from discreet.display.plain import plain
from discreet.ledger.chain import day
from discreet.ledger.sqlite_ledger import SqliteLedger

KINDS = ("admit", "raise", "expire", "reanchor")


def statement(ledger: SqliteLedger, analyst: str | None) -> dict[str, Any]:
    """The statement as plain numbers and texts; of one analyst, this account and these charges alone."""
    names = list(ledger.accounts) if analyst is None else [analyst]
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


def _account(ledger: SqliteLedger, analyst: str | None) -> dict[str, Any]:
    balance, expired = ledger.balance(analyst), ledger.accounts[analyst].expired or None
    return {"analyst": analyst, **balance.to_dict(), "expired": expired}


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


def administration(ledger: SqliteLedger, analyst: str | None) -> list[dict[str, Any]]:
    """Who was admitted, raised and expired, and why; of one analyst, what concerns this account."""
    found = []
    for link in ledger.chain():
        if link.kind in KINDS:
            fields = link.fields | (link.fields["accounts"][0] if link.kind == "admit" else {})
            found.append(
                {"number": link.number, "at": day(fields["at"]), "kind": link.kind, "analyst": fields.get("account")}
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
