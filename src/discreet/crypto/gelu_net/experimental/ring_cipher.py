"""Linear parts under ring-LWE with additions alone, for large batches: an experiment, which nobody has reviewed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.gelu_net.experimental.ring import (
    DEGREE,
    PRIMES,
    Q,
    Residues,
    coefficients,
    expanded,
    residues,
    signed,
    transformed,
)
from discreet.crypto.gelu_net.gelu_net import WAYS, GeluNet
from discreet.crypto.gelu_net.linear_cipher import Steps
from discreet.crypto.paillier.packing import Packing
from discreet.noise.system_bits import system_bits

ASKED = "ring"
SEED = 32  # bytes
PAIRS = 21  # of coins in an error, whose variance is half of that
SELDOM = 12.0  # standard deviations of an error that spoils a number: about exp(-72) each
EXACT = 2.0**53


class RingSealer:
    """The client's end: a ternary secret; a number of each record is a coefficient, up to 4,096 records at a time.

    Numbers are hidden from the server, and weights are not hidden from the client: half of an answer is the product of
    the weights with uniform polynomials that the client knows, so that one answer shows all weights of a layer. This is
    for training, whose client knows them anyway. Ciphertexts hide numbers if ring-LWE of this size is hard: 4,096
    coefficients and a modulus of 60 bits, where tables of the homomorphic encryption standard allow 109 for 128 bits.
    An error of a ciphertext is made of coins.

    Parameters
    ----------
    secret : array of int64
        4,096 numbers, each -1, 0 or 1.
    bits : Bits, optional
        Where errors and seeds come from; the operating system's where not given.
    """

    cipher: ClassVar[str] = "ring"

    def __init__(self, secret: NDArray[np.int64], bits: Bits | None = None) -> None:
        own = residues(secret[None])
        self._secret = [transformed(own[place], prime) for place, prime in enumerate(PRIMES)]
        self._bits = bits or system_bits()

    @classmethod
    def drawn(cls, net: GeluNet, bits: Bits | None = None) -> RingSealer:
        """A fresh secret; refused where numbers of this network have no room beside errors."""
        check_room(net)
        source = bits or system_bits()
        return cls((source.words(DEGREE) % np.uint64(3)).astype(np.int64) - 1, source)

    def opening(self) -> list[bytes]:
        return []

    def sealed(self, steps: Steps, packing: Packing) -> bytes:
        checked = packing.steps(steps)
        if len(checked) > DEGREE:
            raise ParameterError(ASKED, f"there are {len(checked)} records", f"Send at most {DEGREE} at a time.")
        columns = np.zeros((checked.shape[1], DEGREE), dtype=np.int64)
        columns[:, : len(checked)] = checked.T
        seed = self._bits.integer(8 * SEED).to_bytes(SEED, "big")
        masks = self._masks(expanded(seed, len(columns)))
        held = residues(columns * step_of(packing) + self._errors(columns.shape))
        return seed + _written(_added(masks, held))

    def opened(self, answer: bytes, packing: Packing, shape: tuple[int, int]) -> Steps:
        uniform, held = _read(answer, 2 * shape[1]).reshape(2, 2, shape[1], DEGREE).swapaxes(0, 1)
        masks = self._masks(uniform)
        found = signed(_added(held, np.stack([_negated(one, p) for one, p in zip(masks, PRIMES, strict=True)])))
        step = step_of(packing)
        return np.ascontiguousarray(((found + step // 2) // step)[:, : shape[0]].T)

    def _masks(self, uniform: Residues) -> Residues:
        """Uniform polynomials, given by their values, times the secret."""
        pairs = zip(uniform, self._secret, PRIMES, strict=True)
        return np.stack([coefficients(one * secret % np.uint64(p), p) for one, secret, p in pairs])

    def _errors(self, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Heads less tails: centred binomial."""
        words = self._bits.words(math.prod(shape)).reshape(shape)
        low = np.uint64((1 << PAIRS) - 1)
        heads, tails = np.bitwise_count(words & low), np.bitwise_count(words >> np.uint64(PAIRS) & low)
        return heads.astype(np.int64) - tails.astype(np.int64)

    def __repr__(self) -> str:
        return "RingSealer(secret)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("RingSealer holds a secret and is neither copied nor pickled")


@dataclass(frozen=True)
class RingProducts:
    """The server's end: matrices times polynomials, coefficient by coefficient.

    Parameters
    ----------
    net : GeluNet
        Public.
    """

    net: GeluNet

    def __post_init__(self) -> None:
        check_room(self.net)

    def read(self, data: bytes, shape: tuple[int, int], packing: Packing) -> tuple[bytes, NDArray[np.uint32]]:
        if shape[0] > DEGREE:
            raise Malformed(ASKED, f"it has {shape[0]} records", f"Send at most {DEGREE} at a time.", UNOPENED)
        return data[:SEED], _read(data[SEED:], shape[1]).astype(np.uint32)  # the seed is expanded when it is needed

    def answer(self, given: tuple[bytes, NDArray[np.uint32]], matrix: Steps, bias: Steps, packing: Packing) -> bytes:
        weights = matrix.T.astype(np.float64)
        seed, held = given
        both = expanded(seed, len(matrix)), held
        parts = np.stack(
            [np.stack([_product(weights, own, p) for own, p in zip(one, PRIMES, strict=True)]) for one in both]
        )
        parts[1] = _added(parts[1], residues(np.broadcast_to(bias[:, None] * step_of(packing), parts[1].shape[1:])))
        return _written(parts.swapaxes(0, 1).reshape(2, -1, DEGREE))


def step_of(packing: Packing) -> int:
    """What a number is multiplied by, so that errors are below it."""
    return Q >> packing.width


def check_room(net: GeluNet) -> None:
    """Refuse a network for whose numbers and errors the ring is too small, or whose products would not be exact."""
    most = net.precision.most("weights")
    for place, layer in enumerate(net.layers):
        for way in WAYS:
            terms = layer.fan_in if way == "forward" else layer.fan_out
            error = SELDOM * math.sqrt(PAIRS / 2 * terms) * most
            if error >= step_of(net.packing(place, way)) / 2 or float(most) * terms * max(PRIMES) >= EXACT:
                obstacle = f"layer {place + 1} is too large or too fine for it"
                raise ParameterError(ASKED, obstacle, "Take smaller layers, fewer bits, or Paillier.")


def _product(weights: NDArray[np.float64], given: NDArray[Any], prime: int) -> NDArray[np.uint64]:
    """Exact, since no sum has more than 53 bits."""
    return np.mod((weights @ given.astype(np.float64)).astype(np.int64), np.int64(prime)).astype(np.uint64)


def _added(one: Residues, other: Residues) -> Residues:
    return np.stack([(a + b) % np.uint64(p) for a, b, p in zip(one, other, PRIMES, strict=True)])


def _negated(one: NDArray[np.uint64], prime: int) -> NDArray[np.uint64]:
    return np.uint64(prime) - one


def _written(values: Residues) -> bytes:
    return values.astype("<u4").tobytes()


def _read(data: bytes, count: int) -> Residues:
    """So many polynomials modulo each prime."""
    if len(data) != 2 * count * DEGREE * 4:
        raise Malformed(ASKED, f"there are {len(data)} bytes of polynomials", "Send as many as agreed.", UNOPENED)
    found = np.frombuffer(data, dtype="<u4").astype(np.uint64).reshape(2, count, DEGREE)
    if any((one >= prime).any() for one, prime in zip(found, PRIMES, strict=True)):
        raise Malformed(ASKED, "a coefficient is not below its prime", "Send others.", UNOPENED)
    return found
