"""`discreet receipt verify`: whether a receipt is one of this ledger's."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from discreet.accounting.sqlite_ledger import SqliteLedger
from discreet.core.display import plain
from discreet.core.errors import LedgerError, ParameterError
from discreet.core.events import written
from discreet.core.receipt import Receipt
from discreet.service.saying import say


def verify(arguments: Namespace) -> int:
    """Check that the ledger holds the charge of a receipt, for this event, price, relation and unit, with this head."""
    receipt = _read(arguments.file)
    with SqliteLedger.open(arguments.ledger) as ledger:
        ledger.verify()
        faults = _faults(receipt, ledger)
    if faults:
        raise LedgerError(
            f"receipt {plain(arguments.file)}",
            f"the ledger has {' and '.join(faults)}",
            "Take the receipt and the ledger that belong together.",
            "Nothing was released or spent.",
        )
    words = f"The ledger holds it: {plain(receipt.purpose)}, {receipt.cost}."
    say(arguments, words, verified=True, key=receipt.key, head=receipt.head, cost=receipt.cost)
    return 0


def _read(file: str) -> Receipt:
    """The receipt in a file: by itself, or as a part of a result."""
    try:
        found: Any = json.loads(Path(file).read_text())
    except (OSError, ValueError) as why:
        raise ParameterError(f"receipt {plain(file)}", f"it cannot be read ({why})", "Give the JSON of one.") from None
    inner = found.get("receipt", found) if isinstance(found, dict) else found
    return Receipt.read(json.dumps(inner))


def _faults(receipt: Receipt, ledger: SqliteLedger) -> list[str]:
    """In which the ledger differs from the receipt."""
    entry = next((entry for entry in ledger.entries() if entry.key == receipt.key), None)
    if entry is None:
        return [f"no charge with the key {plain(receipt.key)}"]
    heads = {link.hash for link in ledger.chain() if link.key == receipt.key and link.kind == "commit"}
    same = {
        "another event": written(entry.event) == written(receipt.event),
        "another purpose": entry.purpose == receipt.purpose,
        "another price": entry.waiver is not None or (entry.epsilon, entry.delta) == (receipt.epsilon, receipt.delta),
        "another relation": ledger.neighbors == receipt.neighbors,
        "another unit": ledger.unit == receipt.unit,
        "no result for it": entry.committed,
        "another head after it": receipt.head in heads,
    }
    return [fault for fault, agrees in same.items() if not agrees]
