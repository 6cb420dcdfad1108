"""The sum of many independent losses, by Fourier transform under an exponential tilt.

Let the loss L be the sum of T independent losses on the lattice of step h, with K the logarithm of its moment
generating function. For any tilt a > 0 the masses g(j) = P(L = jh) e^(ajh - K) are a law again, and

    delta(eps) = sum over jh > eps of P(L = jh) (1 - e^(eps - jh)) = e^K sum of g(j) e^(-ajh) (1 - e^(eps - jh)).

The discrete Fourier transform of length N of each tilted part, raised to its count, is that of g with period N, and
the sum over j of each frequency is a geometric series: delta(eps) costs one pass over the frequencies that matter.

What separates this number from delta(eps):

- *Period.* With N h = w the sum is exactly that of e^(amw) delta(eps + mw) over all whole m. The term m = 0 is
  wanted, the others are positive: the sum is above. They are at most e^-aw / (1 - e^-aw) for m < 0, where delta <=
  1, and for m > 0 at most e^(K(b) - b eps) y / (1 - y), y = e^(-(b - a) w), for any b > a (Chernoff);
  `log_delta_below` takes them off.
- *Rounding of the transform.* N is a power of two, so every entry of the transform collects every mass once, along a
  path of log2(N) butterflies whose factors have modulus 1. Each butterfly errs by a few u of what it is given, c = 16
  of them at most (Higham 2002, section 24.1 has 7), so a computed entry errs by at most e = c u log2(N) |p|_1. With
  R = |F| + e both the true and the computed entry lie in the disc of radius R, and a product of powers, taken by
  logarithm and angle with R for the size, errs by at most prod R^T * sum T (2e / R + 8u (1 + |angle| + |ln R|)).
- *Rounding of masses.* Tilted masses, folded into a period from n rows, are right to u (16 + n + 2a max|l| + 2|K|)
  each, which multiplies delta by at most exp(T times that).
- *Frequencies left out.* All are below e^-80 in size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.pairs.pairs import UNIT, Array
from discreet.accounting.tilting import Summand, log_moment, tilted

Complex = NDArray[np.complex128]
FORGOTTEN = 80.0
TRANSFORM = 16 * UNIT
KERNEL = 256 * UNIT


class Composition:
    """The sum of these losses, seen near the part of its law that a tilt brings forward.

    Parameters
    ----------
    summands : sequence of Summand
        Tables with one step.
    tilt : float
        Positive. Any tilt is sound; the best one solves K'(tilt) = epsilon.
    width : float
        The least period. Any period is sound above.
    beyond : float
        A greater tilt, at which the images on the right are bounded.
    """

    def __init__(self, summands: Sequence[Summand], tilt: float, width: float, beyond: float) -> None:
        self.summands, self.tilt, self.beyond, self.step = summands, tilt, beyond, summands[0].table.step
        self.length = 2 ** max(4, math.ceil(math.log2(width / self.step)))
        self.width = self.length * self.step
        self.origin = sum(summand.times * summand.table.origin for summand in summands)
        self.slack = sum(summand.times * summand.table.slack for summand in summands)
        self.infinity = self.infinite(summands)
        self.log, self.shift, self.rounding = 0.0, 0, 2.0**-40
        self._transform()

    @staticmethod
    def infinite(summands: Sequence[Summand]) -> float:
        """The probability that some loss is infinite."""
        kept = sum(summand.times * _log1m(summand.table.infinity) for summand in summands)
        return -math.expm1(kept) * (1 + KERNEL)

    def _transform(self) -> None:
        from scipy.fft import rfft  # loading it takes longer than a charge, which seldom needs it

        count = self.length // 2 + 1
        logs, angles, errors = np.zeros(count), np.zeros(count), np.zeros(count)
        for summand in self.summands:
            table, times = summand.table, summand.times
            law = tilted(table, self.tilt)
            centre = round(float(law.masses @ np.arange(len(law.masses))))
            folded = _folded(law.masses, -centre, self.length)
            spectrum = rfft(folded)
            error = TRANSFORM * math.log2(self.length) * float(folded.sum())
            sizes, angle = np.abs(spectrum) + error, np.angle(spectrum)
            log = np.log(sizes)
            logs += times * log
            angles += times * angle
            errors += times * (2 * error / sizes + 8 * UNIT * (1 + np.abs(angle) + np.abs(log)))
            self.log += times * law.log
            self.shift += times * (table.first + centre)
            rows = 16 + len(law.masses) / self.length
            self.rounding += times * UNIT * (rows + 2 * self.tilt * table.top + 2 * abs(law.log))
        kept = np.flatnonzero(logs > -FORGOTTEN)
        self.frequencies = kept
        self.sizes = np.exp(logs[kept]) * np.where((kept == 0) | (2 * kept == self.length), 1.0, 2.0)
        self.angles = angles[kept]
        self.errors = errors[kept]

    def log_delta_above(self, epsilon: float) -> float:
        """The logarithm of a bound from above on delta at this epsilon."""
        found = self._found(epsilon - self.slack)
        finite = found.scale + self.rounding + _log(found.total + found.error)
        return min(0.0, float(np.logaddexp(finite, _log(self.infinity))))

    def log_deltas_above(self, epsilons: Array) -> Array:
        """The same at many epsilons, from one inverse transform: the bounds are higher by its rounding alone."""
        away = epsilons - self.slack
        first = np.ceil((away - self.origin) / self.step).astype(np.int64)
        gap = np.clip(self.origin + first * self.step - away, 0.0, self.step)
        near, far = -np.expm1(-gap), -np.exp(-gap) * np.expm1(gap - self.step)
        places = (first - self.shift) % self.length
        here, following = self._transformed(self._series.terms), self._transformed(self._series.next)
        totals = near * here[places] + far * following[places]
        errors = self._error(1.0, 0.0) * near + self._error(0.0, 1.0) * far
        errors += self._transform_error * (near + far * math.exp(-self.tilt * self.step))
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(totals + errors, 0.0))
        finite = self.log - self.tilt * (away + gap) + self.rounding + logs
        return np.minimum(0.0, np.logaddexp(finite, _log(self.infinity)))

    def log_delta_below(self, epsilon: float) -> float:
        """The logarithm of a bound from below on delta at this epsilon."""
        found = self._found(epsilon + self.slack)
        finite = math.exp(min(found.scale - self.rounding, 700.0)) * (found.total - found.error)
        return _log(finite - self.images(epsilon + self.slack) + self.infinity * (1 - 4 * KERNEL))

    def rate(self, epsilon: float) -> float:
        """How fast the slope of delta falls at this epsilon: minus the logarithmic derivative, about."""
        return fall_rate(self.log_delta_above, epsilon, self.step, self.tilt)

    def log_images(self, epsilon: float) -> float:
        """The logarithm of the most that images can have added to delta."""
        return _log(self.images(epsilon))

    def log_excess(self, epsilon: float) -> float:
        """The logarithm of what the bound on rounding adds to delta, as a share of it."""
        found = self._found(epsilon - self.slack)
        return found.scale + _log(found.error) - max(self.log_delta_above(epsilon), -700.0)

    def images(self, epsilon: float) -> float:
        """What the periodic images of the law can have added to delta."""
        left, right = self.tilt * self.width, (self.beyond - self.tilt) * self.width
        return (_image(0.0, left) + _image(self._log_beyond - self.beyond * epsilon, right)) * (1 + KERNEL)

    def profile_above(self) -> LatticeValues:
        """Bounds from above on the finite part of delta, up to slack, at all points of the lattice in one period."""
        found = self._everywhere()
        with np.errstate(over="ignore"):
            return LatticeValues(found.start, np.exp(found.scales + self.rounding) * (found.totals + found.error))

    def profile_below(self) -> LatticeValues:
        """Bounds from below on the finite part of delta, up to slack, at all points of the lattice in one period."""
        found = self._everywhere()
        left, right = self.tilt * self.width, (self.beyond - self.tilt) * self.width
        epsilons = found.start + self.step * np.arange(self.length)
        logs = np.minimum(self._log_beyond - self.beyond * epsilons - right, 700.0)
        images = (_image(0.0, left) + np.exp(logs) / -math.expm1(-right)) * (1 + KERNEL)
        scales = np.minimum(found.scales - self.rounding, 700.0)
        return LatticeValues(found.start, np.exp(scales) * (found.totals - found.error) - images)

    def _everywhere(self) -> _FoundEverywhere:
        """The sums of `_found` at the lattice points around the tilted mean, by one inverse transform.

        Its rounding is that of the transform, relative to the sum of the sizes of what is transformed.
        """
        half, far = self.length // 2, -math.expm1(-self.step)
        totals = np.roll(self._transformed(far * self._series.next), half)
        error = self._error(0.0, far) + far * math.exp(-self.tilt * self.step) * self._transform_error
        start = self.origin + (self.shift - half) * self.step
        scales = self.log - self.tilt * (start + self.step * np.arange(self.length))
        return _FoundEverywhere(start, scales, totals, error)

    def _transformed(self, terms: Complex) -> Array:
        """The sums of these terms over all frequencies, at all points of the lattice in one period."""
        from scipy.fft import irfft

        doubled = np.where((self.frequencies == 0) | (2 * self.frequencies == self.length), 1.0, 2.0)
        spectrum = np.zeros(self.length // 2 + 1, dtype=np.complex128)
        spectrum[self.frequencies] = terms / doubled
        return np.asarray(irfft(spectrum, self.length))

    @property
    def _transform_error(self) -> float:
        """The rounding of an inverse transform of the terms: relative to the sum of their sizes."""
        return TRANSFORM * math.log2(self.length) * self._series.blurred / self.length

    @cached_property
    def _log_beyond(self) -> float:
        return log_moment(self.summands, self.beyond)

    @cached_property
    def _series(self) -> _Series:
        s = self.tilt * self.step - 2j * math.pi / self.length * self.frequencies
        under = np.expm1(-s) * np.expm1(-s - self.step)
        sizes = self.sizes / np.abs(under)
        terms = self.sizes * np.exp(1j * self.angles) / under
        return _Series(terms, terms * np.exp(-s), float(sizes.sum()), float((sizes * self.errors).sum()))

    def _found(self, epsilon: float) -> _FoundMass:
        first = math.ceil((epsilon - self.origin) / self.step)
        gap = min(max(0.0, self.origin + first * self.step - epsilon), self.step)  # but for rounding, it is there
        near, far = -math.expm1(-gap), -math.exp(-gap) * math.expm1(gap - self.step)
        turns = (self.frequencies * ((first - self.shift) % self.length)) % self.length
        phases = np.exp(2j * math.pi / self.length * turns)
        series = self._series
        total = near * float((series.terms * phases).sum().real) + far * float((series.next * phases).sum().real)
        return _FoundMass(self.log - self.tilt * (epsilon + gap), total / self.length, self._error(near, far))

    def _error(self, near: float, far: float) -> float:
        """The error of a sum over frequencies that takes `near` of each term and `far` of the next."""
        series, decay = self._series, self.tilt * self.step
        forgotten = self.length * math.exp(-FORGOTTEN) / (math.expm1(-decay) * math.expm1(-decay - self.step))
        each = series.weighed + KERNEL * series.blurred + forgotten
        return (near + far * math.exp(-decay)) * each / self.length


@dataclass(frozen=True)
class _Series:
    """The geometric series of each frequency from one point on and from the next, and how far all may be wrong.

    `blurred` is the sum of their sizes, and `weighed` that of their errors.
    """

    terms: Complex
    next: Complex
    blurred: float
    weighed: float


@dataclass(frozen=True)
class _FoundMass:
    """exp(scale) * (total, give or take error) is delta, up to the period and the rounding of masses."""

    scale: float
    total: float
    error: float


@dataclass(frozen=True, eq=False)
class LatticeValues:
    """Values at losses start, start + step, ..."""

    start: float
    values: Array


@dataclass(frozen=True, eq=False)
class _FoundEverywhere:
    """What `_found` finds, at losses start, start + step, ..."""

    start: float
    scales: Array
    totals: Array
    error: float


def fall_rate(log_delta: Callable[[float], float], epsilon: float, step: float, least: float) -> float:
    """How fast the slope of delta falls at this epsilon: minus the logarithmic derivative, about."""
    slope = (log_delta(epsilon) - log_delta(epsilon + step)) / step
    away = max(0.2 / max(least, slope, 1e-9), step)  # within a step the profile is a chord
    before, here, after = (math.exp(log_delta(epsilon + x)) for x in (-away, 0.0, away))
    bend, fall = before - 2 * here + after, (before - after) / 2
    return max(least, bend / fall / away) if fall > 0 else max(least, slope)


def _image(log: float, decay: float) -> float:
    """exp(log) * (y + y^2 + ...) for y = exp(-decay)."""
    return math.exp(min(log - decay, 700.0)) / -math.expm1(-decay)


def _folded(masses: Array, first: int, length: int) -> Array:
    """The masses from index `first` on, added up modulo `length`."""
    rows = -(-len(masses) // length)
    padded = np.zeros(rows * length)
    padded[: len(masses)] = masses
    return np.roll(padded.reshape(rows, length).sum(axis=0), first)


def _log1m(x: float) -> float:
    return math.log1p(-x) if x < 1 else -math.inf


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
