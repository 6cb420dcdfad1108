"""Whether a stranger's query is a template: without reading it, its keeper computes what the key's owner checks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.core.bits import Bits
from discreet.crypto.matching.match_parameters import STRANGERS_SCALE, TEMPLATE_SCALE, MatchParameters, Vectors
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.seal_forms import ciphertext_of
from discreet.crypto.matching.seal_stream import Seal, seal
from discreet.noise.system_bits import system_bits

FAR = 1e-3  # from what numbers can be, beyond all errors
ROUGHLY = 1.3  # the largest squared length by random directions, of which there are as many as slots


def direction_products(parameters: MatchParameters, turned: Sequence[Seal], bits: Bits | None = None) -> Seal:
    """Products of a query, that was turned, with random directions: vectors of signs, one in each slot.

    The mean of their squares is the query's squared length over the width; over 2048 directions its deviation is 3 % of
    it, and it cannot wrap round where the exact square could. The asker does not know them; and they are drawn for each
    query, so that products of two queries do not show how alike these are.

    Parameters
    ----------
    parameters : MatchParameters
        Public.
    turned : sequence of ciphertexts
        The query, rotated by each number of slots below the width.
    bits : Bits, optional
        Where they come from; the operating system's where not given.
    """
    evaluator, total, product = parameters.engine.evaluator, seal().Ciphertext(), seal().Ciphertext()
    directions = [parameters.encoded(one, TEMPLATE_SCALE) for one in random_signs(parameters, bits or system_bits())]
    evaluator.multiply_plain(turned[0], directions[0], total)
    for one, direction in zip(turned[1:], directions[1:], strict=True):
        evaluator.multiply_plain(one, direction, product)
        evaluator.add_inplace(total, product)
    return total


def random_signs(parameters: MatchParameters, bits: Bits) -> Vectors:
    """A sign for each coordinate, in rows, and slot, in columns; under "ckks" of vectors of length one."""
    width, capacity = parameters.width, parameters.capacity
    words = bits.words(-(-width * capacity // 64)).copy()
    signs = np.unpackbits(words.view(np.uint8)).astype(np.float64)[: width * capacity].reshape(width, capacity)
    signs = 2 * signs - 1
    return signs / math.sqrt(width) if parameters.scheme == "ckks" else signs


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
