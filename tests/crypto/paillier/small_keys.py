"""Keys of fixed safe primes, too small for anything but tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from discreet.core.bits import Bits
from discreet.crypto.paillier import public_key
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import PublicKey
from discreet.crypto.paillier.threshold_key import KeyShare, dealt_from
from discreet.trust.schemes import encrypted

PRIMES = {
    256: (0xF5930623796C7F5FB6510E3AE111390B, 0xDEBCB4CB58618742AF9AEE912EF87093),
    512: (
        0xEB536521202F2805F38F98C6A2E82133CCA7AD3AC423ACA6D43EF50676FE7DFF,
        0xE6FEE42873EB05606D40DEC8CFC29F69A77AFA527FFDEC4E8E4F4053AD1EFDFB,
    ),
}


@cache
def small_key(width: int = 512, root: int = 3) -> PrivateKey:
    """The key whose base is the n-th power of minus the square of a small number."""
    p, q = PRIMES[width]
    n = p * q
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public_key, "LEAST", 256)
        return PrivateKey(PublicKey(n, pow(-(root**2) % n, n, n * n)), (p, q))


def deal_small_keys(patch: pytest.MonkeyPatch) -> None:
    """Let rehearsals of encrypted sums deal keys that anybody can break, so that tests are fast."""

    def quickly(names: Sequence[str], threshold: int, dealer: str, bits: Bits | None = None) -> dict[str, KeyShare]:
        return dealt_from(small_key(), names, threshold, dealer, bits)

    patch.setattr(public_key, "LEAST", 256)
    patch.setattr(encrypted, "dealt", quickly)
