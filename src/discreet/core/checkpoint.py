"""A checkpoint: that a ledger holds a charge, said by whoever keeps the ledger, under a signature."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

PREFIX = "discreet checkpoint 1\n"
"""What no other signed message begins with."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a ledger stood when it handed out a result, and the signature of it and of the receipt's claims.

    Parameters
    ----------
    ledger : str
        What the ledger is called.
    number, head, at : int, str, str
        The entry of the commit, the hash of the chain up to it, and its day.
    result : str
        The SHA-256 digest of what was committed.
    purpose : str
        What was asked, when it was paid.
    epsilon, delta : float
        What the charge cost; None and 0 where it was waived.
    signer, signature : str
        Who signed, and the Ed25519 signature, as hexadecimal digits.
    """

    ledger: str
    number: int
    head: str
    at: str
    result: str
    purpose: str
    epsilon: float | None
    delta: float
    signer: str
    signature: str = ""

    def message(self, claims: dict[str, Any]) -> bytes:
        """What is signed: all of it but the signature, and what the receipt says of the charge."""
        plain = {name: value for name, value in vars(self).items() if name != "signature"} | {"claims": claims}
        return (PREFIX + json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)).encode()


def claims(key: str, event: Any, stated: Any) -> dict[str, Any]:
    """What a receipt says of a charge, beside its purpose and its price.

    Parameters
    ----------
    key : str
        The charge's.
    event : Any
        In the form of entries.
    stated : Any
        What was stated with the result: relation, unit, noise, parties and condition.
    """
    return {"key": key, "event": event, "stated": stated}
