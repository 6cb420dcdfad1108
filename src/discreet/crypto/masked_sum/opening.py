"""The end of a masked sum: secrets that are put together again, and who gave false shares of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.core.held import unheld
from discreet.crypto.derivation import KEY
from discreet.crypto.errors import UNOPENED, Malformed, WrongShares
from discreet.crypto.identity import Roster
from discreet.crypto.masked_sum.agreement import Circle, public_half
from discreet.crypto.masked_sum.signed_share import Secret, SignedShare
from discreet.crypto.sharing.shamir import reconstruct, unpacked


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
    circle : Circle
        Public. The announced keys.
    roster : Roster
        Public. Everybody's signing key.
    commitments : mapping of str to bytes
        Public. What each dealer of a seed has committed to.
    revealed : mapping of str to Revealed
        What each survivor gave away.
    """

    def __init__(
        self, circle: Circle, roster: Roster, commitments: Mapping[str, bytes], revealed: Mapping[str, Revealed]
    ) -> None:
        self._circle, self._roster, self._commitments, self._revealed = circle, roster, commitments, revealed
        self.liars: set[str] = set()
        """Who gave a share that its dealer had not dealt."""

    def seed(self, dealer: str) -> bytes:
        """The seed of a survivor's own mask."""
        return self._opened("seed", dealer, {holder: one.seeds[dealer] for holder, one in self._revealed.items()})

    def key(self, dealer: str) -> bytes:
        """The key of the pair masks of one who has dropped out."""
        return self._opened("key", dealer, {holder: one.keys[dealer] for holder, one in self._revealed.items()})

    def _opened(self, secret: Secret, dealer: str, shown: Mapping[str, SignedShare]) -> bytes:
        if (found := self._put_together(secret, dealer, shown)) is not None:
            return found
        true = {holder: one for holder, one in shown.items() if one.is_true(secret, self._circle, dealer, self._roster)}
        self.liars |= set(shown) - set(true)
        if len(true) < self._circle.terms.threshold:
            false = ", ".join(repr(holder) for holder in shown if holder not in true)
            obstacle = f"{false} gave false shares, {len(true)} true ones are left"
            obstacle += f" and {self._circle.terms.threshold} are needed"
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
            right = self._circle.commitment(dealer, found) == self._commitments[dealer]
        else:
            right = public_half(found) == self._circle.keys[dealer].mask
        return found if right else None


def _wrong(secret: Secret, dealer: str, obstacle: str, liars: tuple[str, ...]) -> WrongShares:
    remedy = f"Begin a new round without {' and '.join(repr(name) for name in liars)}."
    return WrongShares(f"{secret} of {dealer!r}", obstacle, remedy, UNOPENED, liars=liars)
