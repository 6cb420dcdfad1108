"""Staircase noise on the integers, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from operator import index

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps, upwards
from discreet.noise.error_bars import assure
from discreet.noise.interval import Interval, Uniform, settled
from discreet.noise.laplace import rounded_exponential
from discreet.noise.request import Size, checked_shape
from discreet.noise.uniform import uniform_integers

assure("exp")
ERROR = 2.0**-45
LARGEST = 2**52


def discrete_staircase(bits: Bits, size: Size, period: int, tread: int, fall: float) -> Steps:
    """Draw integers whose probability falls in steps: for each `period` once, `tread` integers after its start.

    The weight of k is exp(-fall * (|k| // period)), times exp(-fall) where |k| % period >= tread. So no two integers
    that are at most a period apart differ in weight by more than the factor exp(fall). From a tread to what follows
    it the fall is exactly this; from period to period it is 1 / s, with s the least float not below 1 / fall.

    A geometric number of periods, a place in the period, and a sign; a zero below zero is drawn again, so that zero has
    no more weight than its neighbors. The place is on the tread if a uniform real is below
    1 / (1 + exp(-fall) * (period - tread) / tread): in float64 that is off by less than 2**-49, and a real
    closer than `ERROR` is settled in multi-precision, with further bits.

    Parameters
    ----------
    period : int
        Public. From 1 to 2**52.
    tread : int
        Public. From 1 to the period.
    fall : float
        Public. Between 2**-40 and 700.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> discrete_staircase(DeterministicBits(1), 5, period=10, tread=3, fall=1.0)
    array([ 10,  23, -11,   4,  -5])
    """
    shape, period, tread = checked_shape("staircase noise", size), index(period), index(tread)
    if not (1 <= tread <= period <= LARGEST and 2.0**-40 <= fall <= 700):
        obstacle = f"the period is {period}, the tread {tread} and the fall {fall}"
        remedy = "Give 1 <= tread <= period <= 2**52 and a fall between 2**-40 and 700."
        raise ParameterError("staircase noise", obstacle, remedy)
    out = np.empty(math.prod(shape), np.int64)
    left = np.arange(out.size)
    while left.size:
        sizes = _sizes(bits, left.size, period, tread, fall)
        below = uniform_integers(bits, left.size, 2) == 1
        out[left] = np.where(below, -sizes, sizes)
        left = left[below & (sizes == 0)]
    return out.reshape(shape)


def _sizes(bits: Bits, count: int, period: int, tread: int, fall: float) -> Steps:
    periods = rounded_exponential(bits, count, upwards(1 / Fraction(fall)))
    on_tread, off_tread = (uniform_integers(bits, count, max(1, width)) for width in (tread, period - tread))
    return periods * period + np.where(_on_tread(bits, count, period, tread, fall), on_tread, tread + off_tread)


def _on_tread(bits: Bits, count: int, period: int, tread: int, fall: float) -> NDArray[np.bool_]:
    words = bits.words(count).copy()
    chance = 1 / (1 + math.exp(-fall) * (period - tread) / tread)
    behind = words * 2.0**-64 - chance
    found = behind < 0
    for i in np.flatnonzero(np.abs(behind) <= ERROR):
        found[i] = _settled(Uniform(bits, int(words[i])), period, tread, fall)
    return found


def _settled(uniform: Uniform, period: int, tread: int, fall: float) -> bool:
    def attempt() -> bool | None:
        odds = (-Interval.of(fall)).exp() * Interval.of(period - tread) / tread
        product = uniform.interval() * (Interval.of(1) + odds)
        return True if product.hi <= 1 else False if product.lo >= 1 else None

    return period == tread or settled(attempt, [uniform])
