"""A choice among stretches of integers, weighted by length and by the exponential of a score, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.noise.error_bars import assure
from discreet.noise.interval import Interval, Uniform, settled

assure("exp")
FAR = 50.0  # exponents beyond are overstated here, and settled in multi-precision
ERROR = 2.0**-40
SURE = 2.0**-36
TICKETS = 60  # bits of all tickets together, about


def stretch_choice(
    bits: Bits, lengths: Steps, distances: Steps, scale: float, rows: NDArray[np.int64] | None = None
) -> Steps:
    """Choose one stretch in each row, with probability in proportion to lengths * exp(-distances / scale).

    Every stretch gets a whole number of tickets, at least its weight in units of a power of two; a ticket is drawn, and
    the stretch that holds it is kept with probability weight / tickets, otherwise another is drawn: von Neumann's
    rejection (1951), so the law is exact.

    Error bound: with the least distance taken off, the exponent x is at most 50 (beyond, it counts as 50 and is always
    settled) and off by 2**-53 of itself, exp by 4 units in the last place, the length and the product by 2**-53 each:
    a weight is off by less than 2**-46 of itself, `ERROR` is 64 times that, and rounding up adds less than one ticket.
    So a stretch is kept with probability at least 1 - 2**-38 - 2 / tickets: a uniform real below
    1 - `SURE` - 2 / tickets keeps it without looking; any other is settled in multi-precision, with further bits.

    Parameters
    ----------
    lengths : array of int64, shape (rows, stretches)
        At least 0, and one above 0 in every row; a row adds up to less than 2**63.
    distances : array of int64, shape (rows, stretches)
        How far each stretch is from the best score.
    scale : float
        Public. Positive, in the units of the distances.
    rows : array of int, optional
        The row that each choice is of; one choice of every row where not given.
        One for each choice.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> lengths, distances = np.array([[5, 1, 0, 90]]), np.array([[9, 0, 0, 9]])
    >>> stretch_choice(DeterministicBits(1), lengths, distances, scale=1.0)
    array([1])
    """
    if not 0 < scale < np.inf or not (lengths > 0).any(axis=1).all():
        raise ParameterError("choice", f"the scale is {scale}, or a row has no length", "Give both above 0.")
    behind = distances - np.where(lengths > 0, distances, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    exponents = behind / scale
    weights = lengths * (np.exp(-np.clip(exponents, 0.0, FAR)) * (1 + ERROR))
    unit = np.frexp(weights.sum(axis=1, keepdims=True))[1] - TICKETS
    tickets: Steps = np.ceil(np.ldexp(weights, -unit)).astype(np.int64)
    last = np.cumsum(tickets, axis=1)
    row = np.arange(len(lengths)) if rows is None else rows
    chosen, again = np.empty(len(row), np.int64), np.arange(len(row))
    while again.size:
        of = row[again]
        place = _places(last, of, uniform_below(bits, last[of, -1]))
        held, words = tickets[of, place], bits.words(len(of)).copy()
        kept = (words * 2.0**-64 < 1 - SURE - 2.0 / held) & (exponents[of, place] <= FAR)
        for i in np.flatnonzero(~kept):
            size = StretchWeight(int(lengths[of[i], place[i]]), int(behind[of[i], place[i]]), scale)
            kept[i] = size.exceeds(Uniform(bits, int(words[i])), int(held[i]), int(unit[of[i], 0]))
        chosen[again[kept]] = place[kept]
        again = again[~kept]
    return chosen


def _places(last: Steps, rows: Steps, ticket: Steps) -> NDArray[np.int64]:
    """The column of each row that holds a ticket."""
    if len(last) == 1:
        return np.searchsorted(last[0], ticket, side="right").astype(np.int64, copy=False)
    return (last[rows] <= ticket[:, None]).sum(axis=1)


@dataclass(frozen=True)
class StretchWeight:
    """The weight length * exp(-distance / scale), to any precision."""

    length: int
    distance: int
    scale: float

    def exceeds(self, uniform: Uniform, tickets: int = 1, unit: int = 0) -> bool:
        """Whether it is above a uniform real times a number of tickets of 2**unit each."""

        def attempt() -> bool | None:
            weight = (-(Interval.of(self.distance) / self.scale)).exp() * Interval.of(self.length)
            level = uniform.interval() * Interval.of(tickets) * 2.0**unit
            return True if level.hi < weight.lo else False if level.lo > weight.hi else None

        return settled(attempt, [uniform])


def uniform_below(bits: Bits, uppers: Steps) -> Steps:
    """Draw an integer from 0 to upper - 1 for each upper, all equally likely.

    A 64-bit word below the largest multiple of the upper is taken modulo the upper; one above is drawn again.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> uniform_below(DeterministicBits(1), np.array([1, 10, 2**62]))[0]
    np.int64(0)
    """
    if not (uppers > 0).all():
        raise ParameterError("uniform integers", "an upper is not above 0", "Give 1 or more.")
    limits = uppers.astype(np.uint64)
    rest = (np.uint64(2**64 - 1) % limits + np.uint64(1)) % limits
    out = np.empty(len(limits), np.uint64)
    again = np.arange(len(limits))
    while again.size:
        words = bits.words(again.size).copy()
        fine = words <= np.uint64(2**64 - 1) - rest[again]
        out[again[fine]] = words[fine] % limits[again[fine]]
        again = again[~fine]
    return out.astype(np.int64)
