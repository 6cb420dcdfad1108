"""A share that its dealer has signed, so that nobody can show another in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from discreet.core.bits import Bits
from discreet.core.held import unheld
from discreet.crypto.derivation import KEY, Purpose
from discreet.crypto.errors import UNOPENED, BadSignature, Malformed, WrongShares
from discreet.crypto.identity import SIGNATURE, Identity, Roster
from discreet.crypto.masked_sum.mask_terms import THIRD
from discreet.crypto.messages import framed
from discreet.crypto.rounds.agreement import PIECES, AnnouncedKeys, drawn_bytes, public_half
from discreet.crypto.sharing.shamir import ShamirShare, reconstruct, unpacked

Secret = Literal["seed", "key"]
"""What is shared: the seed of a party's own mask, or the key of its pair masks."""
BESIDE = 2 * KEY  # bytes


@dataclass(frozen=True, eq=False)
class SignedShare:
    """What one party holds of a peer's secret, with the peer's signature.

    The signature is sealed and revealed along with the share, so it shows nobody more than the share does. Where not
    all mask with all, one signature is on the digests of both shares of a holder: beside a share come the random bytes
    that are in its digest, and the digest of the other, which shows nothing of it.
    """

    share: ShamirShare
    signature: bytes = field(repr=False)
    beside: bytes = field(default=b"", repr=False)

    @classmethod
    def dealt(cls, share: ShamirShare, secret: Secret, announced: AnnouncedKeys, dealer: Identity) -> SignedShare:
        """A share with the signature of its dealer, for this run, this secret and this holder."""
        return cls(share, dealer.sign(_canonical(share, secret, announced, dealer.name)))

    @classmethod
    def dealt_both(
        cls, seed: ShamirShare, key: ShamirShare, announced: AnnouncedKeys, dealer: Identity, bits: Bits
    ) -> tuple[SignedShare, SignedShare]:
        """What one holder gets of both secrets, with one signature on both."""
        salts = drawn_bytes(bits), drawn_bytes(bits)
        digests = _digest(salts[0], seed), _digest(salts[1], key)
        signature = dealer.sign(_canonical_both(digests, seed.index, announced, dealer.name))
        return cls(seed, signature, salts[0] + digests[1]), cls(key, signature, salts[1] + digests[0])

    def to_bytes(self) -> bytes:
        """The share and its signature; always as long."""
        return self.share.to_bytes() + self.beside + self.signature

    @classmethod
    def from_bytes(cls, announced: AnnouncedKeys, holder: str, data: bytes) -> SignedShare:
        """What `to_bytes` gave of a share that this party holds."""
        size = BESIDE if _on_both(announced) else 0
        values, beside, signature = data[: -size - SIGNATURE], data[-size - SIGNATURE : -SIGNATURE], data[-SIGNATURE:]
        if len(signature) != SIGNATURE or len(beside) != size:
            raise Malformed(f"share of {holder!r}", "it lacks a signature", "", UNOPENED)
        share = ShamirShare.from_bytes(announced.terms.deal, announced.terms.index(holder), values, PIECES)
        return cls(share, signature, beside)

    def is_true(self, secret: Secret, announced: AnnouncedKeys, dealer: str, roster: Roster) -> bool:
        """Whether this is what the dealer has signed for its holder."""
        try:
            roster.verify(dealer, self._signed(secret, announced, dealer), self.signature)
        except BadSignature:
            return False
        return True

    def _signed(self, secret: Secret, announced: AnnouncedKeys, dealer: str) -> bytes:
        """What the dealer must have signed, if this is the share that it dealt."""
        if not _on_both(announced):
            return _canonical(self.share, secret, announced, dealer)
        own, other = _digest(self.beside[:KEY], self.share), self.beside[KEY:]
        digests = (own, other) if secret == "seed" else (other, own)
        return _canonical_both(digests, self.share.index, announced, dealer)


def _on_both(announced: AnnouncedKeys) -> bool:
    """Whether one signature is on both shares of a holder."""
    return announced.terms.protocol == THIRD


def _digest(salt: bytes, share: ShamirShare) -> bytes:
    """What stands for a share under a signature; it shows nothing to whoever lacks the salt, of 32 random bytes."""
    return sha256(framed(salt, share.to_bytes())).digest()


