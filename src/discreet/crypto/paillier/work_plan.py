"""What encrypted numbers will cost: ciphertexts, bytes and seconds, before any work is done."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.crypto.paillier.big_integers import big
from discreet.crypto.paillier.linear import products_needed
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.private_key import DIGIT as OWN_DIGIT
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import DIGIT, SUBGROUP, PublicKey

TRIED = 64  # operations that are timed
SQUARINGS = 1.2  # products that a bit of an exponent costs
HEAD = 400  # bytes beside the ciphertexts, about


@dataclass(frozen=True)
class WorkPlan:
    """A job on encrypted numbers, counted beforehand.

    Seconds are of one core of this machine: products that are needed, times what a product was measured to take. They
    are right within a factor of about two.

    Parameters
    ----------
    ciphertexts : int
        How many are sent.
    bytes : int
        How long they are together.
    seconds : float
        What their sender computes.
    """

    ciphertexts: int
    bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.ciphertexts} ciphertexts, {self.bytes / 1e6:.3g} MB, {self.seconds:.2g} s"


def plan_encryption(by: PublicKey | PrivateKey, shape: Sequence[int], packing: Packing) -> WorkPlan:
    """What it costs to encrypt an array of this shape.

    Examples
    --------
    >>> key = PrivateKey.drawn(2048, "subgroup")
    >>> plan = plan_encryption(key.public, (56, 784), Packing(0, 255, headroom=2**27))
    >>> plan.ciphertexts, plan.bytes
    (784, 401808)
    """
    count = _ciphertexts(by.public, shape, packing)
    seconds = product_seconds(by.public.key_bits, owner=isinstance(by, PrivateKey))
    if isinstance(by, PrivateKey):
        width = SUBGROUP if by.public.randomness == "subgroup" else by.public.key_bits // 2
        return _plan(by.public, count, 2 * products_of_power(count, width, OWN_DIGIT) * seconds)
    return _plan(by.public, count, products_of_power(count, by.public.exponent_bits, DIGIT) * seconds)


def products_of_power(count: int, width: int, digit: int) -> float:
    """The products of each power of a fixed base: plainly, or by a table, where its making is worth it."""
    return min(float(width), -(-width // digit) * (1 + 2**digit / count))


def plan_product(key: PublicKey, shape: Sequence[int], outputs: int, weight_bits: int, packing: Packing) -> WorkPlan:
    """What it costs to multiply an array of shape (rows, columns) by weights of so many bits, for so many outputs."""
    check_whole("plan", "outputs", outputs)
    check_whole("plan", "weight_bits", weight_bits)
    blocks, columns = _ciphertexts(key, shape[:1], packing), math.prod(shape[1:])
    each = products_needed(columns, outputs, weight_bits) / outputs
    return _plan(key, blocks * outputs, each * product_seconds(key.key_bits))


def plan_decryption(key: PublicKey, shape: Sequence[int], packing: Packing) -> WorkPlan:
    """What it costs the owner to decrypt an array of this shape."""
    width = SUBGROUP if key.randomness == "subgroup" else key.key_bits // 2
    seconds = 2 * SQUARINGS * width * product_seconds(key.key_bits, owner=True) / 1.5
    return _plan(key, _ciphertexts(key, shape, packing), seconds)


def _plan(key: PublicKey, count: int, each: float) -> WorkPlan:
    return WorkPlan(count, count * key.size + HEAD, count * each)


def _ciphertexts(key: PublicKey, shape: Sequence[int], packing: Packing) -> int:
    if not shape:
        raise ParameterError("plan", "the shape has no axis", "Give at least one.")
    for length in shape:
        check_whole("plan", "shape", length)
    return -(-int(shape[0]) // packing.slots(key.key_bits)) * math.prod(int(one) for one in shape[1:])


@cache
def product_seconds(key_bits: int, *, owner: bool = False) -> float:
    """How long a product modulo n**2 takes on this machine, or modulo p**2; measured once."""
    width = key_bits if owner else 2 * key_bits
    modulus = (big(1) << width) - 159
    factor = modulus // 3

    def products() -> None:
        found: Any = factor
        for _ in range(TRIED):
            found = found * factor % modulus

    return _shortest(products) / TRIED


def _shortest(job: Callable[[], None]) -> float:
    """The least time of a few runs."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)
