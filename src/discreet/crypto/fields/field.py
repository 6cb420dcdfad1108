"""Arithmetic modulo the prime 2**61 - 1, on arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.noise.request import Size, checked_shape

Elements = NDArray[np.uint64]
PRIME = (1 << 61) - 1
CHUNK = 1 << 14  # elements at a time, so that what lies between two steps stays in the cache

_P = np.uint64(PRIME)
_LOW_32, _LOW_29 = np.uint64((1 << 32) - 1), np.uint64((1 << 29) - 1)
_3, _29, _32, _61 = (np.uint64(width) for width in (3, 29, 32, 61))


def elements(values: ArrayLike) -> Elements:
    """The field elements of integers of any size and sign: their remainders from 0 to PRIME - 1.

    Every other function here takes and gives such arrays and nothing else.

    Examples
    --------
    >>> elements([5, -1, PRIME, 2**64])
    array([                  5, 2305843009213693950,                   0,
                             8], dtype=uint64)
    """
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if array.dtype.kind == "u":
        return reduced(array.astype(np.uint64))
    if array.dtype.kind == "i":
        return np.mod(array.astype(np.int64), PRIME).astype(np.uint64)
    if array.dtype.kind != "O" or not all(hasattr(value, "__index__") for value in array.flat):
        raise ParameterError("field elements", "not all values are integers", "Round them to a grid first.")
    remainders = [operator.index(value) % PRIME for value in array.flat]
    return np.array(remainders, dtype=np.uint64).reshape(array.shape)


def reduced(words: Elements) -> Elements:
    """The remainders of any 64-bit words: 2**61 is 1, so the top bits are added to the others."""
    flat = np.reshape(words, -1)
    folded = (flat & _P) + (flat >> _61)
    return np.minimum(folded, folded - _P).reshape(np.shape(words))  # below PRIME the difference wraps and loses


def is_canonical(words: Elements) -> bool:
    """Whether every word is a field element."""
    return bool((words < _P).all())


def uniform_elements(bits: Bits, size: Size) -> Elements:
    """Draw field elements, each as likely as any other: 61 bits, drawn anew where they make PRIME itself.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> uniform_elements(DeterministicBits(1), 2)
    array([ 985452464589546496, 1350993420464547792], dtype=uint64)
    """
    shape = checked_shape("field elements", size)
    out = np.empty(math.prod(shape), np.uint64)
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        np.bitwise_and(bits.words(part.size), _P, out=part)
        again = np.flatnonzero(part == _P)
        if again.size:
            part[again] = uniform_elements(bits, again.size)
    return out.reshape(shape)


def add(a: Elements, b: Elements) -> Elements:
    """The sum, element by element; arrays broadcast."""
    return _in_chunks(_sum, a, b)


def subtract(a: Elements, b: Elements) -> Elements:
    """The difference, element by element; arrays broadcast."""
    return _in_chunks(_difference, a, b)


def multiply(a: Elements, b: Elements) -> Elements:
    """The product, element by element; arrays broadcast.

    Examples
    --------
    >>> multiply(elements([3, -3]), elements([2**60, 5]))
    array([1152921504606846977, 2305843009213693936], dtype=uint64)
    """
    return _in_chunks(_product, a, b)


def power(base: Elements, exponent: int) -> Elements:
    """A public power of each element, by repeated squaring; zero to the zero is one."""
    if exponent < 0:
        return power(inverse(base), -exponent)
    result = np.ones_like(base)
    for digit in bin(exponent)[2:]:
        result = multiply(result, result)
        if digit == "1":
            result = multiply(result, base)
    return result


def inverse(a: Elements) -> Elements:
    """What each element must be multiplied by to give one: three products each and one inverse for all.

    Montgomery's trick (1987) on pairs: from the inverse of a product of two come those of both.

    Examples
    --------
    >>> inverse(elements([1, 2, -1]))
    array([                  1, 1152921504606846976, 2305843009213693950],
          dtype=uint64)
    """
    if not a.all():
        raise ParameterError("inverse", "an element is zero", "Leave zeros out.")
    flat = a.reshape(-1)
    if flat.size <= 1:
        return elements([pow(int(value), -1, PRIME) for value in flat]).reshape(a.shape)
    half = (flat.size + 1) // 2
    left, right = flat[:half], np.append(flat[half:], np.ones(2 * half - flat.size, np.uint64))
    pairs = inverse(multiply(left, right))
    both = np.concatenate([multiply(pairs, right), multiply(pairs, left)])
    return both[: flat.size].reshape(a.shape)


def accumulate(target: Elements, other: Elements) -> None:
    """Add to the target, in place; arrays of one shape, which may overlap."""
    once = target + other
    np.minimum(once, once - _P, out=target)


def total(rows: Elements) -> Elements:
    """The sum along the first axis, which holds fewer than 2**32."""
    if len(rows) < 8:
        return reduced(rows.sum(axis=0))
    low, high = (rows & _LOW_32).sum(axis=0), (rows >> _32).sum(axis=0)
    return reduced(reduced(low) + (high >> _29) + ((high & _LOW_29) << _32))


def dot(weights: Elements, rows: Elements) -> Elements:
    """The sum of the rows, each multiplied by its weight.

    Parameters
    ----------
    weights : array of field elements, shape (m,)
        One for each row.
    rows : array of field elements, shape (m, ...)
        A vector has rows of one element.

    Examples
    --------
    >>> dot(elements([2, -1]), elements([[10, 20], [1, 2]]))
    array([19, 38], dtype=uint64)
    """
    flat = rows.reshape(len(weights), math.prod(rows.shape[1:]))
    out = np.zeros(flat.shape[1], np.uint64)
    for left in range(0, out.size, CHUNK // 2):
        part = out[left : left + CHUNK // 2]
        height = max(7, CHUNK // part.size)
        for top in range(0, len(weights), height):
            block = slice(top, top + height)
            accumulate(part, total(_product(weights[block, None], flat[block, left : left + part.size])))
    return out.reshape(rows.shape[1:])


def evaluate(coefficients: Elements, points: Elements) -> Elements:
    """The values of polynomials at points, by Horner's rule.

    Parameters
    ----------
    coefficients : array of field elements, shape (degree + 1, ...)
        The constant term first.
    points : array of field elements
        Broadcasts with one coefficient of all polynomials.

    Examples
    --------
    >>> evaluate(elements([1, 0, 2]), elements([0, 1, 10]))
    array([  1,   3, 201], dtype=uint64)
    """
    value = np.array(np.broadcast_to(coefficients[-1], np.broadcast_shapes(coefficients[-1].shape, points.shape)))
    for coefficient in coefficients[-2::-1]:
        value = add(multiply(value, points), coefficient)
    return value


def _sum(a: Elements, b: Elements) -> Elements:
    once = a + b
    return np.minimum(once, once - _P)


def _difference(a: Elements, b: Elements) -> Elements:
    once = a - b
    return np.minimum(once, once + _P)  # a negative difference wrapped around, and comes back


def _product(a: Elements, b: Elements) -> Elements:
    """Three products of halves: 2**61 is 1, so 2**64 is 8 and 2**32 times 2**29 is 1.

    No word overflows: low < 2**64, middle < 2 * 2**61, high < 2**58, and what is added up stays below
    2**61 + 2**3 + 2**61 + 2**33 + 2**61 < 2**63.
    """
    a_low, a_high, b_low, b_high = a & _LOW_32, a >> _32, b & _LOW_32, b >> _32
    low, high = a_low * b_low, a_high * b_high
    middle = a_low * b_high
    middle += a_high * b_low
    folded = low & _P
    low >>= _61
    folded += low
    high <<= _3
    folded += high
    folded += middle >> _29
    middle &= _LOW_29
    middle <<= _32
    folded += middle
    return reduced(folded)


def _in_chunks(function: Callable[[Elements, Elements], Elements], a: Elements, b: Elements) -> Elements:
    """A function of two arrays, applied to pieces that fit the cache; integers of another type are refused."""
    flags: Any = ["external_loop", "buffered", "zerosize_ok"]
    roles: Any = [["readonly"], ["readonly"], ["writeonly", "allocate"]]
    with np.nditer([a, b, None], flags, roles, [np.uint64] * 3, casting="equiv", buffersize=CHUNK) as pieces:
        for left, right, out in pieces:
            out[...] = function(left, right)
        return pieces.operands[2]
