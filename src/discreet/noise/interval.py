"""Intervals in multi-precision decimals: they settle a draw where float64 cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal, getcontext, localcontext
from functools import cache
from typing import TypeVar

from discreet.core.bits import Bits
from discreet.core.held import unheld

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Interval:
    """All reals between two decimals, ends included.

    Every result holds all values that its operands allow. Python's decimal arithmetic rounds each operation to the
    nearest decimal of the context's precision, so that one step outwards covers the rounding.

    Examples
    --------
    >>> third = Interval.of(1.0) / 3.0
    >>> third.lo < third.hi, (third * 3.0).lo <= 1 <= (third * 3.0).hi
    (True, True)
    """

    lo: Decimal
    hi: Decimal

    @classmethod
    def of(cls, value: float | int) -> Interval:
        return cls(Decimal(value), Decimal(value))

    @classmethod
    def around(cls, lo: Decimal, hi: Decimal) -> Interval:
        """One step outwards from two rounded ends."""
        return cls(lo.next_minus(), hi.next_plus())

    def __add__(self, other: Interval) -> Interval:
        return Interval.around(self.lo + other.lo, self.hi + other.hi)

    def __neg__(self) -> Interval:
        return Interval.around(-self.hi, -self.lo)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval | float) -> Interval:
        factor = other if isinstance(other, Interval) else Interval.of(other)
        ends = [a * b for a in (self.lo, self.hi) for b in (factor.lo, factor.hi)]
        return Interval.around(min(ends), max(ends))

    def __truediv__(self, divisor: float) -> Interval:
        """Over a positive number."""
        return Interval.around(self.lo / Decimal(divisor), self.hi / Decimal(divisor))

    def square(self) -> Interval:
        product = self * self
        return Interval(max(product.lo, Decimal(0)), product.hi)

    def sqrt(self) -> Interval:
        """The square roots; what is negative counts as zero."""
        return Interval.around(max(self.lo, Decimal(0)).sqrt(), max(self.hi, Decimal(0)).sqrt())

    def exp(self) -> Interval:
        return Interval.around(self.lo.exp(), self.hi.exp())

    def ln(self) -> Interval:
        """The logarithms; what is not positive counts as zero."""
        return Interval.around(max(self.lo, Decimal(0)).ln(), max(self.hi, Decimal(0)).ln())

    def floor(self) -> int | None:
        """The integer below, if it is the same for every value."""
        lo, hi = (end.to_integral_value(rounding=ROUND_FLOOR) for end in (self.lo, self.hi))
        return int(lo) if lo == hi else None

    def cosine(self) -> Interval:
        """The cosines of a number of turns, for at most one turn either way.

        The series at x = 2 pi times the middle, and pi times the width, as the slope allows. With u = 10**-precision
        a rounding is off by at most 5 u of its result. The m-th term t[m] carries nine roundings more than the one
        before: together 45 u * sum of m t[m] = 45 u * x sinh(x) / 2 < 4e4 u. The partial sums stay below 100 and
        are fewer than 100: 5e4 u. The series is cut below u. A million u cover it all.
        """
        precision = getcontext().prec
        angle = (self.lo + self.hi) * pi(precision)
        total, term, order = Decimal(1), Decimal(1), 0
        while abs(term) > Decimal(10) ** -precision or order < 8:
            order += 2
            term = -term * angle * angle / (order * (order - 1))
            total += term
        slack = (self.hi - self.lo) * 4 + Decimal(10) ** (6 - precision)
        return Interval.around(total - slack, total + slack)


@cache
def pi(precision: int) -> Decimal:
    """Pi to `precision` digits, by Machin's formula 16 arctan(1/5) - 4 arctan(1/239).

    Examples
    --------
    >>> pi(20)
    Decimal('3.1415926535897932385')
    """
    unit = 10 ** (precision + 10)
    digits = 16 * _arctangent(5, unit) - 4 * _arctangent(239, unit)
    with localcontext(Context(prec=precision)):
        return Decimal(digits) / unit


def _arctangent(inverse: int, unit: int) -> int:
    """The angle whose tangent is 1 / inverse, in units of 1 / unit, off by less than one for each term."""
    total, sign, order, power = 0, 1, 1, unit // inverse
    while power:
        total += sign * (power // order)
        sign, order, power = -sign, order + 2, power // inverse**2
    return total


@unheld("one call")
class Uniform:
    """A uniform real in [0, 1), of which the first bits are known and the next ones are drawn when needed.

    Parameters
    ----------
    bits : Bits
        Where further bits come from.
    known : int
        The bits drawn so far, as an integer.
    width : int
        How many they are.
    """

    def __init__(self, bits: Bits, known: int, width: int = 64) -> None:
        self._bits, self.known, self.width = bits, known, width

    def refine(self) -> None:
        self.known, self.width = self.known << 64 | self._bits.integer(64), self.width + 64

    def interval(self) -> Interval:
        """All that the real may still be."""
        unit = Decimal(1 << self.width)
        return Interval.around(Decimal(self.known) / unit, Decimal(self.known + 1) / unit)


def settled(attempt: Callable[[], Outcome | None], uniforms: Iterable[Uniform]) -> Outcome:
    """The answer of `attempt`, asked again with more digits and more bits until it is not None.

    Two reals that are independent of one another, one with a density, differ with probability one: so this ends.
    """
    uniforms = list(uniforms)
    precision = 40
    while True:
        with localcontext(Context(prec=precision, Emin=MIN_EMIN, Emax=MAX_EMAX)):
            answer = attempt()
        if answer is not None:
            return answer
        precision += 20
        for uniform in uniforms:
            uniform.refine()
