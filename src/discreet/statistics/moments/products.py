"""What released moments of two columns say of them: how they vary together, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Norm
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.pair_moments import PairMoments, pair_moments_of
from discreet.questions.vectors.second_moments import second_moments_of
from discreet.releases.ask import ColumnsOf, OneSum, Released, Result
from discreet.releases.figure import Figure, Sampling
from discreet.releases.spread import Spread

UNSURE = 2.0  # error bars from zero: a number or a variance that is nearer may be nothing but noise
HEAVY = 30.0  # times the sampling variance of normal records: more takes clear evidence
WOBBLE = 14.0  # the variance of a normal variable's fourth power, in its squared variance, over n: see `_sampling`
STEP = 1e-100  # of a derivative along the imaginary axis, which loses no digits

Powers = tuple[int, int]
Formula = Callable[[Array], Array]


@dataclass(frozen=True)
class Pair:
    """Noisy sums of the powers z_i^p z_j^q of two columns, or of those of one.

    Parameters
    ----------
    sums : array of shape (m,)
        The sums, the number of records first.
    scales : array of shape (m,)
        Public. How far the noise on a released number moves each.
    places : dict of pairs to int
        Public. Where the sum of which powers is.
    """

    sums: Array
    scales: Array
    places: dict[Powers, int]

    @classmethod
    def of(cls, moments: PairMoments, i: int, j: int) -> Pair:
        """The sums of two columns; a column and itself have fewer that differ."""
        powers = [(p, total - p) for total in range(moments.degree + 1) for p in range(total, -1, -1)]
        differ = powers if i != j else [(total, 0) for total in range(moments.degree + 1)]
        sums = np.array([moments.sum_of(i, j, *each) for each in differ])
        number = max(float(sums[0]), 1.0)
        places = {each: differ.index(each if i != j else (sum(each), 0)) for each in powers}
        inside = np.concatenate([[number], np.clip(sums[1:], -number, number)])
        return cls(inside, np.array([moments.scale_of(*each) for each in differ]), places)

    @property
    def number(self) -> float:
        """How many records there are; at least one."""
        return float(self.sums[0])

    def central(self, sums: Array, p: int, q: int) -> Array:
        """The mean of (z_i - mean)^p (z_j - mean)^q; leading axes stack sums."""
        first, second = self._mean(sums, 1, 0), self._mean(sums, 0, 1)
        parts = (
            math.comb(p, a) * math.comb(q, b) * (-first) ** (p - a) * (-second) ** (q - b) * self._mean(sums, a, b)
            for a in range(p + 1)
            for b in range(q + 1)
        )
        return np.asarray(sum(parts))

    def _mean(self, sums: Array, p: int, q: int) -> Array:
        return np.asarray(sums[..., self.places[p, q]] / sums[..., 0])

    def figure(self, formula: Formula) -> Figure:
        """A number computed from the sums, with its derivatives by what was released (Squire and Trapp 1998)."""
        beside = self.sums + 1j * STEP * np.eye(len(self.sums))
        return Figure(float(formula(self.sums)), formula(beside).imag / STEP * self.scales)

    def mean(self, sums: Array) -> Array:
        """The mean of the first."""
        return self._mean(sums, 1, 0)

    def covariance(self, sums: Array) -> Array:
        """The covariance of both."""
        return self.central(sums, 1, 1)

    def correlation(self, sums: Array) -> Array:
        """The correlation of both, whose variances are positive."""
        return np.asarray(self.central(sums, 1, 1) / np.sqrt(self.central(sums, 2, 0) * self.central(sums, 0, 2)))

    def covariance_varies(self, sums: Array) -> Array:
        """The variance of the products of deviations, whose mean is the covariance."""
        return self.central(sums, 2, 2) - self.central(sums, 1, 1) ** 2

    def correlation_varies(self, sums: Array) -> Array:
        """The variance of x y - r (x^2 + y^2) / 2, for deviations x and y in units of their standard deviations.

        A sample's correlation is off by the mean of that, to first order.
        """
        first, second, r = self.central(sums, 2, 0), self.central(sums, 0, 2), self.correlation(sums)

        def moment(p: int, q: int) -> Array:
            return np.asarray(self.central(sums, p, q) / (first ** (p / 2) * second ** (q / 2)))

        squares = (moment(4, 0) + moment(0, 4)) / 4 + moment(2, 2) / 2
        return np.asarray(moment(2, 2) - r * (moment(3, 1) + moment(1, 3)) + r * r * squares)

    def most(self) -> float:
        """The largest that the variance of products of deviations can be: no value is beyond its bounds."""
        first, second = (max(float(self.central(self.sums, *each)), 0.0) for each in ((2, 0), (0, 2)))
        far, farther = (1 + abs(float(self._mean(self.sums, *each))) for each in ((1, 0), (0, 1)))
        return min(far**2 * second, farther**2 * first)


@dataclass(frozen=True)
class Products:
    """Released moments of columns, in units of half their bounds: what pairs of columns are computed from.

    Parameters
    ----------
    moments : PairMoments
        The sums.
    released : Released
        The release that they come from.
    """

    moments: PairMoments
    released: Released

    @property
    def spread(self) -> Spread:
        """The noise on each number as it was released."""
        return self.released.spread

    @property
    def receipt(self) -> Receipt:
        return self.released.receipt

    def covariance(self, i: int, j: int) -> Figure:
        """The covariance of two columns of these data."""
        pair = Pair.of(self.moments, i, j)
        return pair.figure(pair.covariance)

    def correlation(self, i: int, j: int) -> Figure:
        """The correlation of two columns of these data whose variances are positive."""
        pair = Pair.of(self.moments, i, j)
        return _within_one(pair.figure(pair.correlation))

    def count(self) -> Figure:
        """The number of records."""
        return Figure(float(self.moments.second[0, 0]), np.array([self.moments.scale_of(0, 0)]))

    def sampled_count(self) -> Figure:
        """The expected number of records in samples like this one, whose records come independently (Poisson)."""
        count = self.count()
        number = max(count.value, 1.0)
        return Figure(count.value, count.weights, Sampling(number, count.weights, number, number))

    def mean(self, i: int) -> Figure:
        """The mean of a column of these data."""
        pair = Pair.of(self.moments, i, i)
        return pair.figure(pair.mean)

    def sampled_mean(self, i: int) -> Figure:
        """The mean of a column in the population."""
        pair, found = Pair.of(self.moments, i, i), self.mean(i)
        varies = pair.figure(lambda sums: pair.central(sums, 2, 0))
        return Figure(found.value, found.weights, _sampling(varies, max(1 - found.value**2, 0.0), pair.number))

    def sampled_covariance(self, i: int, j: int) -> Figure:
        """The covariance in the population, from moments up to the fourth."""
        pair = Pair.of(self.moments, i, j)
        found, more = pair.figure(pair.covariance), pair.number / max(pair.number - 1, 1.0)
        sampling = _sampling(pair.figure(pair.covariance_varies), pair.most(), pair.number)
        return Figure(more * found.value, more * found.weights, sampling)

    def sampled_correlation(self, i: int, j: int) -> Figure:
        """The correlation in the population, from moments up to the fourth.

        Divided by variances, these are noisy. So the sampling error is taken to be that of normal records, times
        `HEAVY` at most, unless the moments are clear of such a variance by two deviations of their noise.
        """
        pair = Pair.of(self.moments, i, j)
        found, varies = _within_one(pair.figure(pair.correlation)), pair.figure(pair.correlation_varies)
        usual, noise = HEAVY * (1 - found.value**2) ** 2, varies.standard_error(self.spread)
        capped = Figure(varies.value, varies.weights * min(1.0, usual / max(noise, 1e-300)))
        return Figure(found.value, found.weights, _sampling(capped, max(usual, varies.value - 2 * noise), pair.number))

    def counted(self, confidence: float) -> bool:
        """Whether the number of records is clearly more than noise."""
        number = self.count()
        return number.value > UNSURE * number.half_width(self.spread, confidence)

    def sure(self, i: int, confidence: float) -> bool:
        """Whether a column's variance is clearly more than noise."""
        variance = self.covariance(i, i)
        return variance.value > UNSURE * variance.half_width(self.spread, confidence)


