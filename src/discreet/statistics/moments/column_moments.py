"""What noisy sums of Bernstein polynomials say about a column: count, mean and variance, with their errors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from discreet.core.grid import Array
from discreet.questions.columns.moments import moments_of
from discreet.releases.ask import ColumnOf, OneSum, Released
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure as Figure
from discreet.releases.figure import Sampling
from discreet.schema.schema import Number


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
        first = self._power(1)
        value = min(self.number.lower + self._width * min(max(first.value, 0.0), 1.0), self.number.upper)
        return Figure(value, self._width * first.weights)

    def total(self) -> Figure:
        """The sum of the values, where their number is not public."""
        weights = self.number.lower + self._width * bernstein_shares(len(self.sums) - 1, 1)
        return Figure(float(weights @ self.sums), weights)

    def variance(self) -> Figure:
        """The variance of these values (divided by their number)."""
        spread = self._variance()
        return Figure(self._width**2 * min(max(spread.value, 0.0), 0.25), self._width**2 * spread.weights)

    def variance_of_a_sample(self) -> Figure:
        """The same sum of squares, divided by their number less one."""
        number = max(self._number, 2.0)
        return self.variance().times(number / (number - 1))

    def sampled_mean(self) -> Figure:
        """The mean of the population that these values are a sample of."""
        mean = self.mean()
        return Figure(mean.value, mean.weights, self._sampling(self._variance(), 0.25, 2))

    def sampled_count(self) -> Figure:
        """The expected number of values in samples like this one: records come independently (Poisson)."""
        count = self.count()
        if self.public_size is not None:
            return Figure(count.value, count.weights, Sampling(0.0, count.weights, 0.0, count.value))
        return Figure(count.value, count.weights, Sampling(count.value, count.weights, count.value, count.value))

    def sampled_sum(self) -> Figure:
        """The expected sum of samples like this one.

        Of a public number n of records it is n times the mean. Else records come independently, and the variance of
        their sum is the sum of their squares.
        """
        if self.public_size is not None:
            return self.sampled_mean().times(self._number)
        lower, (first, second) = self.number.lower, (bernstein_shares(len(self.sums) - 1, power) for power in (1, 2))
        whole = self.total()
        squares = lower**2 + 2 * lower * self._width * first + self._width**2 * second
        most = max(lower**2, self.number.upper**2)
        variance = min(max(float(squares @ self.sums), 0.0), most * self._number)
        return dataclasses.replace(whole, sampling=Sampling(variance, squares, most * variance, self._number))

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

        Its sampling error is that of a mean of squared deviations. Their variance follows from the fourth moment, and
        is at most v (r^2 - v) for a variance v, as no value is farther than r from the mean.
        """
        variance, middle = self._variance(), min(max(self._power(1).value, 0.0), 1.0)
        value = min(max(variance.value, 0.0), 0.25)
        most = value * max(max(middle, 1 - middle) ** 2 - value, 0.0)
        own = self._width**2 * self._number / max(self._number - 1, 1.0)
        return Figure(own * value, own * variance.weights, self._sampling(self._squares(), most, 4))

    @cached_property
    def _width(self) -> float:
        return self.number.upper - self.number.lower

    @cached_property
    def _number(self) -> float:
        """The number of values, as far as it is known; at least one."""
        return max(float(self.sums.sum()) if self.public_size is None else float(self.public_size), 1.0)

    def _sampling(self, variance: Figure, most: float, power: int) -> Sampling:
        """The sampling error of a mean of values of this variance, in the column's units."""
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


@cache
def bernstein_shares(degree: int, power: int) -> Array:
    """How often each Bernstein polynomial of a is counted in a**power."""
    found = np.array([math.comb(k, power) / math.comb(degree, power) for k in range(degree + 1)])
    found.flags.writeable = False
    return found


@dataclass(frozen=True)
class Moment:
    """A figure of a column: from which sums it is computed, and how.

    Parameters
    ----------
    degree : int
        Public. Of the Bernstein polynomials that are added up.
    power : int
        Public. The power of the column's unit that the figure is in.
    most : float
        Public. The largest that it can be, in this power of the distance between the bounds, from the least.
    figure : callable
        Finds it in the noisy sums.
    """

    degree: int
    power: int
    most: float
    figure: Callable[[Moments], Figure]

    def asked(self, of: ColumnOf, name: str, confidence: float) -> OneSum[Estimate]:
        """The sums, and how the figure is read off their release."""
        title, size = f"{name} of {of.column}", None if of.groups is not None else of.data.public_size
        question = moments_of(of.data.schema, of.column, self.degree, size is not None)
        number = of.data.schema.number(of.column)
        return OneSum(of, title, question, partial(self.estimate, title, number, size, confidence))

    def estimate(self, title: str, number: Number, size: int | None, confidence: float, released: Released) -> Estimate:
        """The figure in a release of its sums, about this public number of records."""
        key = self, number, size, confidence
        if key not in released.read:
            released.read[key] = self._found(title, number, size, confidence, released)
        found: Estimate = released.read[key]
        return found if found.name == title else dataclasses.replace(found, name=title)

    def _found(self, title: str, number: Number, size: int | None, confidence: float, released: Released) -> Estimate:
        moments = Moments(released.values, number, size)
        bend = 0.0 if size is not None else 1 / moments._number
        figure = self.figure(moments)
        found = Figure(figure.value, figure.weights, figure.sampling, bend)
        ends = number if self.power == 1 else Number(0.0, self.most * (number.upper - number.lower) ** self.power)
        return estimate_of(title, found, released, confidence, ends)


MEAN = Moment(1, 1, 1.0, Moments.mean)
SAMPLED_MEAN = Moment(2, 1, 1.0, Moments.sampled_mean)
VARIANCE = Moment(2, 2, 0.25, Moments.variance)
VARIANCE_OF_A_SAMPLE = Moment(2, 2, 0.5, Moments.variance_of_a_sample)  # of two values, at both ends of the bounds
SAMPLED_VARIANCE = Moment(4, 2, 0.25, Moments.sampled_variance)
