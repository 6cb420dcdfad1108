"""Whether a stranger's query is a template: without reading it, its keeper computes what the key's owner checks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from discreet.core.bits import Bits
from discreet.core.held import unheld
from discreet.crypto.matching.match_parameters import STRANGERS_SCALE, TEMPLATE_SCALE, MatchParameters
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.seal_forms import ciphertext_of
from discreet.crypto.matching.seal_stream import Seal, seal
from discreet.noise.system_bits import system_bits

FAR = 1e-3  # from what numbers can be, beyond all errors
ROUGHLY = 1.3  # the largest squared length by random directions, of which there are as many as slots


@unheld("cache")
class RandomDirections:
    """Vectors of signs that nobody but the keeper knows, one in each slot, as plaintexts in the form of a block.

    The mean of the squares of their products with a vector is its squared length over the width; with 2048 of them its
    deviation is 3 % of it, and no number of it wraps round that the exact square could hide.

    Parameters
    ----------
    parameters : MatchParameters
        Public.
    bits : Bits, optional
        Where they come from; the operating system's where not given.
    """

    def __init__(self, parameters: MatchParameters, bits: Bits | None = None) -> None:
        self._parameters, self._bits = parameters, bits or system_bits()

    @cached_property
    def plaintexts(self) -> Sequence[Seal]:
        """One for each turn of the query."""
        width, capacity = self._parameters.width, self._parameters.capacity
        words = self._bits.words(-(-width * capacity // 64)).copy()
        signs = np.unpackbits(words.view(np.uint8))[: width * capacity].reshape(width, capacity) * 2.0 - 1
        signs *= 1 / np.sqrt(width) if self._parameters.scheme == "ckks" else 1.0
        return [self._parameters.encoded(one, TEMPLATE_SCALE) for one in signs]

    def products(self, turned: Sequence[Seal]) -> Seal:
        """Of these directions with a query that was turned."""
        evaluator = self._parameters.engine.evaluator
        total, product = seal().Ciphertext(), seal().Ciphertext()
        evaluator.multiply_plain(turned[0], self.plaintexts[0], total)
        for one, direction in zip(turned[1:], self.plaintexts[1:], strict=True):
            evaluator.multiply_plain(one, direction, product)
            evaluator.add_inplace(total, product)
        return total


def checks_size(parameters: MatchParameters) -> int:
    """The bytes of all of them."""
    return 2 * parameters.answer_size + parameters.sealed_size


def is_template(key: MatchingKey, checks: bytes) -> bool:
    """Whether the query repeats itself in all slots, has no imaginary part, and is no longer than one.

    Parameters
    ----------
    key : MatchingKey
        The secret key.
    checks : bytes
        The squares of the query, its products with random directions, and what it is apart from itself turned by its
        width, encrypted.
    """
    parameters, size = key.parameters, key.parameters.answer_size
    squares, directions, apart = checks[:size], checks[size : 2 * size], checks[2 * size :]
    square = parameters.square_scale
    length = parameters.score(key.opened(ciphertext_of(parameters, squares, square, primes=1)))
    scale = parameters.reduced_scale(STRANGERS_SCALE)
    found = key.opened_complex(ciphertext_of(parameters, directions, scale, primes=1))
    unit = parameters.width if parameters.scheme == "ckks" else parameters.steps**-2
    real, imaginary = (float((part**2).mean()) * unit for part in (found.real, found.imag))
    rest = np.abs(key.opened_complex(ciphertext_of(parameters, apart, STRANGERS_SCALE))).max()
    fine = real <= ROUGHLY * parameters.longest and imaginary <= FAR and rest <= FAR
    return fine and bool(length.min() >= -FAR) and bool(length.max() <= parameters.longest + FAR)
