"""Count, mean and variance of a column from one bounded sum.

Scaled to a in [0, 1], a value splits one unit of mass over the Bernstein polynomials of a:

    degree 1    (1 - a, a)                        count and mean
    degree 2    ((1 - a)^2, 2 a (1 - a), a^2)     count, mean and variance

They are nonnegative and add up to one, so the l1 sensitivity is 1 whatever the degree, and nothing is spent on the
count: it is the sum of the coordinates. Where the number of records is public, that sum is known and takes part of the
noise back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.cookbook import recipe
from discreet.core.formula import Formula, Numbers, Tally
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.schema import Number, Schema
from discreet.statistics.ask import ColumnOf, asked
from discreet.statistics.estimate import Estimate
from discreet.statistics.noise import CONFIDENCE

MASS = Bound("l1", 1.0, nonnegative=True)
INSIDE = 1 - 2.0**-40  # keeps rounded polynomials inside their bound, so that clipping never acts


def moments_size(degree: int, counted: bool) -> int:
    """How many coordinates the sum has: a mean over a public number of records needs `a` alone."""
    return 1 if degree == 1 and counted else degree + 1


@recipe
def moments_of(schema: Schema, column: str, degree: int, counted: bool) -> BoundedSum:
    """The sum of the Bernstein polynomials of a column.

    A missing value adds nothing; where the records are counted, in public, it stands for the middle of its bounds.
    """
    number, there = schema.number(column), Formula.column(0)
    middle = 0.5 * number.lower + 0.5 * number.upper
    size, grid = moments_size(degree, counted), Grid.of_radius(MASS.radius)

    def basis(records: Array) -> Array:
        values = np.where(np.isnan(records[:, 0]), middle if counted else np.nan, records[:, 0])
        inside = np.clip(values, number.lower, number.upper)
        return np.nan_to_num(np.stack(bernstein(inside, number, degree)[-size:]))

    return BoundedSum(
        lambda records: basis(records).T,
        MASS,
        (column,),
        grid,
        lambda records: grid.cut(basis(records)).sum(axis=1),
        tally=Tally(
            Formula.constant(0),
            1,
            tuple(bernstein(there.otherwise(middle) if counted else there, number, degree)[-size:]),
        ),
    )


def bernstein(values: Numbers, number: Number, degree: int) -> list[Numbers]:
    """The Bernstein polynomials of values inside their bounds, a grain smaller than they are."""
    a = (values - number.lower) / (number.upper - number.lower)
    whole = [1 - a, a] if degree == 1 else [(1 - a) * (1 - a), 2 * a * (1 - a), a * a]
    return [INSIDE * part for part in whole]


@dataclass(frozen=True)
class Figure:
    """A number computed from noisy sums, and how it changes with each of them."""

    value: float
    weights: Array


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
        return Figure(self.number.lower + self._width * min(max(first.value, 0.0), 1.0), self._width * first.weights)

    def variance(self) -> Figure:
        """The variance of these values (divided by their number)."""
        first, second = self._power(1), self._power(2)
        value = min(max(second.value - first.value**2, 0.0), 0.25)
        return Figure(self._width**2 * value, self._width**2 * (second.weights - 2 * first.value * first.weights))

    @property
    def _width(self) -> float:
        return self.number.upper - self.number.lower

    def _power(self, power: int) -> Figure:
        """The mean of a**power: a ratio of two sums, or a sum over the public size, with its derivatives."""
        degree = max(len(self.sums) - 1, 1)
        shares = np.array([0.0, 1.0] if degree == 1 else [0.0, 0.5, 1.0] if power == 1 else [0.0, 0.0, 1.0])
        shares = shares[-len(self.sums) :]
        if self.public_size is None:
            number = max(float(self.sums.sum()), 1.0)
            value = float(shares @ self.sums) / number
            return Figure(value, (shares - value) / number)
        number = max(self.public_size, 1)
        if len(self.sums) == 1:
            return Figure(float(self.sums[0]) / number, shares / number)
        consistent = self.sums + (self.public_size - self.sums.sum()) / len(self.sums)
        return Figure(float(shares @ consistent) / number, (shares - shares.mean()) / number)


def moment(
    of: ColumnOf, degree: int, figure: Callable[[Moments], Figure], name: str, budget: Budget, key: str | None
) -> Estimate:
    """Release one figure of a column from Bernstein sums of this degree."""
    number, size = of.data.schema.number(of.column), of.data.public_size
    question = moments_of(of.data.schema, of.column, degree, size is not None)
    released = asked(of.data, question, moments_size(degree, size is not None), budget, f"{name} of {of.column}", key)
    found = figure(Moments(released.values, number, size))
    most = (number.upper - number.lower) ** degree
    error = min(released.spread.half_width(found.weights), most)
    return Estimate(f"{name} of {of.column}", found.value, error, CONFIDENCE, released.receipt)
