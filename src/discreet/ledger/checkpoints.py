"""Checkpoints signed and checked: a receipt that shows by itself, and its server's card, that its ledger holds it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from discreet.core.checkpoint import Checkpoint, claims
from discreet.core.errors import LedgerError
from discreet.core.events import written
from discreet.core.receipt import Receipt
from discreet.crypto.errors import BadSignature
from discreet.crypto.identity import Identity, Roster
from discreet.ledger.book import Settled
from discreet.ledger.chain import day


def signed(ledger: str, settled: Settled, signer: Identity) -> Checkpoint:
    """The checkpoint of a commit: what its receipt may say follows from its entries, whoever asked."""
    charge, done = settled.reserved.fields, settled.done.fields
    price = charge["price"] or {"epsilon": None, "delta": 0.0}
    unsigned = Checkpoint(
        ledger=ledger,
        number=settled.done.number,
        head=settled.done.hash,
        at=day(done["at"]),
        result=done["result"],
        purpose=charge["purpose"],
        epsilon=price["epsilon"],
        delta=price["delta"],
        signer=signer.name,
    )
    said = claims(settled.done.key, charge["event"], done.get("stated"))
    return replace(unsigned, signature=signer.sign(unsigned.message(said)).hex())


def check_signed(receipt: Receipt, signer: str, public: bytes) -> Checkpoint:
    """The checkpoint of a receipt, if this signer vouches for every figure in it.

    Parameters
    ----------
    receipt : Receipt
        With its checkpoint.
    signer, public : str, bytes
        Public. The server's name and its Ed25519 key, as on its card.

    Raises
    ------
    LedgerError
        There is no checkpoint, somebody else signed it, or the receipt says something else.
    """
    found = receipt.checkpoint
    if found is None:
        raise _refused("it has no checkpoint: its ledger was not signed", "Verify it with the ledger itself.")
    if found.signer != signer:
        raise _refused(
            f"it was signed by {found.signer!r}, and the card is of {signer!r}", "Take the card of its server."
        )
    epsilon = None if math.isinf(receipt.epsilon) else receipt.epsilon
    plain = receipt.purpose, epsilon, receipt.delta, receipt.head
    if plain != (found.purpose, found.epsilon, found.delta, found.head):
        raise _refused(
            "its purpose, its price or its head is not what was signed", "Take the receipt as it was handed out."
        )
    said = claims(receipt.key, json.loads(written(receipt.event)), receipt.stated)
    try:
        message, signature = found.message(said), bytes.fromhex(found.signature)
        Roster({signer: public}).verify(signer, message, signature)
    except (BadSignature, ValueError, TypeError) as why:
        obstacle = "its signature is not of what it says, or not of this key"
        raise _refused(obstacle, "Take the receipt as it was handed out, and the card of its server.") from why
    return found


def _refused(obstacle: str, remedy: str) -> LedgerError:
    return LedgerError("receipt", obstacle, remedy)
