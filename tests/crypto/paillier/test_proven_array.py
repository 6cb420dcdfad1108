"""Whoever sends encrypted numbers knows them: nothing that is made of others' ciphertexts is let in."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

from discreet.crypto.errors import Malformed, WrongShares
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.proven_array import MASK, ProvenArray, challenges
from tests.crypto.paillier.small_keys import small_key

KEY = small_key()
PACKING = Packing(-(2**20), 2**20, headroom=8)
VALUES = np.arange(-30, 40)


def proven(values: np.ndarray = VALUES, about: bytes = b"ann in r1") -> ProvenArray:
    return ProvenArray.made(values, PACKING, KEY.public, about)


def test_what_was_proven_is_let_in_and_decrypts() -> None:
    sent = ProvenArray.from_bytes(proven().to_bytes(), KEY.public)
    assert len(sent.array.ciphertexts) > 2
    sent.check("ann", b"ann in r1")
    assert (KEY.decrypt(sent.array) == VALUES).all()


def test_the_equation_holds_by_independent_computation() -> None:
    sent, n = proven(), int(KEY.public.modulus)
    first = pow(1 + n, int(sent.plain), n * n) * pow(int(KEY.public.base), int(sent.exponent), n * n)
    for weight, one in zip(challenges(sent.seed, len(sent.array.ciphertexts)), sent.array.ciphertexts, strict=True):
        first = first * pow(int(one), -int(weight), n * n)
    assert KEY.plain(first % (n * n)) is not None
    again = proven()
    assert again.plain != sent.plain
    assert again.exponent.bit_length() > KEY.public.exponent_bits + MASK - 64


def test_a_proof_is_of_one_sender_in_one_round_and_of_these_numbers() -> None:
    sent, other = proven(), proven(VALUES + 1)
    square = KEY.public.square
    changed = [one * (1 + KEY.public.modulus) % square for one in sent.array.ciphertexts]
    turned = tuple(reversed(sent.array.ciphertexts))
    for wrong, told in (
        (sent, b"eve in r1"),
        (sent, b"ann in r2"),
        (dataclasses.replace(sent, array=other.array), b"ann in r1"),
        (dataclasses.replace(sent, array=dataclasses.replace(sent.array, ciphertexts=tuple(changed))), b"ann in r1"),
        (dataclasses.replace(sent, array=dataclasses.replace(sent.array, ciphertexts=turned)), b"ann in r1"),
        (dataclasses.replace(sent, plain=sent.plain + 1), b"ann in r1"),
        (dataclasses.replace(sent, plain=sent.plain + KEY.public.modulus), b"ann in r1"),
        (dataclasses.replace(sent, exponent=sent.exponent + 1), b"ann in r1"),
        (dataclasses.replace(sent, exponent=-sent.exponent), b"ann in r1"),
        (dataclasses.replace(sent, exponent=sent.exponent << 500), b"ann in r1"),
        (dataclasses.replace(sent, seed=bytes(32)), b"ann in r1"),
    ):
        with pytest.raises(WrongShares, match="encrypted numbers of 'eve'") as refused:
            wrong.check("eve", told)
        assert refused.value.values["name"] == "eve"


def test_without_proofs_one_person_would_be_opened_and_with_them_it_is_not() -> None:
    """Eve sends the inverse of what cas has sealed: the sum of all three is ann's numbers alone."""
    ann, cas = proven(), proven(VALUES * 3)
    square = KEY.public.square
    cancelled = tuple(pow(int(one), -1, int(square)) for one in cas.array.ciphertexts)
    eve = dataclasses.replace(cas.array, ciphertexts=cancelled)
    total = EncryptedArray.total([ann.array, cas.array, eve])
    assert (KEY.decrypt(total) == VALUES).all()
    for proof in (ann, cas):
        with pytest.raises(WrongShares, match="did not know what is in it"):
            dataclasses.replace(proof, array=eve).check("eve", b"ann in r1")


def test_ten_thousand_fuzzed_arrays_do_no_harm() -> None:
    rng, good = np.random.default_rng(4), proven(VALUES[:3]).to_bytes()
    accepted = 0
    for turn in range(10_000):
        data = bytearray(good)
        for place in rng.integers(0, len(data), rng.integers(1, 3)):
            data[place] = rng.integers(0, 256)
        if bytes(data) == good:
            continue
        with contextlib.suppress(Malformed):
            sent = ProvenArray.from_bytes(bytes(data), KEY.public)
            if turn % 20 == 0:
                with contextlib.suppress(WrongShares):
                    sent.check("ann", b"ann in r1")
                    accepted += 1
    assert accepted == 0
