"""Means and mean products of columns, released, and what pairs of columns they tell of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.statistics.ask import asked
from discreet.statistics.coordinates import Coordinates
from discreet.statistics.figure import Figure, Sampling
from discreet.statistics.noise import Spread
from discreet.statistics.second_moments import CROSS, second_moments_of, unfolded, weights_of
from discreet.trust.private_data import PrivateData

UNSURE = 2.0  # error bars from zero: a variance that is nearer may be nothing but noise


@dataclass(frozen=True)
class Products:
    """Released second moments of columns, in units of half their bounds: what pairs of columns are computed from.

    Parameters
    ----------
    number : float
        How many records there are; at least one.
    mean, product : arrays of shapes (n,) and (n, n)
        The mean of each column, and of each product of two.
    weight : float
        Public. The constant that the records were joined with.
    spread : Spread
        Public. The noise on each product as it was released.
    receipt : Receipt
        What it cost.
    """

    number: float
    mean: Array
    product: Array
    weight: float
    spread: Spread
    receipt: Receipt

    def covariance(self, i: int, j: int) -> Figure:
        """The covariance of two columns of these data, by the derivatives of its mean product and means."""
        value = float(self.product[i, j] - self.mean[i] * self.mean[j])
        corner = (value - self.mean[i] * self.mean[j]) / self.weight**2
        beside = np.array([self.mean[j], self.mean[i]]) / (CROSS * self.weight)
        if i == j:
            return Figure(value, np.array([1.0, -2 * beside[0], -corner]) / self.number)
        return Figure(value, np.array([1 / CROSS, *-beside, -corner]) / self.number)

    def correlation(self, i: int, j: int) -> Figure:
        """The correlation of two columns of these data whose variances are positive, by its derivatives."""
        first, second, both = self.covariance(i, i), self.covariance(j, j), self.covariance(i, j)
        root = math.sqrt(first.value * second.value)
        value = both.value / root
        product, *beside, corner = both.weights / root
        one, beside_one, corner_one = value / (2 * first.value) * first.weights
        other, beside_other, corner_other = value / (2 * second.value) * second.weights
        weights = [product, -one, -other, beside[0] - beside_one, beside[1] - beside_other]
        return Figure(min(max(value, -1.0), 1.0), np.array([*weights, corner - corner_one - corner_other]))

    def sampled_covariance(self, i: int, j: int) -> Figure:
        """The covariance in the population: its sampling variance is (c_ii c_jj + c_ij^2) / (n - 1) for normal records.

        Its derivatives share coordinates; how far noise moves it is bounded by adding up how far it moves each part.
        """
        first, second, both = self.covariance(i, i), self.covariance(j, j), self.covariance(i, j)
        one, other = max(first.value, 0.0), max(second.value, 0.0)
        moved = other * _length(first) + one * _length(second) + 2 * abs(both.value) * _length(both)
        more = self.number / max(self.number - 1, 1.0)
        sampling = self._sampling(one * other + both.value**2, np.array([moved]))
        return Figure(more * both.value, more * both.weights, sampling)

    def sampled_correlation(self, i: int, j: int) -> Figure:
        """The correlation in the population: its sampling variance is (1 - r^2)^2 / (n - 1) for normal records."""
        found = self.correlation(i, j)
        left = 1 - found.value**2
        return Figure(found.value, found.weights, self._sampling(left**2, 4 * found.value * left * found.weights))

    def sure(self, i: int, confidence: float) -> bool:
        """Whether a column's variance is clearly more than noise."""
        variance = self.covariance(i, i)
        return variance.value > UNSURE * variance.half_width(self.spread, confidence)

    def _sampling(self, variance: float, weights: Array) -> Sampling:
        if self.number < 2:
            return Sampling(math.inf, np.zeros(len(weights)), 0.0, self.number)
        square, less = variance / (self.number - 1), self.number - 1
        return Sampling(square, weights / less, 2 * square**2 / less, self.number)


def _length(figure: Figure) -> float:
    return float(np.linalg.norm(figure.weights))


def products(
    title: str, data: PrivateData, names: tuple[str, ...], radius: float | None, budget: Budget, key: str | None
) -> Products:
    """Pay for the second moments of these columns, and release them."""
    radius = math.sqrt(len(names)) if radius is None else radius
    coordinates = Coordinates.of(data.schema, names, radius)
    question, size = second_moments_of(data.schema, names, radius), len(weights_of(coordinates.size))
    released = asked(data, question, size, budget, title, key)
    sums = unfolded(released.values, coordinates)
    number = max(float(sums[0, 0]), 1.0)
    moments = np.clip(sums / number, -1.0, 1.0)
    return Products(number, moments[0, 1:], moments[1:, 1:], coordinates.weight, released.spread, released.receipt)
