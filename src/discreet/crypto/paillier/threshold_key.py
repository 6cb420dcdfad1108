"""A key of which nobody has more than a share: any `threshold` holders decrypt together, fewer learn nothing.

Damgård and Jurik 2001, after Shoup 2000. `threshold.md` derives it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NoReturn

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed, UnknownParty
from discreet.crypto.identity import check_name
from discreet.crypto.messages import framed, split, text, unframed
from discreet.crypto.paillier.big_integers import Big, FixedBase, big, gmp, uniform_below, uniform_unit
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import MOST, PublicKey, read, written
from discreet.noise.system_bits import system_bits

ASKED = "threshold key"
VERSION, SHARE_VERSION = b"discreet paillier threshold key 1", b"discreet paillier key share 1"
MOST_HOLDERS = 1000
CHALLENGE, MARGIN = 128, 128  # bits of a challenge, and by which a mask is longer than what it hides


@dataclass(frozen=True)
class ThresholdKey:
    """What is public about a key that several hold.

    The dealer drew the primes and knew them: whoever uses the key trusts that no copy was kept. `dealer` says who.

    Parameters
    ----------
    public : PublicKey
        Public. Under which anybody encrypts.
    threshold : int
        Public. How many holders decrypt together.
    dealer : str
        Public. Who drew the key.
    base : int
        Public. A square modulo n**2, to which proofs refer.
    holders : mapping of str to int
        Public. The power of the base to each holder's share times n!, in the order of the shares.
    """

    public: PublicKey
    threshold: int
    dealer: str
    base: Big = field(repr=False)
    holders: Mapping[str, Big] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "holders", MappingProxyType({name: big(one) for name, one in self.holders.items()}))
        object.__setattr__(self, "base", big(self.base))
        for name in (self.dealer, *self.holders):
            check_name(ASKED, name)
        check_threshold(len(self.holders), self.threshold)
        self.public.check_units(ASKED, [self.base, *self.holders.values()])

    @property
    def factor(self) -> Big:
        """n!, which makes Lagrange's coefficients integers."""
        return big(math.factorial(len(self.holders)))

    @property
    def mask_bits(self) -> int:
        """The bits of a number that hides a share times n! times a challenge."""
        return 2 * self.public.key_bits + int(self.factor.bit_length()) + CHALLENGE + MARGIN

    @cached_property
    def table(self) -> FixedBase:
        """The powers of the base, for proofs."""
        return FixedBase(self.base, self.public.square, self.mask_bits + 1, digit=6)

    @cached_property
    def digest(self) -> bytes:
        """The key in 32 bytes."""
        return sha256(self.to_bytes()).digest()

    def index(self, name: str) -> int:
        """A holder's place among the shares, from 1."""
        if name not in self.holders:
            raise UnknownParty(ASKED, f"{name!r} holds no share", "", UNOPENED, name=name)
        return list(self.holders).index(name) + 1

    def lagrange(self, indices: Sequence[int], own: int) -> int:
        """The product of n! and Lagrange's coefficient of one share at zero: an integer (Shoup 2000)."""
        above = int(self.factor) * math.prod(other for other in indices if other != own)
        below = math.prod(other - own for other in indices if other != own)
        assert above % below == 0
        return above // below

    def to_bytes(self) -> bytes:
        """The form in which it travels, with a version."""
        fields = [field for name, one in self.holders.items() for field in (name.encode(), written(one))]
        head = (self.public.to_bytes(), written(self.threshold), self.dealer.encode(), written(self.base))
        return framed(VERSION, *head, framed(*fields))

    @classmethod
    def from_bytes(cls, data: bytes) -> ThresholdKey:
        """The key in these bytes."""
        version, public, threshold, dealer, base, fields = split(data, 6)
        if version != VERSION:
            raise Malformed(ASKED, "it has another version, or is none", "Ask for it again.", UNOPENED)
        own, most = unframed(fields), MOST // 4
        names = [text(name) for name in own[::2]]
        if len(own) % 2 or len(set(names)) < len(names):
            raise Malformed(ASKED, "its holders cannot be read", "Ask for it again.", UNOPENED)
        holders = {name: read(one, most) for name, one in zip(names, own[1::2], strict=True)}
        try:
            return cls(PublicKey.from_bytes(public), int(read(threshold, 4)), text(dealer), read(base, most), holders)
        except ParameterError as why:
            raise Malformed(ASKED, why.obstacle, why.remedy, UNOPENED) from why


