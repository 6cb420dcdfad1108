"""Linear parts on ciphertexts: exact at the ends of every range, and of answers the slots alone can be read."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.gelu_net import GeluNet, Precision
from discreet.crypto.gelu_net.layers import DenseLayer
from discreet.crypto.gelu_net.paillier_cipher import PaillierProducts, PaillierSealer, UniformZeros, hidden_above
from discreet.crypto.gelu_net.server_weights import ServerWeights
from discreet.crypto.paillier.big_integers import big, gmp
from discreet.crypto.paillier.encrypted_array import EncryptedArray, encrypt
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import PublicKey
from discreet.noise.system_bits import KeyStream
from tests.crypto.gelu_net.two_sides import SMALL
from tests.crypto.paillier.small_keys import small_key

KEY = small_key()
SEALER = PaillierSealer(KEY)
PRODUCTS = PaillierProducts(UniformZeros(KEY.public))
PACKING = SMALL.packing(0, "forward")


def answered(steps: np.ndarray, matrix: np.ndarray, bias: np.ndarray, packing: Packing) -> np.ndarray:
    given = PRODUCTS.read(SEALER.sealed(steps, packing), steps.shape, packing)
    shape = (len(steps), matrix.shape[1])
    return SEALER.opened(PRODUCTS.answer(given, matrix, bias, packing), packing, shape)


@settings(max_examples=25, deadline=None, database=None)
@given(
    st.integers(1, 5),
    st.integers(0, 12),
    st.integers(0, 9),
    st.sampled_from([0.3, 1.0, 4.0]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_slots_at_both_ends_of_their_range_leave_their_neighbours_alone(
    inputs: int, weights: int, bits: int, largest: float, masked: bool, seed: int
) -> None:
    """Over packings: numbers and weights that are the largest there are, of all signs, beside zeros."""
    net = GeluNet((DenseLayer(inputs, 2, "identity"),), precision=Precision(weights, bits, bits, bits, largest))
    packing, draw = net.packing(0, "forward", masked=masked), np.random.default_rng(seed)
    most = net.precision.most("inputs")
    weight = 2 ** (net.mask_bits(0) - 1) if masked else net.precision.most("weights")
    rows = 2 * packing.slots(KEY.public.key_bits) + 1  # two full ciphertexts for each column, and one slot
    steps = draw.choice([-most, 0, most], (rows, inputs))
    steps[0], steps[1] = most, -most
    matrix = draw.choice([-weight, weight], (inputs, 2))
    matrix[:, 0] = weight
    bias = np.array([weight, -weight]) * 2**bits
    np.testing.assert_array_equal(answered(steps, matrix, bias, packing), steps @ matrix + bias)


def test_answers_are_fresh_and_their_interval_says_nothing_of_the_weights() -> None:
    steps, matrix = np.ones((3, 16), dtype=np.int64), np.full((16, 8), 5)
    given = PRODUCTS.read(SEALER.sealed(steps, PACKING), (3, 16), PACKING)
    one, two = (PRODUCTS.answer(given, matrix, np.zeros(8, dtype=int), PACKING) for _ in range(2))
    arrays = [EncryptedArray.from_bytes(data, KEY.public) for data in (one, two)]
    assert not set(arrays[0].ciphertexts) & set(arrays[1].ciphertexts)
    assert arrays[0].interval == PACKING.room


def opened(ciphertext: Any) -> Any:
    """What is in a ciphertext of the key's."""
    found = KEY.plain(ciphertext)
    assert found is not None
    return found


def crafted(weights: int, rows: int, spread: int) -> EncryptedArray:
    """What no honest client sends: the inputs are 2**(spread j), whatever the packing says."""
    honest = encrypt(np.zeros((rows, weights), dtype=int), PACKING, KEY)
    powers = [KEY.public.holds(big(1) << spread * place) for place in range(weights)]
    square = KEY.public.square
    return EncryptedArray(
        KEY.public,
        PACKING,
        honest.shape,
        PACKING.interval,
        0,
        tuple(zero * power % square for zero, power in zip(honest.ciphertexts, powers, strict=True)),
    )


