"""A share that its dealer has signed, so that nobody can show another in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from discreet.crypto.derivation import Purpose
from discreet.crypto.errors import UNOPENED, BadSignature, Malformed
from discreet.crypto.framing import framed
from discreet.crypto.identity import SIGNATURE, Identity, Roster
from discreet.crypto.masked_sum.agreement import Circle
from discreet.crypto.masked_sum.steps import PIECES
from discreet.crypto.sharing.shamir import ShamirShare

Secret = Literal["seed", "key"]
"""What is shared: the seed of a party's own mask, or the key of its pair masks."""


@dataclass(frozen=True, eq=False)
class SignedShare:
    """What one party holds of a peer's secret, with the peer's signature.

    The signature is sealed and revealed along with the share, so it shows nobody more than the share does.
    """

    share: ShamirShare
    signature: bytes = field(repr=False)

    @classmethod
    def dealt(cls, share: ShamirShare, secret: Secret, circle: Circle, dealer: Identity) -> SignedShare:
        """A share with the signature of its dealer, for this run, this secret and this holder."""
        return cls(share, dealer.sign(_canonical(share, secret, circle, dealer.name)))

    def to_bytes(self) -> bytes:
        """The share and its signature; always as long."""
        return self.share.to_bytes() + self.signature

    @classmethod
    def from_bytes(cls, circle: Circle, holder: str, data: bytes) -> SignedShare:
        """What `to_bytes` gave of a share that this party holds."""
        values, signature = data[:-SIGNATURE], data[-SIGNATURE:]
        if len(signature) != SIGNATURE:
            raise Malformed(f"share of {holder!r}", "it lacks a signature", "", UNOPENED)
        return cls(ShamirShare.from_bytes(circle.terms.deal, circle.terms.index(holder), values, PIECES), signature)

    def is_true(self, secret: Secret, circle: Circle, dealer: str, roster: Roster) -> bool:
        """Whether this is what the dealer has signed for its holder."""
        try:
            roster.verify(dealer, _canonical(self.share, secret, circle, dealer), self.signature)
        except BadSignature:
            return False
        return True


def _canonical(share: ShamirShare, secret: Secret, circle: Circle, dealer: str) -> bytes:
    """What is signed: the share, and what it is a share of."""
    purpose: Purpose = "seed share" if secret == "seed" else "key share"
    holder = circle.terms.parties[share.index - 1]
    return framed(circle.use(purpose, dealer, holder).info, share.to_bytes())