def check_threshold(holders: int, threshold: int) -> None:
    """Refuse numbers of holders that protect nobody, or that nobody waits for."""
    if not (2 <= threshold <= holders <= MOST_HOLDERS and type(threshold) is int):
        obstacle = f"{threshold} of {holders} holders would decrypt"
        raise ParameterError(ASKED, obstacle, f"Take at least 2 of at most {MOST_HOLDERS}.", threshold=threshold)


class KeyShare:
    """One holder's share of a key. It is never printed, copied or pickled.

    Parameters
    ----------
    key : ThresholdKey
        Public.
    name : str
        Public. Whose.
    secret : int
        The share. It is held against what the dealer made public.
    """

    def __init__(self, key: ThresholdKey, name: str, secret: int) -> None:
        self.key, self.name, self._secret = key, name, big(secret)
        key.index(name)
        if not 0 <= self._secret < key.public.square:
            raise ParameterError("key share", "it is too long", "Ask the dealer.")
        if key.table.power(self.exponent) != key.holders[name]:
            raise ParameterError("key share", f"it is not the one that the key has for {name!r}", "Ask the dealer.")

    @property
    def exponent(self) -> Big:
        """The share times n!, to which ciphertexts are raised."""
        return self._secret * self.key.factor

    def to_bytes(self) -> bytes:
        """The secret form, with a version: for its holder's file alone."""
        return framed(SHARE_VERSION, self.key.to_bytes(), self.name.encode(), written(self._secret))

    @classmethod
    def from_bytes(cls, data: bytes) -> KeyShare:
        """The share in these bytes."""
        version, key, name, secret = split(data, 4)
        if version != SHARE_VERSION:
            raise Malformed("key share", "it has another version, or is none", "Give what was written.", UNOPENED)
        try:
            return cls(ThresholdKey.from_bytes(key), text(name), read(secret, MOST // 4))
        except ParameterError as why:
            raise Malformed("key share", why.obstacle, why.remedy, UNOPENED) from why

    def __repr__(self) -> str:
        return f"KeyShare({self.name!r}, {self.key.threshold} of {len(self.key.holders)})"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("KeyShare holds a secret and is neither copied nor pickled")


def dealt(
    holders: Sequence[str], threshold: int, dealer: str, width: int = 2048, bits: Bits | None = None
) -> dict[str, KeyShare]:
    """Draw a key and deal its shares: each holder gets its own, and nobody keeps the key.

    A dealer is trusted: whoever reads this process's memory while the key is dealt can decrypt everything. The primes
    are dropped before this returns, but Python does not overwrite memory, so a dealer's process should end after it
    has written the shares.

    Parameters
    ----------
    holders : sequence of str
        Public. Who gets a share.
    threshold : int
        Public. How many of them decrypt together; at least 2.
    dealer : str
        Public. Who deals, for all to know.
    width : int
        Public. The bits of the key.

    Returns
    -------
    dict of str to KeyShare
        The share of each holder; `KeyShare.key` is the public key.
    """
    check_threshold(len(holders), threshold)
    if len(set(holders)) < len(holders):
        raise ParameterError(ASKED, "two holders have the same name", "Give each its own.")
    return dealt_from(PrivateKey.drawn(width, "short", bits), holders, threshold, dealer, bits)


def dealt_from(
    key: PrivateKey, holders: Sequence[str], threshold: int, dealer: str, bits: Bits | None = None
) -> dict[str, KeyShare]:
    """The shares of a key of safe primes that was drawn before; whoever drew it must forget it."""
    source, public = bits or system_bits(), key.public
    halves = [(prime - 1) // 2 for prime in key.primes]
    if not all(gmp().is_prime(half) for half in halves):
        raise ParameterError(ASKED, "its primes are no safe primes", 'Draw it with randomness "short" or "full".')
    order = halves[0] * halves[1]
    modulus = order * public.modulus
    root = order * gmp().invert(order, public.modulus) % modulus  # 0 modulo the order, 1 modulo n
    polynomial = [root, *(uniform_below(modulus, source) for _ in range(threshold - 1))]
    shares = [_value(polynomial, index, modulus) for index in range(1, len(holders) + 1)]
    base = uniform_unit(public.square, source) ** 2 % public.square
    factor = big(math.factorial(len(holders)))
    raised = [gmp().powmod(base, factor * share, public.square) for share in shares]
    made = ThresholdKey(public, threshold, dealer, base, dict(zip(holders, raised, strict=True)))
    return {name: KeyShare(made, name, share) for name, share in zip(holders, shares, strict=True)}


def _value(polynomial: Sequence[Big], place: int, modulus: Big) -> Big:
    found = big(0)
    for coefficient in reversed(polynomial):
        found = (found * place + coefficient) % modulus
    return found