def read_off(plain: int, weights: int, spread: int) -> list[int]:
    """The weights in the digits of one answer."""
    found, left = [], int(plain)
    for _ in range(weights):
        digit = (left + (1 << spread - 1)) % (1 << spread) - (1 << spread - 1)
        found.append(digit)
        left = (left - digit) >> spread
    return found


def test_one_crafted_question_would_give_all_weights_and_gives_those_of_one_slot() -> None:
    """Sixteen weights in the digits of one plaintext. Above the slot that was asked there is noise."""
    server = ServerWeights(SMALL, SMALL.fresh(np.random.default_rng(4)))
    matrix = server.matrix(0, "forward")
    array = crafted(16, rows=1, spread=PACKING.width)
    bare = (array @ matrix).refreshed()
    plain = [KEY.public.signed(KEY.plain(one)) for one in bare.ciphertexts]
    stolen = np.array([read_off(one, 16, PACKING.width) for one in plain]).T
    np.testing.assert_array_equal(stolen, matrix)

    data = PRODUCTS.answer(array, matrix, np.zeros(8, dtype=int), PACKING)
    guarded = EncryptedArray.from_bytes(data, KEY.public)
    turns = (0, KEY.public.modulus, -KEY.public.modulus)  # of which the client has to guess one
    plain = [KEY.plain(one) for one in guarded.ciphertexts]
    guessed = np.array([[read_off(one + turn, 16, PACKING.width) for one in plain] for turn in turns])
    assert (guessed[:, :, 0] == matrix[0]).any(axis=0).all()  # the slot that was asked
    assert (np.abs(guessed[:, :, 1:]) > 2**15).mean() > 0.9  # weights have 14 bits, and these digits 27 random ones
    assert not (guessed[:, :, 1:] == matrix.T[None, :, 1:]).any()


def test_above_the_slots_numbers_are_uniform_as_far_as_there_is_room() -> None:
    """Their share of the room, over 400 answers: mean 1/2 and variance 1/12, four standard errors."""
    array = encrypt(np.array([[3] * 400]), PACKING, KEY)
    hidden = hidden_above(array, KeyStream(bytes(32)))  # type: ignore[arg-type]
    room = KEY.public.modulus >> PACKING.width
    shares = np.array([float(gmp().mpfr(opened(one) >> PACKING.width) / room) for one in hidden.ciphertexts])
    assert shares.mean() == pytest.approx(0.5, abs=4 * (1 / 12 / 400) ** 0.5)
    assert shares.var() == pytest.approx(1 / 12, abs=4 * (1 / 180 / 400) ** 0.5)
    assert len(set(shares)) == 400
    lowest = [int(opened(one)) % (1 << PACKING.width) for one in hidden.ciphertexts]
    assert lowest == [3] * 400


def test_the_last_block_is_hidden_above_its_own_slots() -> None:
    slots = PACKING.slots(KEY.public.key_bits)
    array = encrypt(np.ones((slots + 2, 1), dtype=int), PACKING, KEY)
    hidden = hidden_above(array, KeyStream(bytes(32)))  # type: ignore[arg-type]
    last = int(opened(hidden.ciphertexts[1]))
    assert last.bit_length() > KEY.public.key_bits - 20
    assert last % (1 << 2 * PACKING.width) == 1 + (1 << PACKING.width)


def test_uniform_zeros_do_not_hang_on_the_base_of_the_key() -> None:
    """A base of order two, which a client may put into its key, makes two zeros; n-th powers of any number are many."""
    bits = KeyStream(bytes(32))
    crafted_key = PublicKey(KEY.public.modulus, KEY.public.square - 1)
    assert len(set(crafted_key.zeros(20, bits))) <= 2  # type: ignore[arg-type]
    zeros = UniformZeros(crafted_key).zeros(20, bits)  # type: ignore[arg-type]
    assert len(set(zeros)) == 20
    assert [KEY.plain(one) for one in zeros] == [0] * 20


