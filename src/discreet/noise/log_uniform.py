"""The logarithm of a uniform number, correctly rounded: what the snapping mechanism is made of."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.noise.interval import Interval, settled
from discreet.noise.request import Size, checked_shape

CHUNK = 1 << 15
MARGIN = 2.0**-61  # of a logarithm in extended precision: 4 units in its last place
POINTS = 200
Words = NDArray[np.uint64]


def log_uniform(bits: Bits, size: Size) -> Array:
    """Draw uniform reals of [0, 1), cut to 53 significant bits, and take the float64 nearest to the logarithm.

    The exponent is not bounded: every float of (0, 1), and numbers below the least one, occur with the probability of
    the reals that are cut to them. Where the machine has extended precision, the logarithm is taken there, and settled
    in multi-precision if it is close to half-way between two floats; elsewhere every one is settled.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> log_uniform(DeterministicBits(1), 3)
    array([-1.91526572, -0.32279988, -0.80583665])
    """
    shape = checked_shape("logarithm of a uniform number", size)
    out = np.empty(math.prod(shape))
    for start in range(0, out.size, CHUNK):
        _fill(bits, out[start : start + CHUNK])
    return out.reshape(shape)


def _fill(bits: Bits, out: Array) -> None:
    digits = (bits.words(out.size) >> np.uint64(12)) + np.uint64(1 << 52)
    out[:] = logarithms(digits, _exponents(bits, out.size))


def _exponents(bits: Bits, count: int) -> Steps:
    """How many zeros precede the first one of a stream of bits, plus one."""
    leading = (bits.words(count) >> np.uint64(11)).astype(np.float64)  # 53 bits: exact
    found = 54 - np.frexp(leading)[1].astype(np.int64)
    for i in np.flatnonzero(leading == 0):
        zeros = 53
        while not (word := bits.integer(64)):
            zeros += 64
        found[i] = zeros + 65 - word.bit_length()
    return found


def logarithms(digits: Words, exponents: Steps) -> Array:
    """The floats nearest to ln(digits / 2**(52 + exponent)), for digits of 53 bits and exponents of at least 1.

    Examples
    --------
    >>> logarithms(np.array([2**52], dtype=np.uint64), np.array([1])).item() == -math.log(2)
    True
    """
    if not extended():
        return np.array([_settled(*pair) for pair in zip(digits.tolist(), exponents.tolist(), strict=True)])
    logs = np.log(np.ldexp(digits.astype(np.longdouble), -(52 + exponents)))
    found = logs.astype(np.float64)
    middles = [(found + np.nextafter(found, end).astype(np.longdouble)) / 2 for end in (-np.inf, np.inf)]
    close = np.minimum(*(np.abs(logs - middle) for middle in middles)) <= MARGIN * np.abs(logs)
    for i in np.flatnonzero(close):
        found[i] = _settled(int(digits[i]), int(exponents[i]))
    return found


@cache
def extended() -> bool:
    """Whether this machine has more precise floats than float64, and numpy's logarithm of them is right.

    To half of `MARGIN`, at a few hundred points, among them some close to 0 and to 1.
    """
    if np.finfo(np.longdouble).nmant < 63:
        return False
    spread = (np.arange(1, POINTS + 1, dtype=np.float64) * 0.6180339887498949) % 1.0
    points = np.concatenate([spread, np.exp2(-1000 * spread), 1 - np.exp2(-1 - 50 * spread)])
    with localcontext(Context(prec=40)):
        return all(
            abs(Decimal(np.format_float_scientific(log, unique=False, precision=36)) / Decimal(point).ln() - 1)
            <= Decimal(MARGIN) / 2
            for point, log in zip(points.tolist(), np.log(points.astype(np.longdouble)), strict=True)
        )


def _settled(digits: int, exponent: int) -> float:
    """The same for one, in multi-precision. The logarithm of a rational other than 1 is irrational: so this ends."""

    def attempt() -> float | None:
        scale = Interval(Decimal(2), Decimal(2)).ln() * float(52 + exponent)
        log = Interval.of(digits).ln() - scale
        return float(log.lo) if float(log.lo) == float(log.hi) else None

    return settled(attempt, [])
