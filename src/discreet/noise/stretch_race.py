"""Permute-and-flip over the integers of stretches, exactly, as a race with one start for all integers of a stretch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.noise.choice import uniform_below
from discreet.noise.error_bars import assure, exponentials
from discreet.noise.interval import Interval, Uniform, settled

assure("exp")
assure("log")
CHUNK = 1 << 16  # stretches of all copies that run together
SMALL = 2.0**-20  # a share of an exponential real below which a series is more accurate
FAR = 50.0  # a share beyond which every uniform is 1, as far as float64 resolves
LOST, ERROR = 2.0**-48, 2.0**-47
Words = NDArray[np.uint64]
Distance = Callable[[int], int]


@dataclass(frozen=True)
class UnevenStretches:
    """Stretches whose integers may have greater distances than the stretch.

    Parameters
    ----------
    those : array of bool
        Which stretches.
    distance : callable
        The distance of a single integer of these, counted from the first integer of the first stretch; seldom asked.
    """

    those: NDArray[np.bool_]
    distance: Distance


def stretch_race(
    bits: Bits, lengths: Steps, distances: Steps, scale: float, copies: int, loose: UnevenStretches | None = None
) -> Steps:
    """Choose the integer whose U exp(distance / scale) is least, for a uniform real U of each: permute-and-flip.

    Visiting integers in random order and taking one with probability exp(-distance / scale), distances being counted
    from the least one, ends at the same integer (Ding et al. 2021). The least U of a stretch of L integers is
    1 - exp(-E / L) with E exponential, and is that of each with equal probability: so one real is drawn for a stretch.

    Error bound: E is known with the error bar of `bars.exponentials`, and the share q = E / L to two roundings more.
    The logarithm of 1 - exp(-q) moves by no more than q does, in proportion. Below `SMALL` it is taken to be
    ln q - q / 2 + q^2 / 24, off by less than q^4. Above, exp is off by 4 units in the last place, 2**-51 at most, and
    the difference by 2**-53 more, which is less than `LOST` over its size: that is at least half of q, or of 1.
    Logarithm, quotient and sums add less than 2**-49 of what is added up each; `ERROR` is four times that. Stretches
    whose error bars reach that of the first are compared in multi-precision, with further bits.

    Parameters
    ----------
    lengths : array of int64
        How many integers follow one another in each stretch: at least 0, one of them above 0, less than 2**52 in all.
    distances : array of int64
        How far each stretch is from the best score.
    scale : float
        Public. Positive, in the units of the distances.
    copies : int
        How many races there are.
    loose : UnevenStretches, optional
        Of which stretches `distances` has no more than the least distance of their integers.
        The winners, counted from the first integer of the first stretch.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> lengths, distances = np.array([5, 1, 0, 90]), np.array([9, 0, 0, 9])
    >>> stretch_race(DeterministicBits(1), lengths, distances, scale=1.0, copies=3)
    array([5, 5, 5])
    """
    if not 0 < scale < math.inf or not (lengths > 0).any():
        raise ParameterError("race", f"the scale is {scale}, or no stretch has a length", "Give both above 0.")
    there = np.flatnonzero(lengths > 0)
    starts = (np.cumsum(lengths) - lengths)[there]
    loose = UnevenStretches(np.zeros(len(lengths), np.bool_), int) if loose is None else loose
    course = _Course(
        starts, lengths[there], distances[there], UnevenStretches(loose.those[there], loose.distance), scale
    )
    out, step = np.empty(copies, np.int64), max(1, CHUNK // len(there))
    for start in range(0, copies, step):
        out[start : start + step] = course.winners(bits, len(out[start : start + step]))
    return out


@dataclass(frozen=True)
class _Times:
    low: Array
    high: Array


@dataclass(frozen=True)
class _Runner:
    """One integer of a stretch with its uniform real, to any precision: the least one, or the next after others.

    `uniforms` has one real for each of those before it, and its own; `place` is None while it may be any integer of the
    stretch.
    """

    stretch: int
    length: int
    distance: int
    uniforms: tuple[Uniform, ...]
    place: int | None = None

    def arrival(self, scale: float) -> Interval:
        """The logarithm of U, and distance / scale; in -ln(1 - U), gaps between sorted uniforms are independent."""
        share = Interval.of(0)
        for before, uniform in enumerate(self.uniforms):
            share = share - uniform.interval().ln() / (self.length - before)
        return (Interval.of(1) - (-share).exp()).ln() + Interval.of(self.distance) / scale


@dataclass(frozen=True)
class _Course:
    """Stretches with integers in them."""

    starts: Steps
    lengths: Steps
    distances: Steps
    loose: UnevenStretches
    scale: float

    def winners(self, bits: Bits, copies: int) -> Steps:
        """One integer for each copy, each from a race of its own."""
        words = bits.words(copies * len(self.lengths)).reshape(copies, -1).copy()
        bounds = self.bounds(words)
        contenders = bounds.low <= bounds.high.min(axis=1, keepdims=True)
        first = bounds.high.argmin(axis=1)
        won = self.starts[first] + uniform_below(bits, self.lengths[first])
        for row in np.flatnonzero((contenders.sum(axis=1) > 1) | self.loose.those[first]):
            everybody = bool((contenders[row] & self.loose.those).any())
            won[row] = self.settled(bits, words[row], np.flatnonzero(contenders[row] | everybody))
        return won

    def bounds(self, words: Words) -> _Times:
        """Of ln U + distance / scale, less the least distance, for the least U of each stretch."""
        exponential = exponentials(words)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = exponential.value / self.lengths
            series = np.log(share) - share / 2 + np.square(share) / 24
            least = np.where(share < SMALL, series, np.log(1 - np.exp(-np.minimum(share, FAR))))
            lost = np.where(share < SMALL, 0.0, LOST / np.minimum(share, 1.0))
            behind = (self.distances - self.distances.min()) / self.scale
            error = 2 * exponential.error / exponential.value + lost + ERROR * (1 + np.abs(least) + behind)
            known = exponential.value > 2 * exponential.error
        return _Times(
            low=np.where(known, least + behind - error, -np.inf), high=np.where(known, least + behind + error, np.inf)
        )

    def settled(self, bits: Bits, words: Words, these: NDArray[np.intp]) -> int:
        """The winner among these stretches, in multi-precision.

        An integer of a loose stretch that is first by the distance of the stretch may be farther off itself. Then it
        runs on at its own distance, and so does the next of its stretch at that of the stretch.
        """
        runners = [
            _Runner(int(i), int(self.lengths[i]), int(self.distances[i]), (Uniform(bits, int(words[i])),))
            for i in these
        ]
        while True:
            first = self._first(runners)
            if first.place is not None:
                return first.place
            if not self.loose.those[first.stretch]:
                return int(self.starts[first.stretch]) + _below(bits, first.length)
            runners.remove(first)
            runners += self._apart(bits, first, [one.place for one in runners])

    def _first(self, runners: list[_Runner]) -> _Runner:
        def attempt() -> _Runner | None:
            arrivals = [runner.arrival(self.scale) for runner in runners]
            first = min(range(len(runners)), key=lambda i: arrivals[i].hi)
            clear = all(i == first or one.lo > arrivals[first].hi for i, one in enumerate(arrivals))
            return runners[first] if clear else None

        return settled(attempt, dict.fromkeys(uniform for runner in runners for uniform in runner.uniforms))

    def _apart(self, bits: Bits, loose: _Runner, taken: list[int | None]) -> list[_Runner]:
        """The first integer of a loose stretch, at its own distance, and the next one, which is any other."""
        place = int(self.starts[loose.stretch]) + _below(bits, loose.length)
        while place in taken:
            place = int(self.starts[loose.stretch]) + _below(bits, loose.length)
        own = dataclasses.replace(loose, distance=self.loose.distance(place), place=place)
        if len(loose.uniforms) == loose.length:
            return [own]
        return [own, dataclasses.replace(loose, uniforms=(*loose.uniforms, Uniform(bits, bits.integer(64))))]


def _below(bits: Bits, upper: int) -> int:
    return int(uniform_below(bits, np.array([upper]))[0])
