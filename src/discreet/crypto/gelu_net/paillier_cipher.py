"""Linear parts on packed Paillier ciphertexts, whose answers hold the slots that were asked for and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.gelu_net.key_proof import check_key_proof, key_proof
from discreet.crypto.gelu_net.linear_cipher import Steps
from discreet.crypto.paillier.big_integers import Big, big, gmp, uniform_below, uniform_unit
from discreet.crypto.paillier.encrypted_array import EncryptedArray, encrypt
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import Encryptor, PublicKey
from discreet.noise.system_bits import system_bits


@dataclass(frozen=True)
class PaillierSealer:
    """The client's end.

    Parameters
    ----------
    key : PrivateKey
        Its key; a fresh one for each session.
    bits : Bits, optional
        Where the randomness comes from; the operating system's where not given.
    """

    key: PrivateKey = field(repr=False)
    bits: Bits | None = field(default=None, repr=False)
    cipher: ClassVar[str] = "paillier"

    def opening(self) -> list[bytes]:
        return [self.key.public.to_bytes(), key_proof(self.key)]

    def sealed(self, steps: Steps, packing: Packing) -> bytes:
        return encrypt(steps, packing, self.key, self.bits).to_bytes()

    def opened(self, answer: bytes, packing: Packing, shape: tuple[int, int]) -> Steps:
        """The numbers in the slots; what is above them is random.

        Raises
        ------
        Malformed
            A ciphertext is none of this key: one error, after all were decrypted. Nobody tells the server of it.
        """
        array = read_array(answer, self.key.public, shape, packing)
        plain = [self.key.plain(one) for one in array.ciphertexts]
        columns = [
            _in_slots(one or big(0), packing, _count(array, place), self.key.public) for place, one in enumerate(plain)
        ]
        if any(one is None for one in plain):
            raise Malformed("decryption", "what was encrypted does not fit its packing", "Ask for it again.", UNOPENED)
        rows = [np.array(columns[at : at + shape[1]], dtype=object).T for at in range(0, len(columns), shape[1])]
        found = np.ascontiguousarray(np.concatenate(rows))
        return found.astype(np.int64) if packing.width < 64 else found

    def __repr__(self) -> str:
        return f"PaillierSealer({self.key.public.key_bits} bits)"


@dataclass(frozen=True)
class UniformZeros:
    """Encryptions of zero that are uniform, whatever base a client has put in its key: the n-th power of any number.

    They take longer than powers of the base, about as long as the product of a large layer.

    Parameters
    ----------
    public : PublicKey
        Public. The client's key.
    """

    public: PublicKey

    def zeros(self, count: int, bits: Bits) -> list[Big]:
        n, square = self.public.modulus, self.public.square
        return [gmp().powmod(uniform_unit(n, bits), n, square) for _ in range(count)]


@dataclass(frozen=True)
class PaillierProducts:
    """The server's end; see `slots.md` for what its answers can tell, whatever the client sends.

    Parameters
    ----------
    zeros : PublicKey or UniformZeros
        The client's key, and how answers are made fresh: `UniformZeros` where the client may lie about it.
    bits : Bits, optional
        Where the randomness comes from; the operating system's where not given.
    """

    zeros: Encryptor
    bits: Bits | None = field(default=None, repr=False)

    @classmethod
    def opened(cls, opening: list[bytes], *, strict: bool) -> PaillierProducts:
        """By what the client sends first. Where `strict`, it has to prove that its key is sound."""
        if len(opening) != 2:
            raise Malformed("open", "there is no key, or no proof of it", "Send both.", UNOPENED)
        key = PublicKey.from_bytes(opening[0])
        if key.key_bits > 4096:
            raise Malformed("open", f"the key has {key.key_bits} bits", "Take one of 2048 or 3072.", UNOPENED)
        if strict and key.randomness == "subgroup":
            obstacle = "the key opens powers of its own base alone, and answers to questions are uniform"
            raise Malformed("open", obstacle, "Take a key of 'short' or 'full' randomness.", UNOPENED)
        check_key_proof(key, opening[1])
        return cls(UniformZeros(key) if strict else key)

    def read(self, data: bytes, shape: tuple[int, int], packing: Packing) -> EncryptedArray:
        array = read_array(data, self.zeros.public, shape, packing)
        if array.interval != packing.interval:
            raise Malformed("encrypted numbers", "their interval is not what was agreed", "Send others.", UNOPENED)
        return array

    def answer(self, given: EncryptedArray, matrix: Steps, bias: Steps, packing: Packing) -> bytes:
        found = given @ matrix
        if bias.any():
            found = found + bias
        return hidden_above(found.refreshed(self.zeros, self.bits), self.bits or system_bits()).to_bytes()


def hidden_above(array: EncryptedArray, bits: Bits) -> EncryptedArray:
    """The same numbers with a uniform number above the slots of each ciphertext, as large as there is room for."""
    key, found = array.key, []
    for place, one in enumerate(array.ciphertexts):
        width = array.packing.width * _count(array, place)
        above = uniform_below(max(1, key.modulus >> width), bits) << width
        found.append(one * key.holds(above) % key.square)
    return replace(array, ciphertexts=tuple(found))


def read_array(data: bytes, key: PublicKey, shape: tuple[int, int], packing: Packing) -> EncryptedArray:
    """An array of which all that is public is known beforehand; refused by its length before it is read."""
    count = -(-shape[0] // packing.slots(key.key_bits)) * shape[1]
    if not 0 <= len(data) - count * key.size <= 1024:
        raise Malformed("encrypted numbers", f"there are {len(data)} bytes of them", "Send as agreed.", UNOPENED)
    array = EncryptedArray.from_bytes(data, key)
    if (array.shape, array.packing, array.exponent) != (shape, packing, 0):
        obstacle = f"they have shape {array.shape}, or their packing is another"
        raise Malformed("encrypted numbers", obstacle, f"Send shape {shape}, packed as agreed.", UNOPENED)
    return array


def _count(array: EncryptedArray, place: int) -> int:
    """How many slots of a ciphertext are in use."""
    return min(array.slots, array.shape[0] - place // array.columns * array.slots)


def _in_slots(plain: Big, packing: Packing, count: int, key: PublicKey) -> list[int]:
    """The signed numbers in the lowest slots, whatever is above them."""
    half = 1 << (packing.width - 1)
    ones = ((big(1) << packing.width * count) - 1) // ((big(1) << packing.width) - 1)
    raised = (plain + half * ones) % key.modulus & ((big(1) << packing.width * count) - 1)
    digits = gmp().unpack(raised, packing.width)
    return [int(digit) - half for digit in digits] + [-half] * (count - len(digits))
