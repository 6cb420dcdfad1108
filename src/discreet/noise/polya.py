"""Polya noise on the integers, exactly: a party's part of a geometric variable."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from operator import index

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.noise.error_bars import ErrorBars, assure, exponentials
from discreet.noise.interval import Interval, Uniform, settled
from discreet.noise.laplace import rounded_exponential
from discreet.noise.rejection_table import COMPANY, LIMIT
from discreet.noise.request import Size, checked_scale, checked_shape

assure("exp")
CHUNK = 1 << 15
ERROR = 2.0**-49
MOST_PARTS = 1 << 20


def polya(bits: Bits, size: Size, scale: float, parts: int) -> Steps:
    """Draw from the negative binomial law of shape 1 / parts, so that `parts` draws add up to a geometric variable.

    With p = exp(-1 / scale) and r = 1 / parts, P(k) = Gamma(k + r) / (k! Gamma(r)) p**k (1 - p)**r for k >= 0; the
    generating function is ((1 - p) / (1 - p z))**r, and its power `parts` is that of the geometric law (1 - p) p**k.

    The law is a sum of jumps, of logarithmic law p**k / (k L) with L = -ln(1 - p), whose number is Poisson's of mean
    r L (Quenouille 1949). A jump is geometric with ratio q = 1 - exp(-s), k >= 1, for s uniform in [0, L] (Kemp 1981):
    the integral of exp(-s) q**(k - 1) from 0 to L is p**k / k. So walk through [0, L] with exponential waits of mean
    `parts`, which meets a Poisson number of such s, and at each of them jump by 1 + floor(-ln V / -ln q), V uniform.

    Waits and jumps are computed in float64 with error bars. Where a bar reaches L, or an integer, multi-precision and
    further bits settle it; these bits stay those of the walk. At a scale of 2**30 that is one draw in 20 000;
    it grows with the scale, to one in ten at 2**40.

    A jump of 2**62 steps or more is put at 2**62: at the largest scale its probability is below exp(-1000).

    At least `COMPANY` draws are made, so that the number of jumps of a single one does not show in the time.

    Parameters
    ----------
    scale : float
        Public. Of the geometric variable, in steps; between 1e-6 and 2**52.
    parts : int
        Public. How many draws make a geometric variable; from 1 to 2**20.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> polya(DeterministicBits(1), 8, scale=100.0, parts=4)
    array([ 0, 29, 33,  0, 35,  0,  0,  0])
    """
    shape, scale, parts = checked_shape("Polya noise", size), checked_scale("Polya noise", scale), index(parts)
    if not 1 <= parts <= MOST_PARTS:
        raise ParameterError("Polya noise", f"there are {parts} parts", "Give from 1 to 2**20.", parts=parts)
    if parts == 1:
        return rounded_exponential(bits, shape, scale)
    count = math.prod(shape)
    out = np.zeros(max(count, COMPANY), np.int64)
    for start in range(0, out.size, CHUNK):
        _Walks(bits, scale, parts).fill(out[start : start + CHUNK])
    return out[:count].reshape(shape)


@dataclass(frozen=True)
class _Round:
    """The words of one wait, for the walks that are still under way; their places ascend."""

    place: Steps
    words: NDArray[np.uint64]


@dataclass
class _Walks:
    """Many walks through [0, L], side by side.

    Parameters
    ----------
    rounds : list of _Round
        The waits so far.
    waits : dict
        The waits of those walks that float64 could not settle once, with the further bits drawn for them.
    """

    bits: Bits
    scale: float
    parts: int
    rounds: list[_Round] = field(default_factory=list)
    waits: dict[int, list[Uniform]] = field(default_factory=dict)

    def fill(self, out: Steps) -> None:
        """Add up the jumps of each walk."""
        end = self._float_end()
        place, time = np.arange(out.size), ErrorBars(np.zeros(out.size), np.zeros(out.size))
        while place.size:
            time = self._waited(place, time)
            inside = self._inside(place, time, end)
            place, time = place[inside], ErrorBars(time.value[inside], time.error[inside])
            out[place] += self._jumps(place, time)

    def _waited(self, place: Steps, time: ErrorBars) -> ErrorBars:
        """The times after one more wait; its bar is twice what it need be, which covers the product's rounding."""
        words = self.bits.words(place.size).copy()
        self.rounds.append(_Round(place, words))
        wait = exponentials(words)
        value = time.value + self.parts * wait.value
        return ErrorBars(value, time.error + self.parts * wait.error + 2.0**-53 * value)

    def _inside(self, place: Steps, time: ErrorBars, end: ErrorBars) -> NDArray[np.bool_]:
        """Which walks have not left [0, L] yet."""
        inside = time.value < end.value
        for i in np.flatnonzero(~(np.abs(time.value - end.value) > time.error + end.error)):
            inside[i] = self._settled_inside(int(place[i]))
        return inside

    def _jumps(self, place: Steps, time: ErrorBars) -> Steps:
        words = self.bits.words(place.size).copy()
        ratio = _ratios(time, exponentials(words))
        whole = np.floor(ratio.value)
        with np.errstate(invalid="ignore"):
            certain = (ratio.value - whole >= ratio.error) & (whole + 1 - ratio.value > ratio.error)
        jumps = np.where(certain, whole, 0.0).astype(np.int64)
        for i in np.flatnonzero(~certain):
            jumps[i] = self._settled_ratio(int(place[i]), int(words[i]))
        return jumps + 1

    def _known(self, place: int) -> list[Uniform]:
        """The waits of one walk, as uniform reals."""
        known = self.waits.setdefault(place, [])
        for waited in self.rounds[len(known) :]:
            known.append(Uniform(self.bits, int(waited.words[np.searchsorted(waited.place, place)])))
        return known

    def _time(self, place: int) -> Interval:
        product = Interval.of(1)  # the sum of logarithms is the logarithm of the product
        for wait in self._known(place):
            product *= wait.interval()
        return -(product.ln() * self.parts)

    def _end(self) -> Interval:
        """L = -ln(1 - exp(-1 / scale))."""
        return -(Interval.of(1) - (-(Interval.of(1) / self.scale)).exp()).ln()

    def _float_end(self) -> ErrorBars:
        with localcontext(Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX)):
            end = self._end()
            value = np.array(float(end.lo))
            return ErrorBars(value, float(end.hi - end.lo) + ERROR * np.abs(value))

    def _settled_inside(self, place: int) -> bool:
        def attempt() -> bool | None:
            time, end = self._time(place), self._end()
            return True if time.hi < end.lo else False if time.lo >= end.hi else None

        return settled(attempt, self._known(place))

    def _settled_ratio(self, place: int, word: int) -> int:
        """The jump less one, in multi-precision."""
        uniform = Uniform(self.bits, word)

        def attempt() -> int | None:
            rate = -(Interval.of(1) - (-self._time(place)).exp()).ln()
            level = -uniform.interval().ln()
            if rate.lo <= 0:
                return None
            return Interval.around(max(level.lo, Decimal(0)) / rate.hi, level.hi / rate.lo).floor()

        return min(settled(attempt, [*self._known(place), uniform]), LIMIT)