def test_what_is_not_as_agreed_is_malformed() -> None:
    honest = SEALER.sealed(np.ones((3, 16), dtype=int), PACKING)
    array = EncryptedArray.from_bytes(honest, KEY.public)
    other = SMALL.packing(0, "forward", masked=True)
    size = KEY.public.size
    wrong: dict[str, Any] = {
        "another shape": SEALER.sealed(np.ones((16, 3), dtype=int), PACKING),
        "more rows": SEALER.sealed(np.ones((4, 16), dtype=int), PACKING),
        "another packing": SEALER.sealed(np.ones((3, 16), dtype=int), other),
        "another key": PaillierSealer(small_key(512, 5)).sealed(np.ones((3, 16), dtype=int), PACKING),
        "another interval": (array + array - array).to_bytes(),
        "truncated": honest[:-1],
        "longer": honest + bytes(8),
        "huge": honest + bytes(10**6),
        "zero": honest[:-size] + bytes(size),
        "too large": honest[:-size] + b"\xff" * size,
        "a multiple of a prime": honest[:-size] + int(KEY.primes[0]).to_bytes(size, "big"),
        "nothing": b"",
    }
    for data in wrong.values():
        with pytest.raises(Malformed):
            PRODUCTS.read(data, (3, 16), PACKING)
    assert PRODUCTS.read(honest, (3, 16), PACKING).shape == (3, 16)


def test_decryption_has_one_error_after_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a ciphertext is none of the key's, and however many: so a server learns nothing by spoiling some.

    Under a key of another kind than "subgroup" there is not even this one: every unit holds some number.
    """
    spoiled_unit = SEALER.opened(_of_units(8), PACKING, (3, 8))
    assert spoiled_unit.shape == (3, 8)
    key = subgroup_key()
    sealer, products, size = PaillierSealer(key), PaillierProducts(key.public), key.public.size
    given = products.read(sealer.sealed(np.ones((3, 16), dtype=int), PACKING), (3, 16), PACKING)
    data = products.answer(given, np.ones((16, 8), dtype=int), np.zeros(8, dtype=int), PACKING)
    counted: list[int] = []
    plain = PrivateKey.plain

    def noted(key: PrivateKey, one: Any) -> Any:
        counted.append(1)
        return plain(key, one)

    monkeypatch.setattr(PrivateKey, "plain", noted)
    told = set()
    for spoiled in ([0], [7], [0, 3, 7], list(range(8))):
        changed = bytearray(data)
        for place in spoiled:
            at = len(data) - (8 - place) * size
            changed[at : at + size] = (12345 + place).to_bytes(size, "big")
        counted.clear()
        with pytest.raises(Malformed) as error:
            sealer.opened(bytes(changed), PACKING, (3, 8))
        told.add(str(error.value))
        assert len(counted) == 8
    assert len(told) == 1


@cache
def subgroup_key() -> PrivateKey:
    return PrivateKey.drawn(2048, "subgroup")


def _of_units(count: int) -> bytes:
    """An answer of numbers that nobody has encrypted."""
    made = EncryptedArray(KEY.public, PACKING, (3, count), PACKING.room, 0, tuple(map(big, range(101, 101 + count))))
    return made.to_bytes()


def test_keys_that_cannot_be_asked_by_are_refused() -> None:
    opening = SEALER.opening()
    for strict in (True, False):
        assert isinstance(PaillierProducts.opened(opening, strict=strict), PaillierProducts)
    assert isinstance(PaillierProducts.opened(opening, strict=True).zeros, UniformZeros)
    for wrong in ([], opening[:1], [opening[0], b""], [b"", opening[1]], [*opening, b""]):
        with pytest.raises(Malformed):
            PaillierProducts.opened(wrong, strict=False)
    subgroup = PaillierSealer(subgroup_key()).opening()
    with pytest.raises(Malformed, match="powers of its own base alone"):
        PaillierProducts.opened(subgroup, strict=True)
    PaillierProducts.opened(subgroup, strict=False)


def test_the_key_is_in_no_repr_copy_or_pickle() -> None:
    for prime in KEY.primes:
        assert str(int(prime)) not in repr(SEALER)
        assert hex(int(prime))[2:] not in repr(SEALER)
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        if way is not copy.copy:
            with pytest.raises(TypeError, match="secret"):
                way(SEALER)
