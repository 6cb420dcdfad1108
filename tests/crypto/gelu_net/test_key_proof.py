"""The proof that a modulus has no factor in common with its phi."""

from __future__ import annotations

import pytest

from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net import key_proof as module
from discreet.crypto.gelu_net.key_proof import ROOTS, SMALLEST, check_key_proof, key_proof
from discreet.crypto.paillier.big_integers import big, gmp
from discreet.crypto.paillier.public_key import PublicKey
from tests.crypto.paillier.small_keys import small_key

KEY = small_key()


def test_an_honest_key_has_a_proof_and_no_other_key_has_the_same() -> None:
    proof = key_proof(KEY)
    assert len(proof) == ROOTS * KEY.public.size // 2
    check_key_proof(KEY.public, proof)
    for wrong in (
        b"",
        proof[:-1],
        proof + b"\0",
        bytes(len(proof)),
        proof[64:] + proof[:64],
        key_proof(small_key(256)),
    ):
        with pytest.raises(Malformed, match="not shown to be sound"):
            check_key_proof(KEY.public, wrong)
    other = small_key(512, 5)
    with pytest.raises(Malformed):
        check_key_proof(other.public, proof)


def test_each_root_is_checked() -> None:
    proof, size = key_proof(KEY), KEY.public.size // 2
    for place in range(ROOTS):
        wrong = bytearray(proof)
        wrong[(place + 1) * size - 1] ^= 1
        with pytest.raises(Malformed):
            check_key_proof(KEY.public, bytes(wrong))


def test_a_modulus_with_a_factor_in_common_with_phi_has_no_roots() -> None:
    """q = 2 k p + 1 makes p a factor of phi: one number of p has an n-th root, and roots are by chance, if at all."""
    p = gmp().next_prime(big(2) ** 250)
    q = next(one for k in range(1, 10**6) if gmp().is_prime(one := 2 * k * p + 1))
    n = p * q
    key = PublicKey(n, 4)
    with pytest.raises(ZeroDivisionError):
        gmp().invert(n, (p - 1) * (q - 1))
    phi_without = (p - 1) * (q - 1) // p  # the best guess: roots of those numbers that have some
    exponent = gmp().invert(n % phi_without, phi_without) if gmp().gcd(n, phi_without) == 1 else big(1)
    size = -(-key.key_bits // 8)
    tried = b"".join(int(gmp().powmod(one, exponent, n)).to_bytes(size, "big") for one in module._challenges(key))
    with pytest.raises(Malformed):
        check_key_proof(key, tried)


def test_small_factors_are_found_by_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor of 6367 passes the roots, and no others."""
    p, q = big(6367), gmp().next_prime(big(2) ** 257)
    n = p * q
    key = PublicKey(n, 4)
    exponent = gmp().invert(n, (p - 1) * (q - 1))
    size = -(-key.key_bits // 8)
    proof = b"".join(int(gmp().powmod(one, exponent, n)).to_bytes(size, "big") for one in module._challenges(key))
    with pytest.raises(Malformed):
        check_key_proof(key, proof)
    monkeypatch.setattr(module, "SMALLEST", 6000)
    check_key_proof(key, proof)
    assert SMALLEST**ROOTS > 2**138