def _ratios(time: ErrorBars, level: ErrorBars) -> ErrorBars:
    """The ratios of -ln V to the rates -ln(1 - exp(-s)), for times s inside [0, L].

    Let x = exp(-s) and u = 1 - x as a float. If s is off by d < 0.01 then x is off by 1.01 d x, and exp by 4 units in
    the last place: e in all. The rate is computed as -ln(u) * x / (1 - u), which undoes the rounding of u (Kahan):
    ln(u) / (1 - u) changes by at most half as much as u does, in proportion, so beside the 2**-50 of log there are
    four roundings at most, together less than `ERROR` of the rate, and what e does to it is less than
    1.01 e / (u - e). A ratio of numbers off by a and b is off by (a + ratio * b) / (rate - b), and a rounding. Where
    the bar of u or of the rate reaches 0, nothing is known.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.exp(-time.value)
        u, off = 1 - x, x * (1.01 * time.error + 2.0**-50)
        rate = -np.log(u) * (x / (1 - u))
        off_rate = 1.01 * off / (u - off) + ERROR * rate
        ratio = level.value / rate
        error = (level.error + ratio * off_rate) / (rate - off_rate) + ERROR * ratio
        known = (time.error < 0.01) & (u > 2 * off) & (rate > off_rate)
        return ErrorBars(ratio, np.where(known, error, np.inf))
