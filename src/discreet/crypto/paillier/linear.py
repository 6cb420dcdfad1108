"""Products of encrypted numbers with a plain matrix: powers of ciphertexts from tables that all outputs share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from discreet.crypto.paillier.big_integers import Big, big, gmp

NARROWEST, WIDEST_DIGIT = 2, 8  # a digit of one bit has no sign


def weighted_products(ciphertexts: Sequence[Big], weights: NDArray[Any], square: Big) -> list[Big]:
    """For each column of weights, the product of all ciphertexts to these powers modulo `square`.

    Straus 1964: weights are written in signed digits of w bits, at most 2**(w - 1) in absolute value. The powers of a
    ciphertext to 1, ..., 2**(w - 1) are computed once for all columns. Positive and negative digits are multiplied up
    apart, so that a column needs one inverse for each digit.

    Parameters
    ----------
    weights : array of int
        Of shape (ciphertexts, outputs), as objects.

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[2], [-1]], dtype=object)
    >>> [int(one) for one in weighted_products([big(3), big(5)], weights, big(101))]
    [22]
    >>> 9 * pow(5, -1, 101) % 101
    22
    """
    bits = max(1, max(abs(int(weight)).bit_length() for weight in weights.flat))
    digit = _best_digit(bits, weights.shape[1])
    tables = [_powers(one, 1 << (digit - 1), square) for one in ciphertexts]
    products = []
    for column in weights.T.tolist():
        own = [place for place, weight in enumerate(column) if weight]  # few, where a matrix is of a convolution
        digits = _digits([column[place] for place in own], digit)
        products.append(_product([tables[place] for place in own], digits, digit, square))
    return products


def products_needed(columns: int, outputs: int, bits: int) -> int:
    """How many products there are at most, of tables and of outputs, for weights of so many bits."""
    return columns * _cost(_best_digit(bits, outputs), bits, outputs)


def _cost(digit: int, bits: int, outputs: int) -> int:
    """The products for one ciphertext."""
    return 2 ** (digit - 1) + outputs * -(-(bits + 1) // digit)


def _best_digit(bits: int, outputs: int) -> int:
    """The digit for which they are fewest."""
    return min(range(NARROWEST, WIDEST_DIGIT + 1), key=lambda digit: _cost(digit, bits, outputs))


def _powers(base: Big, most: int, square: Big) -> list[Big]:
    """The powers of a ciphertext from 0 to `most`."""
    powers = [big(1), base]
    while len(powers) <= most:
        powers.append(powers[-1] * base % square)
    return powers


def _digits(weights: list[int], digit: int) -> list[list[int]]:
    """The signed digits of all weights: the lowest of all, then the next; as many as the longest needs."""
    rows, half, whole = [], 1 << (digit - 1), 1 << digit
    while any(weights):
        lowest = [(weight + half - 1) % whole - half + 1 for weight in weights]
        weights = [(weight - low) >> digit for weight, low in zip(weights, lowest, strict=True)]
        rows.append(lowest)
    return rows


def _product(tables: list[list[Big]], digits: list[list[int]], digit: int, square: Big) -> Big:
    found, power, inverse = big(1), gmp().powmod, gmp().invert
    for row in reversed(digits):
        if found != 1:
            found = power(found, 1 << digit, square)
        below = big(1)
        for table, one in zip(tables, row, strict=True):
            if one > 0:
                found = found * table[one] % square
            elif one:
                below = below * table[-one] % square
        if below != 1:
            found = found * inverse(below, square) % square
    return found
