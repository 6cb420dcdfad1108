"""The steps of a masked sum, and what clients and server must compute alike."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from discreet.core.errors import ParameterError
from discreet.crypto.derivation import KEY
from discreet.crypto.framing import framed, listed
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.masked_sum.agreement import Circle
from discreet.crypto.masked_sum.masks import Words, add_mask, subtract_mask
from discreet.crypto.masked_sum.terms import Terms
from discreet.crypto.sharing.shamir import packed

SAID = ("keys", "shares", "masked", "agreement", "reveal")
ANSWERED = ("announcements", "delivery", "survivors", "agreements")
PIECES = packed(bytes(KEY)).size  # field elements in a shared seed or key


def check_roster(identity: Identity, terms: Terms, roster: Roster) -> None:
    """Refuse a roster that lacks someone, or has another key for this identity."""
    for name in (*terms.parties, terms.server):
        roster.check_lists(name)
    if roster.keys[identity.name] != identity.public:
        raise ParameterError("roster", f"it has another key for {identity.name!r}", "Give everybody the same roster.")


def ordered(terms: Terms, names: Iterable[str]) -> list[str]:
    """Names in the order of the terms."""
    among = set(names)
    return [name for name in terms.parties if name in among]


def statement(circle: Circle, sharers: list[str], survivors: list[str]) -> bytes:
    """What an agreement signs: the announced keys, who shared keys, and whose vectors are added."""
    return sha256(framed(circle.transcript, listed(sharers), listed(survivors))).digest()


def put_on_half(vector: Words, circle: Circle, owner: str, secret: bytes, peer: str) -> None:
    """Put on the owner's half of the mask of a pair: the first of the two adds it, the second takes it away."""
    first = circle.terms.index(owner) < circle.terms.index(peer)
    (add_mask if first else subtract_mask)(vector, circle.pair_key(owner, secret, peer))