def _within_one(figure: Figure) -> Figure:
    return Figure(min(max(figure.value, -1.0), 1.0), figure.weights)


def _sampling(varies: Figure, most: float, number: float) -> Sampling:
    """The sampling error of the mean of `number` values of this variance.

    The variance of such a variance is that of the squares, which takes moments of the eighth degree. It is taken to be
    that of a squared normal variable, (15 - 1) / n times the squared variance; for other products it is less.
    """
    if number < 2:
        return Sampling(math.inf, np.zeros(len(varies.weights)), 0.0, number)
    less = number - 1
    square = min(max(varies.value, 0.0), most) / less
    return Sampling(square, varies.weights / less, WOBBLE * square**2 / less, number)


def products(
    of: ColumnsOf, what: str, radius: float | None, population: bool, read: Callable[[Products], Result]
) -> OneSum[Result]:
    """What is read off the moments of columns, up to the second for these data or to the fourth for a population."""
    names, title = of.columns, f"{what} of {', '.join(of.columns)}"
    radius = math.sqrt(len(names)) if radius is None else radius
    coordinates, norm = Coordinates.of(of.schema, names, radius), _norm(of)

    def second(released: Released) -> Result:
        return read(Products(PairMoments.of_second(released.values, coordinates), released))

    def fourth(released: Released) -> Result:
        return read(Products(PairMoments.of_fourth(released.values, coordinates, norm), released))

    if population:
        return OneSum(of, title, pair_moments_of(of.schema, names, radius, norm), fourth)
    return OneSum(of, title, second_moments_of(of.schema, names, radius), second)


def _norm(of: ColumnsOf) -> Norm:
    """In which moments up to the fourth are bounded: that of the noise that the budget allows."""
    return "l2" if of.budget.delta > 0 else "l1"
