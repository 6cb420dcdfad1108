"""Count, mean and variance of a column from one bounded sum.

Scaled to a in [0, 1], a value splits one unit of mass over the Bernstein polynomials of a:

    degree 1    (1 - a, a)                        count and mean
    degree 2    ((1 - a)^2, 2 a (1 - a), a^2)     count, mean and variance
    degree 4    ((1 - a)^4, ..., a^4)             the same, and the fourth moment

They are nonnegative and add up to one, so the l1 sensitivity is 1 whatever the degree, and nothing is spent on the
count: it is the sum of the coordinates.

Where the number of records is public, that sum is known, and for a mean `a` alone will do. For mean and variance two
numbers do, (a - 1/2, 2 a (1 - a) - 1/16). Their absolute values add up to 9/16 at most: as much where a is 0, 1/4, 3/4
or 1, and less elsewhere. So a replaced record moves them by 9/8, little more than it moves `a` alone, where it would
move three Bernstein polynomials by 2. Of higher degrees all are taken; the known sum takes part of the noise back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.bound import Bound
from discreet.core.formula import Formula, Numbers, Tally
from discreet.core.grid import Array, Grid
from discreet.core.knob import check_one_of
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Number, Schema
from discreet.statistics.figure import Figure as Figure
from discreet.statistics.figure import Sampling

MASS = Bound("l1", 1.0, nonnegative=True)
COUNTED = Bound("l1", 9 / 16)  # of (a - 1/2, 2 a (1 - a) - 1/16)
AT_HAND = 2**16  # values that are worked on together
INSIDE = 1 - 2.0**-40  # keeps rounded polynomials inside their bound, so that clipping never acts
Parts = Callable[[Any, float], list[Any]]
"""Numbers inside their bounds in; what they add to each coordinate, times a power of two, out."""


def moments_size(degree: int, counted: bool) -> int:
    """How many coordinates the sum has: as many as the degree at best, if the number of records is public."""
    return degree if degree <= 2 and counted else degree + 1


@recipe("moments")
def moments_of(schema: Schema, column: str, degree: int, counted: bool) -> BoundedSum:
    """The sum of the Bernstein polynomials of a column.

    A missing value adds nothing; where the records are counted, in public, it stands for the middle of its bounds.
    """
    check_one_of("moments", "degree", degree, (1, 2, 4))
    number, bound = schema.number(column), COUNTED if degree == 2 and counted else MASS

    def added(values: Numbers, unit: float) -> list[Numbers]:
        return parts(values, number, degree, counted, unit)

    return column_sum(column, number, bound, added, counted)


def column_sum(column: str, number: Number, bound: Bound, added: Parts, counted: bool) -> BoundedSum:
    """The sum of what the values of one column add: a missing one nothing, or as much as the middle of its bounds.

    In a batch, few are added up at a time, so that they stay at hand.
    """
    grid, middle, there = Grid.of_radius(bound.radius), 0.5 * number.lower + 0.5 * number.upper, Formula.column(0)

    def clipped(values: Array) -> Array:
        return np.clip(values, number.lower, number.upper)

    def of(records: Array) -> Array:
        inside = clipped(records[:, 0])
        missing = np.isnan(inside)
        found = np.stack(added(np.where(missing, middle, inside), 1.0), axis=1)
        return found if counted else np.where(missing[:, None], 0.0, found)

    def cut(inside: Array) -> Array:
        return np.array([np.trunc(part, out=part).sum() for part in added(inside, 1 / grid.step)])

    def present(values: Array) -> Array:
        """The same work whether or not one is missing: it is counted as the middle, and taken back."""
        inside = clipped(values)
        missing = np.isnan(inside)
        np.copyto(inside, middle, where=missing)
        return cut(inside) if counted else cut(inside) - np.count_nonzero(missing) * cut(np.array([middle]))

    def total(records: Array) -> Array:
        slices = [present(records[start : start + AT_HAND, 0]) for start in range(0, len(records), AT_HAND)]
        return np.sum(slices, axis=0) if slices else np.zeros(of(records).shape[1])

    tally = Tally(Formula.constant(0), 1, tuple(added(there.otherwise(middle) if counted else there, 1.0)))
    return BoundedSum(of, bound, (column,), grid, total, tally=tally)


def parts(values: Numbers, number: Number, degree: int, counted: bool, unit: float = 1.0) -> list[Numbers]:
    """What values inside their bounds add to each coordinate of the sum, times a power of two."""
    if not counted or degree > 2:
        return bernstein(values, number, degree, unit)
    if degree == 1:
        return [share_of(values, number, INSIDE * unit)]
    a, size = share_of(values, number), INSIDE * unit
    return [size * (a - 0.5), size * (2 * a * (1 - a) - 0.0625)]


def bernstein(values: Numbers, number: Number, degree: int, unit: float = 1.0) -> list[Numbers]:
    """The Bernstein polynomials of values inside their bounds, a grain smaller than they are, times a power of two."""
    size = INSIDE * unit
    if degree == 1:
        return [rest_of(values, number, size), share_of(values, number, size)]
    up: list[Numbers] = [share_of(values, number)]
    down: list[Numbers] = [rest_of(values, number)]
    for _ in range(1, degree):
        up.append(up[-1] * up[0])
        down.append(down[-1] * down[0])
    whole: list[Numbers] = [down[-1]]
    whole.extend(math.comb(degree, k) * up[k - 1] * down[degree - k - 1] for k in range(1, degree))
    whole.append(up[-1])
    return [size * part for part in whole]


def share_of(values: Numbers, number: Number, size: float = 1.0) -> Numbers:
    """How far values are from their lower bound, in parts of the way to the upper one, so many times."""
    return _parts_of(values - number.lower, number.upper - number.lower, size)


def rest_of(values: Numbers, number: Number, size: float = 1.0) -> Numbers:
    """How far values are from their upper bound, in parts of the way from the lower one, so many times."""
    return _parts_of(number.upper - values, number.upper - number.lower, size)


def _parts_of(distances: Numbers, width: float, size: float) -> Numbers:
    """Over the width, in one operation unless its inverse could be beyond float64."""
    if not 2.0**-900 <= width <= 2.0**900:
        return size * (distances / width)
    distances *= size / width
    return distances


@dataclass(frozen=True)
class Moments:
    """What noisy sums of Bernstein polynomials say about a column: post-processing.

    Parameters
    ----------
    sums : array
        The noisy sums.
    number : Number
        Public. The column's bounds.
    public_size : int, optional
        The number of records, where it is public.

    Examples
    --------
    >>> two_values = Moments(np.array([50.0, 0.0, 50.0]), Number(0.0, 10.0), None)  # fifty at 0, fifty at 10
    >>> two_values.count().value, two_values.mean().value, two_values.variance().value
    (100.0, 5.0, 25.0)
    """

    sums: Array
    number: Number
    public_size: int | None

    def count(self) -> Figure:
        """The number of values."""
        if self.public_size is not None:
            return Figure(float(self.public_size), np.zeros(len(self.sums)))
        return Figure(max(0.0, float(self.sums.sum())), np.ones(len(self.sums)))

    def mean(self) -> Figure:
        """The mean."""
        first = self._power(1)
        value = min(self.number.lower + self._width * min(max(first.value, 0.0), 1.0), self.number.upper)
        return Figure(value, self._width * first.weights)

    def variance(self) -> Figure:
        """The variance of these values (divided by their number)."""
        spread = self._variance()
        return Figure(self._width**2 * min(max(spread.value, 0.0), 0.25), self._width**2 * spread.weights)

    def sampled_mean(self) -> Figure:
        """The mean of the population that these values are a sample of."""
        mean = self.mean()
        return Figure(mean.value, mean.weights, self._sampling(self._variance(), 0.25, 2))

    def supposed_mean(self, mean: float) -> Figure:
        """The mean of the population, off by what noise makes of it if it is supposed to be this one.

        The derivatives of a ratio of sums depend on the ratio, and there they are known, not estimated (Fieller 1954).
        """
        found, first = self.sampled_mean(), self._power(1)
        if self.public_size is not None:
            return found
        farther = (self.number.lower + self._width * first.value - mean) / self._number
        return Figure(found.value, found.weights + farther, found.sampling)

    def sampled_variance(self) -> Figure:
        """The variance of the population that these values are a sample of: divided by their number less one.

        Its sampling error is that of a mean of squared deviations. Their variance is what the fourth moment tells, but
        at most v (r^2 - v) for a variance v, as no value is farther than r from the mean.
        """
        variance, middle = self._variance(), min(max(self._power(1).value, 0.0), 1.0)
        value = min(max(variance.value, 0.0), 0.25)
        most = value * max(max(middle, 1 - middle) ** 2 - value, 0.0)
        own = self._width**2 * self._number / max(self._number - 1, 1.0)
        return Figure(own * value, own * variance.weights, self._sampling(self._squares(), most, 4))

    @property
    def _width(self) -> float:
        return self.number.upper - self.number.lower

    @property
    def _number(self) -> float:
        """How many values there are, as far as it is known; at least one."""
        return max(self.count().value, 1.0)

    def _sampling(self, variance: Figure, most: float, power: int) -> Sampling:
        """How far the mean of so many numbers is off if each has this variance, in the column's units."""
        number = self._number
        if number < 2:
            return Sampling(math.inf, np.zeros(len(self.sums)), 0.0, number)
        own = self._width**power / (number - 1)
        square = own * min(max(variance.value, 0.0), most)
        return Sampling(square, own * variance.weights, 2 * square**2 / (number - 1), number)

    def _variance(self) -> Figure:
        """The variance of a, which noise may make negative."""
        first, second = self._power(1), self._power(2)
        return Figure(second.value - first.value**2, second.weights - 2 * first.value * first.weights)

    def _squares(self) -> Figure:
        """The variance of the squared deviation of a from its mean."""
        (m, m2, m3, m4), spread = (self._power(power) for power in range(1, 5)), self._variance()
        mean = m.value
        fourth = m4.value - 4 * mean * m3.value + 6 * mean**2 * m2.value - 3 * mean**4
        weights = m4.weights - 4 * mean * m3.weights + 6 * mean**2 * m2.weights
        weights = weights + (-4 * m3.value + 12 * mean * m2.value - 12 * mean**3) * m.weights
        return Figure(fourth - spread.value**2, weights - 2 * spread.value * spread.weights)

    def _power(self, power: int) -> Figure:
        """The mean of a**power: a ratio of two sums, or a sum over the public size, with its derivatives."""
        if self.public_size is None:
            shares = bernstein_shares(len(self.sums) - 1, power)
            value = float(shares @ self.sums) / self._number
            return Figure(value, (shares - value) / self._number)
        at_zero = self._at_zero(power)
        return Figure(at_zero.value + float(at_zero.weights @ self.sums) / self._number, at_zero.weights / self._number)

    def _at_zero(self, power: int) -> Figure:
        """How a**power follows from what a counted record adds."""
        match len(self.sums), power:
            case 1, 1:
                return Figure(0.0, np.ones(1))
            case 2, 1:
                return Figure(1 / 2, np.array([1.0, 0.0]))
            case 2, 2:
                return Figure(15 / 32, np.array([1.0, -0.5]))
            case size, _:
                shares = bernstein_shares(size - 1, power)
                return Figure(float(shares.mean()), shares - shares.mean())


def bernstein_shares(degree: int, power: int) -> Array:
    """How often each Bernstein polynomial of a is counted in a**power."""
    return np.array([math.comb(k, power) / math.comb(degree, power) for k in range(degree + 1)])