def _canonical_both(digests: tuple[bytes, bytes], index: int, announced: AnnouncedKeys, dealer: str) -> bytes:
    """What is signed for both shares of a holder: the digest for the seed, and that for the key."""
    holder = announced.terms.parties[index - 1]
    return framed(announced.use("both shares", dealer, holder).info, *digests)


def _canonical(share: ShamirShare, secret: Secret, announced: AnnouncedKeys, dealer: str) -> bytes:
    """What is signed: the share, and what it is a share of."""
    purpose: Purpose = "seed share" if secret == "seed" else "key share"
    holder = announced.terms.parties[share.index - 1]
    return framed(announced.use(purpose, dealer, holder).info, share.to_bytes())


@dataclass(frozen=True)
class Revealed:
    """The shares that one survivor gave away, by their dealers."""

    seeds: Mapping[str, SignedShare] = field(repr=False)
    keys: Mapping[str, SignedShare] = field(repr=False)


@unheld("one call")
class Opening:
    """What as many survivors as the threshold have given away together.

    All shares must lie on one polynomial and give what was committed to. Where they do not, the dealer's signature
    shows which of them are true; these must give it.

    Parameters
    ----------
    announced : AnnouncedKeys
        Public. The announced keys.
    roster : Roster
        Public. Everybody's signing key.
    commitments : mapping of str to bytes
        Public. What each dealer of a seed has committed to.
    revealed : mapping of str to Revealed
        What each survivor gave away.
    """

    def __init__(
        self,
        announced: AnnouncedKeys,
        roster: Roster,
        commitments: Mapping[str, bytes],
        revealed: Mapping[str, Revealed],
    ) -> None:
        self._announced_keys, self._roster, self._commitments, self._revealed = announced, roster, commitments, revealed
        self.liars: set[str] = set()
        """Who gave a share that its dealer had not dealt."""

    def seed(self, dealer: str) -> bytes:
        shown = {holder: one.seeds[dealer] for holder, one in self._revealed.items() if dealer in one.seeds}
        return self._opened("seed", dealer, shown)

    def key(self, dealer: str) -> bytes:
        """The key of the pair masks of one who has dropped out."""
        shown = {holder: one.keys[dealer] for holder, one in self._revealed.items() if dealer in one.keys}
        return self._opened("key", dealer, shown)

    def _opened(self, secret: Secret, dealer: str, shown: Mapping[str, SignedShare]) -> bytes:
        if (found := self._put_together(secret, dealer, shown)) is not None:
            return found
        true = {
            holder: one
            for holder, one in shown.items()
            if one.is_true(secret, self._announced_keys, dealer, self._roster)
        }
        self.liars |= set(shown) - set(true)
        if len(true) < (needed := self._announced_keys.terms.deal.threshold + 1):
            false = ", ".join(repr(holder) for holder in shown if holder not in true) or "nobody"
            obstacle = f"{false} gave false shares, {len(true)} true ones are left"
            obstacle += f" and {needed} are needed"
            raise _wrong(secret, dealer, obstacle, tuple(sorted(self.liars)))
        if (found := self._put_together(secret, dealer, true)) is None:
            obstacle = f"{dealer!r} dealt shares that do not give what it committed to"
            raise _wrong(secret, dealer, obstacle, (dealer,))
        return found

    def _put_together(self, secret: Secret, dealer: str, shares: Mapping[str, SignedShare]) -> bytes | None:
        """The secret, if these shares give the one that its dealer has committed to."""
        try:
            found = unpacked(reconstruct(one.share for one in shares.values()), KEY)
        except (WrongShares, Malformed):
            return None
        if secret == "seed":
            right = self._announced_keys.commitment(dealer, found) == self._commitments[dealer]
        else:
            right = public_half(found) == self._announced_keys.keys[dealer].mask
        return found if right else None


def _wrong(secret: Secret, dealer: str, obstacle: str, liars: tuple[str, ...]) -> WrongShares:
    remedy = f"Begin a new round without {' and '.join(repr(name) for name in liars)}."
    return WrongShares(f"{secret} of {dealer!r}", obstacle, remedy, UNOPENED, liars=liars)
