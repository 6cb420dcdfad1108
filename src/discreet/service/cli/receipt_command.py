"""`discreet receipt verify`: whether a receipt is one of this ledger's."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import LedgerError, ParameterError
from discreet.core.events import written
from discreet.core.ledger import Entry
from discreet.core.receipt import Receipt
from discreet.display.plain import plain
from discreet.ledger.checkpoints import check_signed
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.saying import say
from discreet.service.key_file import read_card

UNTOLD = ("secret", "participants", "where")  # what a ledger knows only if it was told with the result


def verify(arguments: Namespace) -> int:
    """Check that the ledger holds the charge of a receipt and what was stated with its result, with this head.

    What the ledger cannot vouch for is named: figures beside the receipt, whether it was handed out again, and, for a
    result whose statement the ledger was not told, all of that.
    """
    found = read_receipt(arguments.file)
    if arguments.card is not None:
        return _verify_signed(found, arguments)
    receipt = found.receipt
    with SqliteLedger.open(arguments.ledger) as ledger:
        ledger.verify()
        held = _held(receipt, ledger)
        faults = _faults(receipt, held, ledger)
        unchecked = [*found.beside, "replayed", *(() if held.stated else UNTOLD)]
    if faults:
        raise LedgerError(
            f"receipt {plain(arguments.file)}",
            f"the ledger has {' and '.join(faults)}",
            "Take the receipt and the ledger that belong together.",
            "Nothing was released or spent.",
        )
    words = [f"The ledger holds it: {plain(receipt.purpose)}, {receipt.cost}."]
    words += [] if receipt.secret else ["It paid for a release from known bits, which is NOT PRIVATE."]
    words += [f"Not checked: {plain(', '.join(unchecked))}."]
    figures = {"key": receipt.key, "head": receipt.head, "cost": receipt.cost, "unchecked": unchecked}
    say(arguments, " ".join(words), verified=True, **figures)
    return 0


def _verify_signed(found: FoundReceipt, arguments: Namespace) -> int:
    """Check the signature of a receipt by the card of its server, and nothing else."""
    receipt, card = found.receipt, read_card(arguments.card)
    signed = check_signed(receipt, card.name, card.public)
    unchecked = [*found.beside, "replayed"]
    words = [f"{plain(card.name)} signed it: {plain(receipt.purpose)}, {receipt.cost}."]
    words += [f"It is entry {signed.number} of {plain(signed.ledger)}, of {plain(signed.at)}."]
    words += [] if receipt.secret else ["It paid for a release from known bits, which is NOT PRIVATE."]
    words += [f"Not checked: {plain(', '.join(unchecked))}."]
    figures = {"key": receipt.key, "head": receipt.head, "cost": receipt.cost, "unchecked": unchecked}
    say(arguments, " ".join(words), verified=True, signer=card.name, entry=signed.number, **figures)
    return 0


@dataclass(frozen=True)
class FoundReceipt:
    """A receipt, and the names of what lies beside it in its file."""

    receipt: Receipt
    beside: tuple[str, ...]


@dataclass(frozen=True)
class _HeldEntry:
    """What a ledger has under the key of a receipt."""

    entry: Entry | None
    stated: Mapping[str, Any] | None
    heads: frozenset[str]


def read_receipt(file: str) -> FoundReceipt:
    """The receipt in a file: by itself, or as a part of a result."""
    try:
        found: Any = json.loads(Path(file).read_text())
    except (OSError, ValueError) as why:
        raise ParameterError(f"receipt {plain(file)}", f"it cannot be read ({why})", "Give the JSON of one.") from None
    whole = isinstance(found, dict) and "receipt" in found
    beside = tuple(name for name in found if name != "receipt") if whole else ()
    return FoundReceipt(Receipt.read(json.dumps(found["receipt"] if whole else found)), beside)


def _held(receipt: Receipt, ledger: SqliteLedger) -> _HeldEntry:
    entry = next((entry for entry in ledger.entries() if entry.key == receipt.key), None)
    links = [link for link in ledger.chain() if link.key == receipt.key and link.kind in ("reserve", "commit")]
    stated = next((link.fields.get("stated") for link in links if link.kind == "commit"), None)
    return _HeldEntry(entry, stated, frozenset(link.hash for link in links))


def _faults(receipt: Receipt, held: _HeldEntry, ledger: SqliteLedger) -> list[str]:
    """In which the ledger differs from the receipt."""
    entry = held.entry
    if entry is None:
        return [f"no charge with the key {plain(receipt.key)}"]
    price = (math.inf, 0.0) if entry.waiver is not None else (entry.epsilon, entry.delta)
    same = {
        "another event": written(entry.event) == written(receipt.event),
        "another purpose": entry.purpose == receipt.purpose,
        "another price": price == (receipt.epsilon, receipt.delta),
        "another relation": ledger.neighbors == receipt.neighbors,
        "another unit": ledger.unit == receipt.unit,
        "no result for it": entry.committed,
        "another head after it": receipt.head in held.heads,
        "noise from known bits for it": entry.secret or not receipt.secret,
    }
    said = receipt.stated
    same |= {f"another {name} stated": said.get(name) == value for name, value in (held.stated or {}).items()}
    return [fault for fault, agrees in same.items() if not agrees]
